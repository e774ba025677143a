"""A multi-layer perceptron, trained by Adam in JAX."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv.datasets.encode import one_hot, standardise
from fairpriv.models.base import Model, Predictor
from fairpriv.registry import param, register
from fairpriv.validate import integer, number


@register
@dataclass(frozen=True)
class Mlp(Model):
    """A perceptron with ReLU units on one-hot categories and standardised numbers."""

    name: ClassVar[str] = "mlp"

    hidden: int = param(100, "units of each hidden layer", at_least=1)
    layers: int = param(1, "number of hidden layers", at_least=1)
    epochs: int = param(20, "of Adam on shuffled batches", at_least=1)
    batch: int = param(256, "batch size", at_least=2)
    rate: float = param(1e-3, "learning rate", above=0, at_most=1)

    def __post_init__(self) -> None:
        """Check the parameters."""
        for name in ("hidden", "layers", "epochs"):
            integer(name, getattr(self, name), at_least=1)
        integer("batch", self.batch, at_least=2)
        number("rate", self.rate, above=0, at_most=1)

    def fit(self, features: pd.DataFrame, label: np.ndarray, rng: np.random.Generator) -> Predictor:
        """Train on these rows."""
        from fairpriv.defenses.representation.downstream import classifier_loss
        from fairpriv.defenses.representation.networks import dense, mlp
        from fairpriv.defenses.representation.training import fit
        from fairpriv.jax_cpu import jax

        raw = one_hot(features)[0]
        data = {"x": standardise(raw)[0].astype(np.float32), "y": np.asarray(label).astype(np.int32)}
        start = dense(rng, raw.shape[1], *[self.hidden] * self.layers, 2)
        params, _ = fit(classifier_loss, start, data, rng, epochs=self.epochs, batch=self.batch, rate=self.rate)

        def probability(frame: pd.DataFrame) -> np.ndarray:
            x = standardise(raw, one_hot(frame)[0])[1].astype(np.float32)
            return np.asarray(jax.nn.softmax(mlp(params, x))[:, 1], float)

        return probability
