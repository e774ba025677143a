"""Table 3 does not print its m: what Algorithm 3 gives at every m, and what any attacker could get there."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from fairpriv.defenses.query.candidates import candidate_scale
from fairpriv.report.hamman2023.forensics import ALGORITHM_3, clipped_error, printed_numbers

STEPS = (1, 2, 5, 10, 15, 23, 30, 46, 60, 100, 150, 230, 332, 461, 700, 1000, 1500, 2303, 3322, 5000, 10000)


def most_leakage(n: int, n0: int, m: int, scale: float, moved: float = 0.5) -> float:
    """Return a bound on the leakage that any attacker can expect under Cauchy noise of this scale.

    Swap a member with a non-member: no guess about the two is better than telling the two laws of answers apart. A
    share `moved` of the m answers (a half for random binary models, all at most) moves by U = 1/N0 + 1/N1; a Cauchy law
    moved by U has the Kullback-Leibler divergence ln(1 + U²/4s²), and by Pinsker's inequality
    E leakage <= 50 (1 + sqrt(KL / 2)).
    """
    unit = 1 / n0 + 1 / (n - n0)
    divergence = moved * m * math.log1p(unit**2 / (4 * scale**2))
    return min(100.0, 50 * (1 + math.sqrt(divergence / 2)))


def queries_tried() -> pd.DataFrame:
    """Return, for each cell of Table 3 and each m, Algorithm 3's error and the leakage nobody can expect to exceed.

    `error_fits`: within 20 % of the print; `leakage_fits`: the printed leakage is not above the bound by more than its
    tolerance. `both` tells whether some m could be the paper's.
    """
    leaks = {_setting(number.printed.selectors): number for number in printed_numbers("leakage")["table3 conceal"]}
    out = []
    for number in printed_numbers("sp_error")["table3 conceal"]:
        at = number.printed.selectors
        leak = leaks[_setting(at)].printed.ours
        n, n0, epsilon = int(at["n"]), int(at["n0"]), float(at["epsilon"])
        for m in (m for m in STEPS if m <= n):
            scale = candidate_scale(ALGORITHM_3, n0, n - n0, m, epsilon)
            error, bound = clipped_error("cauchy", number, scale)[0], most_leakage(n, n0, m, scale)
            fits = abs(error - number.printed.ours) <= 0.2 * number.printed.ours, leak <= bound + 5
            setting = {"n": n, "n0": n0, "epsilon": epsilon, "m": m, "read": m == int(at["m"])}
            found = {
                "error": error,
                "error.printed": number.printed.ours,
                "leakage.most": bound,
                "leakage.printed": leak,
            }
            out.append(setting | found | dict(zip(("error_fits", "leakage_fits"), fits)) | {"both": all(fits)})
    return pd.DataFrame(out)


def _setting(at: Mapping[str, str]) -> tuple[str, ...]:
    return at["n"], at["n0"], at["epsilon"]


def same_m_fits(tried: pd.DataFrame) -> pd.Series:
    """Return, for each column of Table 3, at how many of its four ε the best single m fits both numbers."""
    counts = tried.groupby(["n", "n0", "m"])["both"].sum()
    return counts.groupby(["n", "n0"]).max().astype(np.int64)
