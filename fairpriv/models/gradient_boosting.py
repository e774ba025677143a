"""Gradient-boosted trees (histogram-based, scikit-learn)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from fairpriv.datasets.encode import ordinal
from fairpriv.models.base import Model, Predictor
from fairpriv.registry import param, register
from fairpriv.validate import integer, number


@register
@dataclass(frozen=True)
class GradientBoosting(Model):
    """Histogram gradient boosting on ordinal-coded categories."""

    name: ClassVar[str] = "gradient_boosting"

    trees: int = param(100, "number of trees", at_least=1)
    learning_rate: float = param(0.1, "shrinkage of each tree", above=0)
    leaves: int = param(31, "most leaves of a tree", at_least=2)

    def __post_init__(self) -> None:
        """Check the parameters."""
        integer("trees", self.trees, at_least=1)
        number("learning_rate", self.learning_rate, above=0)
        integer("leaves", self.leaves, at_least=2)

    def fit(self, features: pd.DataFrame, label: np.ndarray, rng: np.random.Generator) -> Predictor:
        """Train on these rows."""
        model = HistGradientBoostingClassifier(
            max_iter=self.trees,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.leaves,
            early_stopping=False,
            random_state=int(rng.integers(2**31)),
        ).fit(ordinal(features), label)
        return lambda frame: model.predict_proba(ordinal(frame))[:, 1]
