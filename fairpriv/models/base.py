"""What a model is here: probabilities of the favourable label from a frame of features."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv.registry import Plugin

Predictor = Callable[[pd.DataFrame], np.ndarray]


@dataclass(frozen=True)
class Model(Plugin):
    """A learner; `fit` returns a function from features to P(label = 1).

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairpriv import Model
    >>> class BaseRate(Model):
    ...     def fit(self, features, label, rng):
    ...         return lambda frame: np.full(len(frame), label.mean())
    >>> predict = BaseRate().fit(pd.DataFrame({"age": [20, 30]}), np.array([0, 1]), np.random.default_rng(0))
    >>> predict(pd.DataFrame({"age": [40]}))
    array([0.5])
    """

    kind: ClassVar[str] = "models"
    name: ClassVar[str]
    paper: ClassVar[str] = ""

    def fit(self, features: pd.DataFrame, label: np.ndarray, rng: np.random.Generator) -> Predictor:
        """Train on these rows."""
        raise NotImplementedError
