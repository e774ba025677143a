"""The LightGBM plug-in is LightGBM's own classifier."""

import numpy as np
import pandas as pd
import pytest

from fairpriv.errors import BadRequest
from fairpriv.models.lgbm import Lgbm


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (n, 12))
    label = (x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(0, 0.7, n) > 0.8).astype(np.int8)
    return pd.DataFrame(x.astype(np.float32)), label


def test_same_probabilities_as_the_classifier():
    lightgbm = pytest.importorskip("lightgbm")
    x, y = table()
    ours = Lgbm(6, 40, 0.2).fit(x, y, np.random.default_rng(3))(x)
    model = lightgbm.LGBMClassifier(
        objective="binary", max_depth=6, n_estimators=40, learning_rate=0.2, random_state=0, n_jobs=1, verbose=-1
    )
    theirs = model.fit(x.to_numpy(np.float64), y).predict_proba(x.to_numpy(np.float64))[:, 1]
    np.testing.assert_array_equal(ours, theirs)


def test_categories_are_one_hot():
    x, y = table()
    words = pd.DataFrame({c: pd.Categorical(np.where(x[c] == 1, "yes", "no"), ["no", "yes"]) for c in x})
    ours = Lgbm(n_estimators=20).fit(words, y, np.random.default_rng(0))(words)
    assert ((ours > 0.5) == y).mean() > 0.8


def test_tuning_never_sees_other_rows_and_is_deterministic():
    x, y = table()
    one, two = (Lgbm(tune=3).tuned(x, y, np.random.default_rng(1)) for _ in range(2))
    assert one == two
    assert one.tune == 0
    assert 3 <= one.max_depth <= 50
    assert 50 <= one.n_estimators <= 2000
    assert 0.01 <= one.learning_rate <= 0.25
    other, _ = table(seed=9)
    fitted = Lgbm(tune=2).fit(x, y, np.random.default_rng(1))(other)
    assert fitted.shape == (len(other),)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"max_depth": -2}, "max_depth must be >= -1"),
        ({"n_estimators": 0}, "n_estimators must be >= 1"),
        ({"learning_rate": 0}, "learning_rate must be > 0"),
        ({"tune": -1}, "tune must be >= 0"),
    ],
)
def test_bad_parameters_are_refused(params, said):
    with pytest.raises(BadRequest, match=said):
        Lgbm(**params)
