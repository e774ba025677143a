"""Reading groups off estimates of v (hamman2023, Theorem 1): vⱼ = 1/N1 in group 1, −1/N0 in group 0."""

import numpy as np

from fairpriv.attacks.reveal.base import Recovery


def read_signs(n: int, people: np.ndarray, v: np.ndarray, queries: int) -> Recovery:
    """Detect group 1 where v > 0 (Algorithm 1, line 9), −1 for people not asked about.

    The score is −v: as s̄ = 1/N1 − v it is s̄ up to a constant, larger for group 0.
    """
    group, score = np.full(n, -1), np.full(n, np.nan)
    group[people], score[people] = np.where(v > 0, 1, 0), -v
    return Recovery(group, score, queries)


def sizes_from(answer: float, n: int) -> tuple[int, int]:
    """Return (N0, N1) of n people from the gap of a model that accepts one person alone (Example 1).

    The answer is 1/N1 or −1/N0; a noisy one is clamped so that both groups keep a member.
    """
    size = int(np.clip(np.rint(1.0 / max(abs(answer), 1.0 / n)), 1, n - 1))
    return (n - size, size) if answer > 0 else (size, n - size)
