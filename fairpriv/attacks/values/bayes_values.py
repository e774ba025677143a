"""Bayes' rule with a calibrated forest for what other attributes say."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from fairpriv import validate
from fairpriv.attacks.values.base import Beliefs, KnownValues, ValueAttack
from fairpriv.registry import param, register

# what is tried when calibrating: exponents of the forest's shares, and how much of the plain shares is mixed in
EXPONENTS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)
MIXED = (0.01, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)


@register
@dataclass(frozen=True)
class BayesValues(ValueAttack):
    """Learn Pr[value | other attributes] by a forest, calibrated on known people that it did not see.

    The forest's shares are raised to a power, normalised, and mixed with the plain shares of the values: power and mix
    are those of the least log loss on the people held out. A mix of 1 is no use of other attributes at all, so that
    where they say nothing nothing is made up.
    """

    name: ClassVar[str] = "bayes_values"
    paper: ClassVar[str] = "on arcolezi2023, Section 4"

    trees: int = param(50, "trees of the forest", at_least=1)
    leaf: int = param(5, "known people in a leaf, at least", at_least=1)
    held_out: float = param(0.25, "share of the known people to calibrate on", above=0, below=1)

    def __post_init__(self) -> None:
        """Check the parameters."""
        validate.integer("trees", self.trees, at_least=1)
        validate.integer("leaf", self.leaf, at_least=1)
        validate.number("held_out", self.held_out, above=0, below=1)

    def fit(self, known: KnownValues, rng: np.random.Generator) -> Beliefs:
        """Fit the forest on a part of the known people, its calibration on the rest."""
        order = rng.permutation(len(known.value))
        kept, seen = np.split(order, [max(1, int(self.held_out * len(order)))])
        state = int(rng.integers(2**31))
        forest = RandomForestClassifier(self.trees, min_samples_leaf=self.leaf, random_state=state, n_jobs=1)
        forest.fit(known.others[seen], known.value[seen])

        def raw(others: np.ndarray) -> np.ndarray:
            out = np.zeros((len(others), known.k))
            out[:, forest.classes_] = forest.predict_proba(others)
            return out

        power, mix = calibrated(raw(known.others[kept]), known.value[kept], known.shares)
        return lambda others: tempered(raw(others), known.shares, power, mix)


def tempered(raw: np.ndarray, shares: np.ndarray, power: float, mix: float) -> np.ndarray:
    """Return raw^power, normalised, mixed with the shares."""
    raised = raw**power
    return (1 - mix) * raised / raised.sum(axis=1, keepdims=True) + mix * shares


def calibrated(raw: np.ndarray, value: np.ndarray, shares: np.ndarray) -> tuple[float, float]:
    """Return the power and the mix of the least log loss."""
    at = np.arange(len(value))

    def loss(pair: tuple[float, float]) -> float:
        return -float(np.log(tempered(raw, shares, *pair)[at, value]).mean())

    return min(((power, mix) for power in EXPONENTS for mix in MIXED), key=loss)
