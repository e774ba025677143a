"""A made-up table: group sizes, base rate, signal and proxies as asked; no files."""

import hashlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv import validate
from fairpriv.datasets.base import Loader, Table
from fairpriv.registry import param, register

VERSION = "fairpriv synthetic 1"  # change it with the recipe: it stands for the data in every cell's key


@register
@dataclass(frozen=True, kw_only=True)
class Synthetic(Loader):
    """Synthetic Gaussian features with exact group sizes and base rate."""

    name: ClassVar[str] = "synthetic"
    favourable: ClassVar[str] = "label 1"
    advantaged: ClassVar = {"group": ("1",)}

    protected: str = "group"
    n: int = param(20_000, "rows: a pool from which experiments draw test sets", at_least=4)
    n0: int = param(10_000, "rows of group 0", at_least=1)
    positive_rate: float = param(0.5, "share of label 1, exact to rounding", above=0, below=1)
    n_features: int = param(10, "number of features, each with mean 0 and variance 1", at_least=1)
    signal: float = param(
        0.8, "correlation of the label's latent score with the sum of the features", at_least=0, at_most=1
    )
    proxy: float = param(0.0, "correlation of each feature with the group", at_least=-1, at_most=1)
    seed: int = param(0, "seed of the draw", at_least=0)

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        validate.integer("n", self.n, at_least=4)
        validate.integer("n0", self.n0, at_least=1, at_most=self.n - 1)
        validate.number("positive_rate", self.positive_rate, above=0, below=1)
        validate.integer("n_features", self.n_features, at_least=1)
        validate.number("signal", self.signal, at_least=0, at_most=1)
        validate.number("proxy", self.proxy, at_least=-1, at_most=1)
        validate.integer("seed", self.seed, at_least=0)

    def sums(self) -> str:
        """Return the sum of the recipe's version: there are no files."""
        return hashlib.sha256(VERSION.encode()).hexdigest()

    def read(self) -> Table:
        """Draw the table."""
        rng = np.random.default_rng(self.seed)
        group = rng.permutation(np.arange(self.n) >= self.n0).astype(int)
        z = (group - group.mean()) / group.std()
        noise = rng.standard_normal((self.n, self.n_features))
        features = self.proxy * z[:, None] + np.sqrt(1 - self.proxy**2) * noise
        score = features.sum(axis=1)
        score = self.signal * score / score.std() + np.sqrt(1 - self.signal**2) * rng.standard_normal(self.n)
        positives = min(max(round(self.positive_rate * self.n), 1), self.n - 1)
        label = np.zeros(self.n, np.int8)
        label[np.argsort(-score, kind="stable")[:positives]] = 1
        frame = pd.DataFrame(features, columns=[f"x{i}" for i in range(self.n_features)])
        return Table(frame.assign(group=pd.Categorical(group, categories=(0, 1))), label)
