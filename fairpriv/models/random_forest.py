"""Random forest on ordinal-coded categories, class-balanced: the attack model of ferry2023."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from fairpriv.datasets.encode import ordinal
from fairpriv.datasets.split import stratified_split
from fairpriv.errors import BadRequest, unknown
from fairpriv.models.base import Model, Predictor
from fairpriv.models.tune import tune
from fairpriv.registry import param, register
from fairpriv.validate import integer, number

SPACE = {"max_depth": (4, 40, "int"), "min_samples_leaf": (1, 50, "log-int"), "max_features": (0.1, 1.0)}


@register
@dataclass(frozen=True)
class RandomForest(Model):
    """Random forest with class weights that balance the classes."""

    name: ClassVar[str] = "random_forest"
    paper: ClassVar[str] = "ferry2023, Section IV-B"

    trees: int = param(100, "number of trees", at_least=1)
    max_depth: int | None = param(None, "depth of a tree; null: no limit", at_least=1)
    min_samples_leaf: int = param(5, "least number of rows in a leaf", at_least=1)
    max_features: float | str = param(
        0.3, "share of the features tried at each split, or sqrt: as many as the root of their number"
    )
    tune: Any = param(
        None,
        "{trials: evaluations of a TPE search for the three parameters above on a third of the rows held out; 0: none}",
    )

    def __post_init__(self) -> None:
        """Check the parameters."""
        integer("trees", self.trees, at_least=1)
        if self.max_depth is not None:
            integer("max_depth", self.max_depth, at_least=1)
        integer("min_samples_leaf", self.min_samples_leaf, at_least=1)
        if self.max_features != "sqrt":
            number("max_features", self.max_features, above=0, at_most=1)
        if self.tune is not None:
            if not isinstance(self.tune, Mapping):
                raise BadRequest(f"tune must be {{trials: number of evaluations}}, got {self.tune!r}")
            for key in self.tune:
                if key != "trials":
                    raise unknown("key of tune", key, ["trials"])
            integer("tune.trials", self.trials, at_least=0)

    @property
    def trials(self) -> int:
        """How many evaluations a search makes; 0: the parameters are used as they are."""
        return (self.tune or {}).get("trials", 0)

    def _forest(self, x: np.ndarray, label: np.ndarray, seed: int) -> RandomForestClassifier:
        return RandomForestClassifier(
            n_estimators=self.trees,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            class_weight="balanced",
            n_jobs=1,
            random_state=seed,
        ).fit(x, label)

    def tuned(self, features: pd.DataFrame, label: np.ndarray, rng: np.random.Generator) -> "RandomForest":
        """Return the forest with the best parameters (itself where trials is 0).

        The search maximises balanced accuracy on held-out rows: the loss it tunes is balanced as the one it trains.
        """
        if self.trials == 0:
            return self
        x, seed = ordinal(features), int(rng.integers(2**31))
        fit, test = stratified_split(np.asarray(label), [2 / 3, 1 / 3], rng)

        def balanced_accuracy(params: dict[str, Any]) -> float:
            forest = replace(self, **params)._forest(x[fit], label[fit], seed)
            right, truth = forest.predict(x[test]) == label[test], label[test]
            return float(np.mean([right[truth == value].mean() for value in np.unique(truth)]))

        return replace(self, **tune(balanced_accuracy, SPACE, self.trials, seed), tune=None)

    def fit_classes(
        self, features: pd.DataFrame, label: np.ndarray, rng: np.random.Generator, classes: int
    ) -> Predictor:
        """Train on these rows; return a function from features to the probability of each class 0 .. classes - 1."""
        model = self.tuned(features, label, rng)._forest(ordinal(features), label, int(rng.integers(2**31)))

        def probabilities(frame: pd.DataFrame) -> np.ndarray:
            out = np.zeros((len(frame), classes))
            out[:, model.classes_] = model.predict_proba(ordinal(frame))
            return out

        return probabilities

    def fit(self, features: pd.DataFrame, label: np.ndarray, rng: np.random.Generator) -> Predictor:
        """Train on these rows."""
        probabilities = self.fit_classes(features, label, rng, 2)
        return lambda frame: probabilities(frame)[:, 1]
