"""Is a difference more than chance? The one rule by which a number of ours is held against a printed one."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit


@dataclass(frozen=True)
class Chance:
    """Whether a difference is more than chance, and by which rule that was decided."""

    more: bool
    rule: str


def deviation(printed: float, runs: int, kind: str) -> float:
    """Return the deviation of the paper's single runs from the spread it prints."""
    if kind == "sd":
        return printed
    error = printed if kind == "se" else printed / float(stdtrit(runs - 1, 0.975))
    return error * float(np.sqrt(runs))


def allowed_by_chance(ours: np.ndarray, runs: int, paper_sd: float | None = None) -> float:
    """Return how far two means lie apart by chance: in 95 % of cases no further than this.

    Parameters
    ----------
    ours : ndarray
        One value a seed.
    runs : int
        The number of runs behind the paper's mean.
    paper_sd : float, optional
        Their standard deviation.

    Notes
    -----
    With the paper's deviation S over r runs and s over our n seeds this is Welch's test: t(.975, f) sqrt(s²/n + S²/r),
    f by Welch and Satterthwaite. A single seed of ours is taken to scatter like the paper's runs. Without S the paper's
    runs are taken to scatter like ours: t(.975, n-1) s sqrt(1/n + 1/r), the prediction interval of a mean of r runs.
    A single seed against no deviation allows nothing: nobody knows how either scatters.
    """
    n = len(ours)
    s = float(np.std(ours, ddof=1)) if n > 1 else 0.0
    if np.ptp(ours) == 0:
        s = 0.0  # equal seeds have no spread: the rounding of their mean is not one
    if paper_sd is None:
        return float(stdtrit(n - 1, 0.975)) * s * float(np.sqrt(1 / n + 1 / runs)) if s else 0.0
    if n == 1:
        return float(stdtrit(runs - 1, 0.975)) * paper_sd * float(np.sqrt(1 + 1 / runs))
    a, b = s**2 / n, paper_sd**2 / runs
    if a + b == 0:
        return 0.0
    freedom = (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (runs - 1))
    return float(stdtrit(freedom, 0.975) * np.sqrt(a + b))


def within(gap: float, limit: float) -> bool:
    """Tell whether a difference is within a limit; a float's last bits decide nothing."""
    return gap <= limit * (1 + 1e-9) + 1e-15


def of_means(ours: np.ndarray, printed: float, rounding: float, runs: int, paper_sd: float | None = None) -> Chance:
    """Judge a printed mean; half a unit of its last decimal is added to what chance allows."""
    allowed = allowed_by_chance(ours, runs, paper_sd)
    test = "prediction interval" if paper_sd is None else "Welch"
    if len(ours) == 1:
        test = "one seed: rounding alone" if paper_sd is None else "one seed: the paper's deviation taken for ours"
    gap = abs(float(np.mean(ours)) - printed)
    return Chance(not within(gap, allowed + rounding), f"chance within {allowed + rounding:.3g} ({test})")


def of_rates(ours: np.ndarray, printed: float, runs: int) -> Chance:
    """Judge a printed share of runs by Fisher's exact test: few yes-or-no runs have no deviation to speak of."""
    hits = int(np.sum(ours))
    theirs = round(printed * runs)
    from scipy.stats import fisher_exact  # a second of import, seldom needed

    p = float(fisher_exact([[hits, len(ours) - hits], [theirs, runs - theirs]]).pvalue)
    return Chance(p < 0.05, f"chance with p = {p:.2g} (Fisher: {hits} of {len(ours)} against {theirs} of {runs})")
