r"""From answers to a group vector: t in units where group 0 is 1 and group 1 is 0.

hamman2023, equation (1), with v = r̄ − s̄ and r̄ = 1/N1: SP = Hv = H(r̄ − s̄), so H s̄ = H r̄ − SP. The paper prints
η = SP − H r̄ = H s̄, which has the sign of the right-hand side wrong: s̄ would be negative and Algorithm 2's test
s̄ⱼ > ½(1/N1 + 1/N0) could not hold. Here η = (H r̄ − SP) / (1/N1 + 1/N0) = Ht with t = s̄ / (1/N1 + 1/N0) in {0, 1}.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairpriv import validate
from fairpriv.attacks.reveal.recovery.basis_pursuit import basis_pursuit
from fairpriv.attacks.reveal.recovery.box import box
from fairpriv.attacks.reveal.recovery.convex_program import convex_program
from fairpriv.attacks.reveal.recovery.likelihood import maximum_likelihood
from fairpriv.attacks.reveal.recovery.linear_program import linear_program
from fairpriv.attacks.reveal.recovery.noise_aware import clipped_second_moment, noise_aware
from fairpriv.attacks.reveal.recovery.sensing import Sensing
from fairpriv.mechanisms.noise import Law

DECODERS = ("l1", "lp", "cvxpy", "box", "noise_aware", "maximum_likelihood")


@dataclass(frozen=True)
class Knowledge:
    """What is public about one set of answers: the group sizes and the noise law."""

    n0: int
    n1: int
    law: Law

    @property
    def unit(self) -> float:
        """The value of s̄ for members of group 0: 1/N1 + 1/N0."""
        return 1.0 / self.n1 + 1.0 / self.n0


def measurements(sensing: Sensing, answers: np.ndarray, knowledge: Sequence[Knowledge]) -> np.ndarray:
    """Return η of equation (1) in units of t, one column a set of answers."""
    total = sensing.h.sum(axis=1)
    columns = [(total / who.n1 - answers[:, k]) / who.unit for k, who in enumerate(knowledge)]
    return np.stack(columns, axis=1)


def decode(decoder: str, sensing: Sensing, answers: np.ndarray, knowledge: Sequence[Knowledge]) -> np.ndarray:
    """Estimate t (n, K) from answers (m, K) to the queries H, each column with its own sizes and noise law.

    Parameters
    ----------
    decoder : one of `DECODERS`
        `l1` is the paper's (Algorithm 2, line 8), `lp` and `cvxpy` the same by general solvers; `box`,
        `noise_aware` and `maximum_likelihood` go beyond it.
    sensing : Sensing
        The queries.
    answers : (m, K) array
        Signed gaps as answered.
    knowledge : sequence of K Knowledge
        Public facts behind each column.
    """
    validate.choice("decoder", decoder, DECODERS)
    if decoder == "noise_aware":  # the Cauchy law has no variance: clip to the metric's range first
        answers = np.clip(answers, -1.0, 1.0)
    eta = measurements(sensing, answers, knowledge)
    unit = np.array([who.unit for who in knowledge])
    if decoder == "l1":
        return basis_pursuit(sensing, eta)
    if decoder == "lp":
        return linear_program(sensing, eta)
    if decoder == "cvxpy":
        return convex_program(sensing, eta)
    if decoder == "box":
        return box(sensing, eta)
    if decoder == "noise_aware":
        moment = np.array([clipped_second_moment(who.law) for who in knowledge])
        return noise_aware(sensing, eta, np.sqrt(len(answers) * moment) / unit)
    laws = [who.law if who.law.scale == 0 else replace(who.law, scale=who.law.scale / who.unit) for who in knowledge]
    return maximum_likelihood(sensing, eta, np.array([float(who.n0) for who in knowledge]), laws)


def decide(decoder: str, t: np.ndarray, knowledge: Sequence[Knowledge], threshold: float = 0.5) -> np.ndarray:
    """Return groups (n, K): 0 where t > ½ (Algorithm 2, line 10); by likelihood, the N0 largest t are group 0."""
    if decoder != "maximum_likelihood":
        return np.where(t > threshold, 0, 1)
    group = np.ones(t.shape, dtype=int)
    for k, who in enumerate(knowledge):
        group[np.argsort(-t[:, k], kind="stable")[: who.n0], k] = 0
    return group
