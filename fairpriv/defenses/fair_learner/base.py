"""What a fair learner is: a defense that trains a model whose predictions are fair to a protected group."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from fairpriv.datasets.encode import ordinal
from fairpriv.defenses.base import Defense
from fairpriv.errors import BadRequest
from fairpriv.metrics.unfairness import METRICS
from fairpriv.registry import param
from fairpriv.validate import choice, integer

# (features, group, rng) -> predictions 0 or 1. Group-aware learners use the group, others pass it over; randomised ones
# draw from rng.
Released = Callable[[pd.DataFrame, np.ndarray, np.random.Generator], np.ndarray]


@contextlib.contextmanager
def own_deprecations_ignored() -> Iterator[None]:
    """Keep quiet about what fairlearn's own code uses of pandas that later versions will drop: no concern of a user."""
    with warnings.catch_warnings():
        for category in (DeprecationWarning, FutureWarning):
            warnings.filterwarnings("ignore", category=category, module=r"fairlearn\.")
        yield


@dataclass(frozen=True)
class FairLearner(Defense):
    """A fair learner over decision trees on ordinal-coded features, as in ferry2023, Section IV-B.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairpriv import FairLearner
    >>> class Stump(FairLearner):
    ...     takes_metric = False
    ...
    ...     def _fit(self, x, label, group, metric, tolerance, rng):
    ...         model = self.tree(rng).fit(x, label)
    ...         return lambda matrix, members, seed: model.predict(matrix)
    >>> rng, label = np.random.default_rng(0), np.array([0, 0, 1, 1])
    >>> frame = pd.DataFrame({"age": [20, 30, 40, 50]})
    >>> Stump(max_depth=1).fit(frame, label, label, None, None, rng)(frame, None, rng)
    array([0, 0, 1, 1])
    """

    max_depth: int = param(8, "depth of the base learner's trees", at_least=1)

    # What fit takes: a metric to be fair in, and a tolerance other than 0.
    takes_metric = True
    takes_tolerance = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        integer("max_depth", self.max_depth, at_least=1)

    def check(self, metric: str | None, tolerance: float | None) -> None:
        """Refuse a fairness constraint this learner cannot enforce."""
        if self.takes_metric:
            choice(f"fairness metric for {self.name}", metric, METRICS)
        elif metric is not None:
            raise BadRequest(f"fairness metric must be null for {self.name}, which enforces none, got {metric!r}")
        if not self.takes_tolerance and tolerance is not None:
            raise BadRequest(f"tolerance must be null for {self.name}, which has none, got {tolerance!r}")

    def tree(self, rng: np.random.Generator) -> DecisionTreeClassifier:
        """Return the base learner."""
        return DecisionTreeClassifier(max_depth=self.max_depth, random_state=int(rng.integers(2**31)))

    def fit(
        self,
        features: pd.DataFrame,
        label: np.ndarray,
        group: np.ndarray,
        metric: str | None,
        tolerance: float | None,
        rng: np.random.Generator,
    ) -> Released:
        """Train on these rows; return the released model."""
        self.check(metric, tolerance)
        with own_deprecations_ignored():
            predict = self._fit(ordinal(features), np.asarray(label), np.asarray(group), metric, tolerance, rng)
        return lambda frame, members, draw: np.asarray(predict(ordinal(frame), members, int(draw.integers(2**31))), int)

    def _fit(self, x, label, group, metric, tolerance, rng):
        """Train on a matrix; return a function of (matrix, group, random state)."""
        raise NotImplementedError
