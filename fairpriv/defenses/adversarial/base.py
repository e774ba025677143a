"""What a debiasing defense is: it trains a predictor that hides sensitive attributes, and says what it spent."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairpriv.defenses.base import Defense
from fairpriv.errors import BadRequest


@dataclass(frozen=True)
class Spent:
    """What training spent, at delta, and on what.

    Attributes
    ----------
    claimed, claimed_rdp : float
        ε as the paper accounts it, noise multiplier σ: by PLD and by RDP.
    spent : float
        ε at the real sensitivity (2C under `printed`), sampling counted as protection.
    proven : float
        ε that holds for the released predictor. Under `printed` with an adversary, whose weights carry every batch on
        without noise, sampling protects no one and only the noise of all steps together does.
    on : str
        Whose privacy `spent` is about.
    sensitive : float or None
        ε of the sensitive attributes where it is not `spent`: infinite where they steer training without noise.
    """

    claimed: float
    claimed_rdp: float
    spent: float
    proven: float
    on: str
    sensitive: float | None = None  # of s alone, where it differs


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained predictor: decisions on new rows, what was spent, and how training went."""

    decide: Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]  # x, s, rng -> 0 or 1
    steps: int
    spent: Spent
    losses: np.ndarray  # (steps, 2): predictor, adversary
    one_sided: float  # share of batches in which some attribute has one value only


@dataclass(frozen=True)
class DebiasingDefense(Defense):
    """Trains a predictor that hides sensitive attributes; `fit` is its one verb.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpriv import DebiasingDefense
    >>> from fairpriv.defenses.adversarial.base import Spent, Trained
    >>> class Coin(DebiasingDefense):
    ...     def fit(self, x, label, sensitive, rng, vectors=None):
    ...         nothing = Spent(0.0, 0.0, 0.0, 0.0, "nobody")
    ...         return Trained(lambda x, s, rng: rng.integers(0, 2, len(x)), 0, nothing, np.zeros((0, 2)), 0.0)
    >>> rng, x = np.random.default_rng(0), np.zeros((3, 1))
    >>> Coin().fit(x, x[:, 0], x, rng).decide(x, x, rng).shape
    (3,)
    """

    @abstractmethod
    def fit(
        self,
        x: np.ndarray,
        label: np.ndarray,
        sensitive: np.ndarray,
        rng: np.random.Generator,
        vectors: np.ndarray | None = None,
    ) -> Trained:
        """Train on numbers (float x) or texts (tokens, integer x; 0 is padding) with k binary attributes (n × k).

        `vectors` are given word vectors, a row a token.
        """
        raise NotImplementedError

    def least_epsilon(self, n: int) -> float:
        """Return the least budget with which n examples can be trained on (0 where none is claimed)."""
        return 0.0


def check_groups(label: np.ndarray, sensitive: np.ndarray) -> None:
    """Refuse a training part without both labels, or an attribute that is not binary or has one group only."""
    for what, values in [("label", label), *((f"attribute {i}", column) for i, column in enumerate(sensitive.T))]:
        found = np.unique(values)
        if not np.isin(found, (0, 1)).all():
            raise BadRequest(f"{what} must be binary, got {len(found)} values")
        if len(found) < 2:
            raise BadRequest(f"{what} has one group only in the training part: {found[0]:g}")
