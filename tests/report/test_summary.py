import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairpriv.report.hamman2023.claims import reveal_checks
from fairpriv.report.summary import bar_half, bars_say, half_width, surely_below


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_surely_below_is_where_the_interval_ends(level):
    values = np.array([1.0, 2.0, 4.0])
    _, high = stats.t.interval(level, 2, loc=values.mean(), scale=stats.sem(values))
    assert surely_below(values, high + 1e-9, level)
    assert not surely_below(values, high - 1e-9, level)


def test_of_a_single_value_nothing_is_sure():
    assert not surely_below(np.array([0.0]), 100)


def test_an_error_bar_of_two_values_is_their_range():
    assert bar_half([1.0, 3.0]) == 1.0
    assert np.isnan(bar_half([1.0]))
    assert bar_half([1.0, 2.0, 4.0, np.nan]) == half_width(np.array([1.0, 2.0, 4.0]))
    assert bars_say(n for n in (1, 2, 3)) == "bars: 95 % intervals (one seed: none, two seeds: range)"
    assert bars_say([3], "split") == "bars: 95 % intervals"


@pytest.mark.parametrize(("leakage", "sure"), [([70, 100, 100, 100], False), ([70, 71, 70, 71], True)])
def test_a_claim_that_fails_is_sure_only_beyond_its_interval(leakage, sure):
    rows = pd.DataFrame({"leakage": leakage, "seed": range(4)}).assign(
        dataset="adult_race", n=100, n0=10, m=40, attack="reveal_compressed", recovered=90, model_accuracy=86
    )
    rows = rows.assign(
        base_accuracy=86,
        **{"attack.queries": "perturbed", "attack.decoder": "l1", "attack.group_sizes": "known"},
    )
    check = reveal_checks(rows)["reveal_adult"]
    assert (check.holds, check.sure) == (False, sure)
