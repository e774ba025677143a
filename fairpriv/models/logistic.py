"""Logistic regression on standardised numbers and one-hot categories."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from fairpriv.datasets.encode import one_hot
from fairpriv.models.base import Model, Predictor
from fairpriv.registry import param, register
from fairpriv.validate import integer, number


@register
@dataclass(frozen=True)
class Logistic(Model):
    """Logistic regression (ℓ2, strength 1/c) on one-hot categories and standardised numbers."""

    name: ClassVar[str] = "logistic"

    c: float = param(1.0, "inverse strength of the ℓ2 penalty", above=0)
    iterations: int = param(1000, "most iterations of the solver", at_least=1)

    def __post_init__(self) -> None:
        """Check the parameters."""
        number("c", self.c, above=0)
        integer("iterations", self.iterations, at_least=1)

    def fit(self, features: pd.DataFrame, label: np.ndarray, rng: np.random.Generator) -> Predictor:
        """Train on these rows."""
        x, _ = one_hot(features)
        mean, spread = x.mean(axis=0), x.std(axis=0)
        spread[spread == 0] = 1.0
        model = LogisticRegression(C=self.c, max_iter=self.iterations).fit((x - mean) / spread, label)
        return lambda frame: model.predict_proba((one_hot(frame)[0] - mean) / spread)[:, 1]
