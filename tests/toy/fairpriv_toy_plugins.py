"""A defense, a model and a dataset as another package would bring them: no file of conf/ names them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv.datasets.base import Loader, Table
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.mechanisms.noise import Laplace
from fairpriv.models.base import Model
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class ToyDefense(QueryDefense):
    """Laplace noise of scale m / epsilon."""

    name: ClassVar[str] = "toy_defense"
    family: ClassVar = Laplace

    def noise_scale(self, metric, n0, n1, m, epsilon):
        return m / epsilon


@register
@dataclass(frozen=True)
class ToyModel(Model):
    """Says the share of the favourable label to everyone."""

    name: ClassVar[str] = "toy_model"

    def fit(self, features, label, rng):
        share = float(np.mean(label))
        return lambda rows: np.full(len(rows), share)


@register
@dataclass(frozen=True, kw_only=True)
class ToyDataset(Loader):
    """People drawn once and for all."""

    name: ClassVar[str] = "toy_dataset"
    advantaged: ClassVar = {"sex": ("m",)}

    protected: str = "sex"
    rows: int = 200

    def sums(self):
        return f"toy {self.rows}"

    def read(self):
        rng = np.random.default_rng(0)
        sex = pd.Categorical(np.where(rng.random(self.rows) < 0.3, "f", "m"), ["f", "m"])
        frame = pd.DataFrame({"age": rng.integers(18, 70, self.rows), "sex": sex})
        return Table(frame, rng.random(self.rows) < 0.4)
