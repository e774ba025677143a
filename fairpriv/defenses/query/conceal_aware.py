"""Answers that use what is public: the models asked about, and how many are in each group."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv.defenses.query.base import Guarantee, QueryDefense, Question, Sizes
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.bounding import metric_range, noisy
from fairpriv.mechanisms.noise import Exact, Gaussian, Laplace, Law
from fairpriv.mechanisms.release import Randomness, grid_for, release, rounding_allowance
from fairpriv.mechanisms.smooth_sensitivity import check_sizes, global_sensitivity
from fairpriv.mechanisms.strategies import Strategy, choose
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class ConcealAware(QueryDefense):
    r"""A matrix mechanism over swaps: epsilon-DP of who is in which group, given how many are; unbiased answers.

    **Not the guarantee of the other defenses.** They protect one person's group against whoever knows everybody else's;
    an observer who knows N0 as well needs no answer to tell. Where N0 is published, as the paper's attacks have it,
    what can be protected is which of two people is in which group: neighbours are *swaps*, data sets of equal N0 and N1
    that differ in the places of two people. That is promised here, in full and no more; the noise depends on N0.

    *Mechanism.* Let v hold 1/N1 for members of group 1 and -1/N0 for the others, so that the m gaps are H·v. With
    H = B·A from `fairpriv.mechanisms.strategies`, answers are B (A·v + noise), Laplace noise of scale b_r on row r.

    *Proof.* A swap of j and k moves v by ±U (e_j - e_k), U = 1/N0 + 1/N1, hence row r of A·v by U |A_rj - A_rk|. The
    log density ratio of Laplace noise is at most the shift over the scale, so the rows together lose at most
    U Σ_r |A_rj - A_rk| / b_r <= epsilon, by (1) of `strategies`. A, B, b, and the grid that A·v + noise is rounded to,
    are functions of H, N0, N1 and epsilon, which neighbours share; what follows, B, absolute values, clipping, is
    post-processing. For `eo` and `eodds`, the two people of a swap have the same label, so a swap moves the answers of
    one class only, and each class has the whole budget (parallel composition); the sizes of the groups in each class
    count as public.

    *Floats.* Noise and grid: `fairpriv.mechanisms.release`. Row r of A·v is off by at most 2 (n + 2) u max_j |A_rj|,
    u = 2^-53, as the weights add to 2, which adds at most 4 (n + 2) u Σ_r max_j |A_rj| / b_r to the loss. With
    b_r = U s_r / epsilon and U >= 4/n this is below epsilon (n + 3)² u Σ_r max_j |A_rj| / s_r: all scales are raised by
    that share. Entries of v themselves are rounded alike for all members of a group.

    The answers share noise: they are off together where the models are alike. Predictive rate parity is not linear in
    v, and a swap may move it over its whole range (`mechanisms.smooth_sensitivity`): it gets Laplace noise for that.

    Parameters
    ----------
    epsilon : float
        As in `QueryDefense`; over swaps.
    bounding : str
        `none`, or `clip` and its other name `boundary_inflated`.
    """

    name: ClassVar[str] = "conceal_aware"
    paper: ClassVar[str] = "after hamman2023, Section 4; Li et al. 2010"
    family: ClassVar[type[Law]] = Gaussian

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bounding == "truncate":
            raise BadRequest("bounding must be one of none, clip, boundary_inflated for conceal_aware, got 'truncate'")

    def answer(self, gaps: np.ndarray, metric: str, n0: Sizes, n1: Sizes, rng: Randomness) -> np.ndarray:
        """Refuse: gaps alone do not say what models they are about."""
        raise BadRequest("conceal_aware answers questions about models (respond), not gaps alone")

    def law(self, metric: str, n0: Sizes, n1: Sizes, m: int) -> Law:
        """Refuse: the noise depends on the models."""
        raise BadRequest("the noise of conceal_aware depends on the models (noise_law), not on their number alone")

    def measured(self, h: np.ndarray, group: np.ndarray, rng: Randomness) -> list[np.ndarray]:
        """Return what the strategy for H measures, with noise: all that is ever taken from the groups of a class."""
        n0, n1 = int((group == 0).sum()), int((group == 1).sum())
        check_sizes("sp", n0, n1)
        v, strategy, seen = np.where(group == 1, 1 / n1, -1 / n0), choose(h), []
        for rows, scales, _ in strategy.parts:
            noise = self.noise(scales, strategy, n0, n1)
            values = v if rows is None else rows @ v
            seen.append(release(values, Laplace(noise), np.array([grid_for(b) for b in noise]), rng))
        return seen

    def noise(self, scales: np.ndarray, strategy: Strategy, n0: int, n1: int) -> np.ndarray:
        """Return b: scales times U / epsilon with room for rounding; rows that no swap moves get next to nothing."""
        unit = (1 / n0 + 1 / n1) * (1 + rounding_allowance(n0 + n1) * max(1.0, strategy.reach))
        return np.maximum(scales * unit / self.epsilon, 1e-290)

    def respond(self, question: Question, rng: Randomness) -> np.ndarray:
        """Return the answers to a question: shape (m,), or (m, 2) for equalized odds."""
        if math.isinf(self.epsilon):
            return question.gaps.copy()
        if question.metric.endswith("prp"):
            law = self.noise_law(question)
            return noisy(question.gaps, law, question.metric, self.bounding, grid_for(law.scale), rng)
        columns = []
        for people in question.classes:
            h = question.h[:, people]
            seen = self.measured(h, question.group[people], rng)
            columns.append(sum(back @ y for (_, _, back), y in zip(choose(h).parts, seen)))
        answers = np.stack(columns, axis=1) if question.metric.endswith("eodds") else columns[0]
        if question.metric.startswith("abs_"):
            answers = np.abs(answers)
        return answers if self.bounding == "none" else np.clip(answers, *metric_range(question.metric))

    def noise_law(self, question: Question) -> Law:
        """Return a Gaussian with the mean variance of the answers: each is a sum of many Laplace variables."""
        if math.isinf(self.epsilon):
            return Exact()
        if question.metric.endswith("prp"):
            m, n = question.h.shape
            return Laplace(m * global_sensitivity(question.metric, n) / self.epsilon * (1 + rounding_allowance(n)))
        scales = []
        for people in question.classes:
            group = question.group[people]
            strategy = choose(question.h[:, people])
            sizes = int((group == 0).sum()), int((group == 1).sum())
            scales.append(float(self.noise(np.array(strategy.error), strategy, *sizes)))
        return Gaussian(scales[0] if len(scales) == 1 else np.array(scales))

    def guarantee(self) -> Guarantee:
        """Return what the answers of one call promise."""
        if math.isinf(self.epsilon):
            return super().guarantee()
        return Guarantee(
            epsilon=self.epsilon,
            delta=0.0,
            protects="which of two people is in which group, where the sizes of both groups are known",
            assumes=("each group keeps a member in every class queried", "group sizes (by label for eo) are public"),
        )
