"""What hamman2023 prints cannot follow from its own mechanisms: the proof that its deviations name."""

import math

import numpy as np
import pytest
from scipy import stats

from fairpriv.paths import share
from fairpriv.registry import build
from fairpriv.report.papers import read_paper

PAPER = read_paper(share("experiments") / "hamman2023")
# (n, N0, m) of Table 2 whose leakage differs from ours
DIFFERENT_LEAKAGE = {
    *((1000, n0, 500) for n0 in (50, 100, 200)),
    *((10000, n0, 1000) for n0 in (50, 100, 500, 1000)),
}
SHARES = np.arange(4000) / 4000


def printed_errors(defense, least_epsilon):
    """Return (table, law of the noise, number of queries, printed error rounded up) of every cell with noise."""
    for table in PAPER.tables:
        for printed in table.numbers:
            at = printed.selectors
            if printed.metric == "sp_error" and at["defense"] == defense:
                n, n0, m, epsilon = int(at["n"]), int(at["n0"]), int(at["m"]), float(at["epsilon"])
                if least_epsilon <= epsilon < math.inf:
                    law = build("defenses", defense, {"epsilon": epsilon}).law("sp", n0, n - n0, m)
                    yield table.name, law, m, printed.ours + printed.rounding


def probability_bound(law, m, error, clip=0.5):
    """Bound (Chernoff) the probability that the mean of m absolute errors is as small as printed in a single run.

    Answers clipped to [-1, 1] err by at least min(|noise|, 1 - |gap|): `clip` grants gaps of up to a half. Quantiles
    are taken at the lower end of each of 4,000 equal shares, so that the bound holds in spite of the grid.
    """
    noise = np.minimum(law.ppf((1 + SHARES) / 2), clip)
    logs = [m * (t * error + np.log(np.mean(np.exp(-t * noise)))) for t in np.geomspace(1e-2, 1e7, 400)]
    return math.exp(min(0.0, *logs))


@pytest.mark.parametrize("table", ["table1", "table2", "table3", "table4", "text_conceal"])
def test_algorithm_3_cannot_have_the_printed_errors(table):
    # Table 3 at ε = 10 is near the clip, printed and ours: nothing is said of it
    least = 50 if table == "table3" else 0
    rare = [probability_bound(*found[1:]) for found in printed_errors("conceal", least) if found[0] == table]
    assert rare
    assert max(rare) < 1e-6


def test_the_laplace_column_is_no_mean_absolute_error():
    # three of the four errors at ε = 5 are near the clip as well
    rare = sorted(probability_bound(*found[1:]) for found in printed_errors("laplace", 0))
    assert len(rare) == 12
    assert rare[8] < 1e-6


def test_the_laplace_column_is_no_mean_of_signed_errors_either():
    sd = [error / (law.scale * math.sqrt(2 / m)) for _, law, m, error in printed_errors("laplace", 0)]
    assert max(sd) < 0.73
    assert (2 * stats.norm.cdf(max(sd)) - 1) ** len(sd) < 1e-3  # all twelve that small


def test_conceal_has_more_noise_than_laplace_where_n0_is_small():
    pairs = zip(printed_errors("conceal", 0), printed_errors("laplace", 0), strict=False)  # Table 1 comes first
    above = [c.ppf(0.75) > p.ppf(0.75) for (table, c, *_), (_, p, *_) in pairs if table == "table1"]
    assert above == [True] * 6 + [True, True, False] * 2  # n = 100, then n = 1000 with ε = 5, 10, 100


def test_no_attacker_reaches_the_leakages_of_table_2_that_differ():
    """Swap a member with a non-member: no guess about them is better than telling the two laws apart.

    The answers to random binary queries move by U = 1/N0 + 1/N1 in half of the queries, a Cauchy law moved by U has the
    Kullback-Leibler divergence ln(1 + U²/4s²), and by Pinsker's inequality E leakage <= 50 (1 + sqrt(KL / 2)).
    """
    table = next(t for t in PAPER.tables if t.name == "table2")
    far = 0
    for printed in (p for p in table.numbers if p.metric == "leakage"):
        n, n0, m, epsilon = (float(printed.selectors[k]) for k in ("n", "n0", "m", "epsilon"))
        scale = build("defenses", "conceal", {"epsilon": epsilon}).law("sp", int(n0), int(n - n0), int(m)).scale
        divergence = m / 2 * math.log1p((1 / n0 + 1 / (n - n0)) ** 2 / (4 * scale**2))
        if (n, n0, m) in DIFFERENT_LEAKAGE:
            far += 1
            assert printed.ours - printed.rounding > 50 * (1 + math.sqrt(divergence / 2))
    assert far == len(DIFFERENT_LEAKAGE)


def test_the_bound_allows_what_the_mechanism_does():
    for _, law, m, _ in printed_errors("conceal", 0):
        draws = np.minimum(np.abs(law.ppf((np.arange(m) + 0.5) / m)), 0.5)
        assert probability_bound(law, m, float(draws.mean()) * 1.02) > 0.01
