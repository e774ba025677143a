"""Differentially private post-processing for equality of odds (Jagielski et al. 2019, after Hardt et al. 2016)."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.optimize import linprog

from fairpriv import validate
from fairpriv.defenses.adversarial.base import DebiasingDefense, Trained
from fairpriv.defenses.adversarial.maad import Maad
from fairpriv.mechanisms.noise import Laplace
from fairpriv.mechanisms.release import grid_for, release
from fairpriv.registry import param, register


def mix(counts: np.ndarray, slack: float) -> np.ndarray:
    """Return p[a, ŷ] = P(decision 1 | group a, prediction ŷ): the fewest errors with equal TPR and FPR.

    counts[a, y, ŷ] are how many of group a have label y and prediction ŷ; rates may differ from the first group's by
    `slack`. Deciding alike for everyone is always feasible.
    """
    groups = len(counts)
    share = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1e-9)  # P(ŷ | a, y)
    cost = (counts[:, 0, :] - counts[:, 1, :]).ravel()  # an error for each 0 decided 1, one less for each 1 decided 1
    rows, bounds = [], []
    for a in range(1, groups):
        for y in (0, 1):
            row = np.zeros((groups, 2))
            row[a], row[0] = share[a, y], -share[0, y]
            rows += [row.ravel(), -row.ravel()]
            bounds += [slack, slack]
    found = linprog(cost, A_ub=np.array(rows), b_ub=np.array(bounds), bounds=(0, 1), method="highs")
    if not found.success:
        raise RuntimeError(f"the post-processing program has no solution: {found.message}")
    return np.clip(found.x, 0, 1).reshape(groups, 2)


@register
@dataclass(frozen=True)
class DpPostprocess(DebiasingDefense):
    """A DP predictor whose decisions are mixed by intersectional group, from noisy counts, to equalise odds.

    A person is in one count, which Laplace noise of scale 1/ε₂ protects; the predictor gets ε − ε₂. Decisions are
    randomised and use the sensitive attributes.
    """

    name: ClassVar[str] = "dp_postprocess"
    paper: ClassVar[str] = "Jagielski et al. 2019, Section 3 (compared with in maad2023, Section 2.4)"

    epsilon: float = param(4.0, "budget of predictor and counts together", above=0)
    delta: float = param(1e-6, "δ of the predictor", above=0, below=1)
    sigma: float = param(0.5, "noise multiplier", above=0)
    clip: float = param(1.0, "gradient norm bound C", above=0)
    batch: int = param(16, "expected batch size", at_least=1)
    epochs: float | None = param(None, "at most so many; null: as many as the budget allows", above=0)
    learning_rate: float = param(0.001, "of the predictor", above=0)
    share: float = param(0.1, "part of ε that the counts get", above=0, below=1)
    slack: float = param(0.01, "how much rates may differ between groups", at_least=0, at_most=1)

    def __post_init__(self) -> None:
        """Check the parameters."""
        validate.number("share", self.share, above=0, below=1)
        validate.number("slack", self.slack, at_least=0, at_most=1)
        self.predictor()

    def predictor(self) -> Maad:
        """Return the DP predictor with its part of the budget."""
        return Maad(
            debias=False,
            privacy="joint",
            epsilon=self.epsilon * (1 - self.share),
            delta=self.delta,
            sigma=self.sigma,
            clip=self.clip,
            batch=self.batch,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
        )

    def least_epsilon(self, n: int) -> float:
        """Return the least budget whose part for the predictor lasts for a step."""
        return self.predictor().least_epsilon(n) / (1 - self.share)

    def noisy_counts(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return counts with noise of scale 1/ε₂, on a public grid: a person more or less moves one of them by one."""
        scale = 1 / (self.epsilon * self.share)
        return release(counts, Laplace(scale), grid_for(scale), rng)

    def fit(
        self,
        x: np.ndarray,
        label: np.ndarray,
        sensitive: np.ndarray,
        rng: np.random.Generator,
        vectors: np.ndarray | None = None,
    ) -> Trained:
        """Train the predictor, count, and solve for the mixture."""
        trained = self.predictor().fit(x, label, sensitive, rng, vectors)
        group, groups = _groups(sensitive), 2 ** sensitive.shape[1]
        predicted = trained.decide(x, sensitive, rng).astype(int)
        counts = np.zeros((groups, 2, 2))
        np.add.at(counts, (group, label.astype(int), predicted), 1)
        spent = self.epsilon * self.share
        table = mix(np.maximum(self.noisy_counts(counts, rng), 1.0), self.slack)

        def decide(rows: np.ndarray, members: np.ndarray, draw: np.random.Generator) -> np.ndarray:
            first = trained.decide(rows, members, draw).astype(int)
            return draw.random(len(first)) < table[_groups(members), first]

        was = trained.spent
        both = replace(
            was,
            claimed=was.claimed + spent,
            claimed_rdp=was.claimed_rdp + spent,
            spent=was.spent + spent,
            proven=was.proven + spent,
        )
        return replace(trained, decide=decide, spent=both)


def _groups(sensitive: np.ndarray) -> np.ndarray:
    return (sensitive.astype(int) << np.arange(sensitive.shape[1])).sum(axis=1)
