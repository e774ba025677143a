"""The compliance desk: it holds the protected attribute and answers bias queries; developers get a view without it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairpriv.defenses.query.base import QueryDefense, Question
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.noise import Law
from fairpriv.mechanisms.release import Randomness


@dataclass(frozen=True, eq=False)
class DeskView:
    """What model developers may see: labels, their base model's outputs, a way to ask, and public facts.

    `ask(h, metric)` sends an (m, n) matrix of predictions in [0, 1] and returns the m answers; `law(h, metric)` is the
    law of the noise in them (mechanisms are public); `sizes` is (N0, N1) where the desk publishes them.
    """

    label: np.ndarray
    base: np.ndarray
    ask: Callable[[np.ndarray, str], np.ndarray]
    law: Callable[[np.ndarray, str], Law]
    sizes: tuple[int, int] | None

    def __len__(self) -> int:
        """Return the size of the test set."""
        return len(self.label)


@dataclass(frozen=True, eq=False)
class Asked:
    """One exchange as the desk saw it: the models' predictions, their true gaps and the answers given."""

    metric: str
    h: np.ndarray
    truth: np.ndarray
    answers: np.ndarray


class ComplianceDesk:
    """Holds the protected attribute of a test set, answers through a defense, and keeps the truth for scoring.

    Noise comes from the operating system's randomness unless a generator is given, which only a study that must be
    repeatable should do: whoever knows its seed knows the noise.

    Parameters
    ----------
    group, label : ndarray of 0 and 1
        Protected attribute and true label of each person.
    defense : QueryDefense
        What answers go through.
    rng : numpy Generator, optional
        For repeatable studies only.
    publish_sizes : bool
        Whether the view tells the group sizes.

    Examples
    --------
    >>> import numpy as np
    >>> import fairpriv
    >>> from fairpriv.registry import build
    >>> group, label = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> desk = fairpriv.ComplianceDesk(group, label, build("defenses", "none"))
    >>> view = desk.view(base=np.array([0.2, 0.4, 0.6, 0.8]))
    >>> view.ask(np.array([[0.0, 0.0, 1.0, 1.0]]), "sp").tolist()  # a model that favours group 1
    [1.0]
    """

    def __init__(
        self,
        group: np.ndarray,
        label: np.ndarray,
        defense: QueryDefense,
        rng: Randomness = None,
        *,
        publish_sizes: bool = True,
    ) -> None:
        self._group, self._label, self._defense, self._rng = group, label, defense, rng
        self._publish_sizes = publish_sizes
        self.asked: list[Asked] = []  # for scoring only

    def _ask(self, h: np.ndarray, metric: str) -> np.ndarray:
        if h.ndim != 2 or h.shape[1] != len(self._group):
            raise BadRequest(f"a query needs one prediction for each of {len(self._group)} people, got shape {h.shape}")
        if not (np.isfinite(h).all() and h.min() >= 0 and h.max() <= 1):
            raise BadRequest("predictions must lie in [0, 1]")
        question = Question(h, metric, self._group, self._label)
        answers = self._defense.respond(question, self._rng)
        self.asked.append(Asked(metric, h, question.gaps, answers))
        return answers

    def view(self, base: np.ndarray) -> DeskView:
        """Return what developers with this base model see."""
        sizes = (int((self._group == 0).sum()), int((self._group == 1).sum()))
        return DeskView(
            label=self._label,
            base=base,
            ask=self._ask,
            law=lambda h, metric: self._defense.noise_law(Question(h, metric, self._group, self._label)),
            sizes=sizes if self._publish_sizes else None,
        )
