"""Gradient-boosted trees of LightGBM."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from fairpriv.datasets.encode import one_hot
from fairpriv.datasets.split import stratified_split
from fairpriv.models.base import Model, Predictor
from fairpriv.models.tune import tune
from fairpriv.registry import param, register
from fairpriv.validate import integer, number

# arcolezi2023, Section 5.1
SPACE = {"max_depth": (3, 50, "int"), "n_estimators": (50, 2000, "int"), "learning_rate": (0.01, 0.25)}


def _matrix(features: pd.DataFrame) -> np.ndarray:
    numeric = all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in features.dtypes.unique())
    return np.asarray(features.to_numpy() if numeric else one_hot(features)[0], np.float32, order="C")


@register
@dataclass(frozen=True)
class Lgbm(Model):
    """LightGBM's classifier, the rest of its parameters at their defaults; one thread."""

    name: ClassVar[str] = "lgbm"
    paper: ClassVar[str] = "arcolezi2023, Section 5.1"

    max_depth: int = param(-1, "depth of a tree; -1: no limit", at_least=-1)
    n_estimators: int = param(100, "number of trees", at_least=1)
    learning_rate: float = param(0.1, "shrinkage of each tree", above=0)
    tune: int = param(0, "trials of a TPE search for these three on 20 % of the rows", at_least=0)

    def __post_init__(self) -> None:
        """Check the parameters."""
        integer("max_depth", self.max_depth, at_least=-1)
        integer("n_estimators", self.n_estimators, at_least=1)
        number("learning_rate", self.learning_rate, above=0)
        integer("tune", self.tune, at_least=0)

    def _fit(self, x: np.ndarray, label: np.ndarray, seed: int) -> Any:
        import lightgbm  # heavy

        # LGBMClassifier(random_state=seed, objective="binary") without its wrapper: the same model
        params = {
            "objective": "binary",
            "max_depth": self.max_depth,
            "learning_rate": self.learning_rate,
            "seed": seed,
            "num_threads": 1,
            "verbosity": -1,
        }
        return lightgbm.train(params, lightgbm.Dataset(x, label, params=params), num_boost_round=self.n_estimators)

    def tuned(self, features: pd.DataFrame, label: np.ndarray, rng: np.random.Generator) -> "Lgbm":
        """Return the model with the parameters of best accuracy on a validation part of these rows."""
        x, seed = _matrix(features), int(rng.integers(2**31))
        train, held = stratified_split(np.asarray(label), [0.8, 0.2], rng)

        def accuracy(params: dict[str, Any]) -> float:
            model = replace(self, tune=0, **params)._fit(x[train], label[train], seed)
            return float(((model.predict(x[held], num_threads=1) > 0.5) == label[held]).mean())

        return replace(self, tune=0, **tune(accuracy, SPACE, self.tune, seed))

    def fit(self, features: pd.DataFrame, label: np.ndarray, rng: np.random.Generator) -> Predictor:
        """Train on these rows."""
        if self.tune:
            return self.tuned(features, label, rng).fit(features, label, rng)
        model = self._fit(_matrix(features), np.asarray(label), int(rng.integers(2**31)))
        return lambda frame: model.predict(_matrix(frame), num_threads=1)
