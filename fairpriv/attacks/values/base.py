"""What a value attack is: it learns what other attributes say of one, and adds what a report says."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from fairpriv.attacks.base import AnyAttack

Beliefs = Callable[[np.ndarray], np.ndarray]  # other attributes (n, e) -> Pr[value] (n, k)


@dataclass(frozen=True, eq=False)
class KnownValues:
    """People whose value the adversary knows; of the targets it has `others` and reports, and no value.

    Attributes
    ----------
    others : array of shape (n, e)
        What else is known of them.
    value : array of length n
        The attribute, 0 .. k-1.
    k : int
        The size of its domain.
    """

    others: np.ndarray
    value: np.ndarray
    k: int

    @property
    def shares(self) -> np.ndarray:
        """Return how frequent each value is, one person of each added: an unseen value is not ruled out."""
        counts = np.bincount(self.value, minlength=self.k) + 1.0
        return counts / counts.sum()


@dataclass(frozen=True)
class ValueAttack(AnyAttack):
    """Learns from known people; `fit(known, rng)` returns a function from other attributes to Pr[value].

    What a report says is added by Bayes' rule (`posterior`), the same for every attack of the family.
    """

    def fit(self, known: KnownValues, rng: np.random.Generator) -> Beliefs:
        """Learn."""
        raise NotImplementedError


def posterior(prior: np.ndarray, log_likelihood: np.ndarray | float = 0.0) -> np.ndarray:
    """Return log Pr[value | report], (n, k), of a prior (k,) or (n, k) and log Pr[report | value]."""
    return log_softmax(np.log(prior) + log_likelihood, axis=-1)
