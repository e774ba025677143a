"""Bayes' rule on LDP reports."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.ensemble import RandomForestClassifier

from fairpriv import validate
from fairpriv.attacks.inference.base import Known, LikelihoodAttack, RecordsView
from fairpriv.registry import param, register

PRIORS = ("none", "shares", "features")
UNSEEN = 0.01  # how much of the prior stays with the shares


@register
@dataclass(frozen=True)
class BayesReports(LikelihoodAttack):
    """The group that the report speaks for: Pr[report | value] times a prior on values, summed over a group's values.

    The posterior of each group is divided by how frequent the group is, as balanced accuracy counts both alike: with
    the right prior no attacker has a better one.

    Parameters
    ----------
    prior : {"none", "shares", "features"}
        All values of a group equally likely; the shares among people it knows; or what a forest that learned from these
        people says of the target's other attributes.
    """

    name: ClassVar[str] = "bayes_reports"
    paper: ClassVar[str] = "on arcolezi2023, Section 4"

    prior: str = param("shares", "what the attacker starts from", choices=PRIORS)

    def __post_init__(self) -> None:
        """Check the parameters."""
        validate.choice("prior", self.prior, PRIORS)

    def run(self, view: RecordsView, rng: np.random.Generator) -> np.ndarray:
        """Return the group that gains more by the report (and, with features, by them) over its frequency."""
        law = self.law_of(view)
        shares = self._shares(view, law.group)
        prior = shares[None] if self.prior != "features" else _from_others(view.known, view.others, shares, rng)
        joint = law.log_likelihood + np.log(prior)
        gain = [logsumexp(joint[:, law.group == g], axis=1) - np.log(shares[law.group == g].sum()) for g in (0, 1)]
        return (gain[1] >= gain[0]).astype(int)

    def _shares(self, view: RecordsView, group: np.ndarray) -> np.ndarray:
        """Return how frequent each value is, as far as the adversary cares to know."""
        if self.prior == "none":
            return 0.5 / np.bincount(group, minlength=2)[group]
        counts = np.bincount(view.known.value, minlength=len(group)) + 1.0
        return counts / counts.sum()


def _from_others(known: Known, others: np.ndarray, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return what a forest says of each value, given the other attributes; a value it never saw is not ruled out."""
    forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=int(rng.integers(2**31)), n_jobs=1)
    forest.fit(known.others, known.value)
    out = UNSEEN * np.tile(shares, (len(others), 1))
    out[:, forest.classes_] += (1 - UNSEEN) * forest.predict_proba(others)
    return out
