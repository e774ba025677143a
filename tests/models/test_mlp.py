"""The perceptron learns what no linear model can, and the same from the same seed."""

import numpy as np
import pandas as pd
import pytest

from fairpriv.errors import BadRequest
from fairpriv.models.logistic import Logistic
from fairpriv.models.mlp import Mlp


def exclusive_or(n=2000):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(3.0, 10.0, n), "b": pd.Categorical(rng.choice(["no", "yes"], n))})
    return frame, ((frame["a"] > 3.0) ^ (frame["b"] == "yes")).to_numpy().astype(np.int8)


def test_learns_an_exclusive_or_where_a_line_cannot():
    x, y = exclusive_or()
    score = Mlp(epochs=30, rate=0.01).fit(x[:1500], y[:1500], np.random.default_rng(1))(x[1500:])
    assert ((score >= 0) & (score <= 1)).all()
    assert ((score > 0.5) == y[1500:]).mean() > 0.95
    line = Logistic().fit(x[:1500], y[:1500], np.random.default_rng(1))(x[1500:])
    assert ((line > 0.5) == y[1500:]).mean() < 0.65


def test_same_seed_same_model_and_no_look_at_the_rows_to_score():
    x, y = exclusive_or(600)
    one, two = (Mlp(epochs=2).fit(x, y, np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(one(x), two(x))
    np.testing.assert_allclose(one(x[:5]), one(x)[:5], atol=1e-6)


@pytest.mark.parametrize(
    ("params", "said"),
    [({"hidden": 0}, "hidden must be >= 1"), ({"batch": 1}, "batch must be >= 2"), ({"rate": 0}, "rate must be > 0")],
)
def test_bad_parameters_are_refused(params, said):
    with pytest.raises(BadRequest, match=said):
        Mlp(**params)
