from fractions import Fraction

import numpy as np
import pytest

from fairpriv.errors import BadRequest
from fairpriv.metrics.unfairness import METRICS, as_fraction, unfairness


def test_by_hand():
    #             s:  0  0  0  1  1  1  1
    h = np.array([1, 0, 0, 1, 1, 1, 0])
    s = np.array([0, 0, 0, 1, 1, 1, 1])
    y = np.array([1, 1, 0, 1, 0, 0, 0])
    assert unfairness("SP", h, s, y) == Fraction(4, 7) - Fraction(1, 3)
    assert unfairness("PE", h, s, y) == Fraction(1, 2)  # 0/1 in group 0, 2/3 in group 1, 2/4 in all
    assert unfairness("EO", h, s, y) == Fraction(1, 3)  # 1/2, 1/1, 2/3 in all
    assert unfairness("EOdds", h, s, y) == Fraction(1, 2)


def test_equals_fairlearn():
    metrics = pytest.importorskip("fairlearn.metrics")
    rng = np.random.default_rng(0)
    names = {"SP": metrics.selection_rate, "PE": metrics.false_positive_rate, "EO": metrics.true_positive_rate}
    for _ in range(20):
        h, s, y = rng.integers(0, 2, 200), rng.integers(0, 3, 200), rng.integers(0, 2, 200)
        found = {}
        for name, rate in names.items():
            frame = metrics.MetricFrame(metrics=rate, y_true=y, y_pred=h, sensitive_features=s)
            found[name] = frame.difference(method="to_overall")
            assert float(unfairness(name, h, s, y)) == pytest.approx(found[name], abs=1e-12)
        assert float(unfairness("EOdds", h, s, y)) == pytest.approx(max(found["PE"], found["EO"]), abs=1e-12)


def test_same_predictions_for_all_are_fair():
    s, y = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert all(unfairness(m, np.ones(4), s, y) == 0 for m in METRICS)


def test_slice_without_rows_is_refused():
    with pytest.raises(BadRequest, match="no positives"):
        unfairness("EO", np.ones(2), np.array([0, 1]), np.zeros(2))


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (0.1, Fraction(1, 10)),
        ("0.05", Fraction(1, 20)),
        (0, Fraction(0)),
        (1.0, Fraction(1)),
        (1e-5, Fraction(1, 10**5)),
    ],
)
def test_a_float_stands_for_its_decimal_text(value, exact):
    assert as_fraction("x", value) == exact
    assert as_fraction("x", np.float64(value) if not isinstance(value, str) else value) == exact


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "a", None, True, "1/0"])
def test_what_is_no_share_is_refused(value):
    with pytest.raises(BadRequest, match="x must be"):
        as_fraction("x", value)
