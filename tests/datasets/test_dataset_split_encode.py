import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairpriv import registry
from fairpriv.datasets.encode import one_hot, ordinal, standardise
from fairpriv.datasets.split import draw_test_set, stratified_split
from fairpriv.errors import BadRequest


@pytest.fixture(scope="module")
def dataset():
    return registry.build("datasets", "synthetic", {"n": 1_003, "n0": 97, "positive_rate": 0.3}).load()


@pytest.mark.parametrize("by", ["label", "group", "both", "none"])
def test_split_is_a_partition_with_equal_shares(dataset, by):
    parts = stratified_split(dataset, (0.5, 0.3, 0.2), np.random.default_rng(0), by=by)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(1_003))
    for part, fraction in zip(parts, (0.5, 0.3, 0.2)):
        assert abs(len(part) - fraction * 1_003) <= 1
        if by in ("label", "group"):
            strata = getattr(dataset, by)
            for value in (0, 1):
                assert abs((strata[part] == value).sum() - fraction * (strata == value).sum()) <= 2


def test_split_is_uniform_within_strata():
    strata = np.repeat([0, 1], [10, 30])
    rng, times = np.random.default_rng(1), np.zeros(40)
    for _ in range(2_000):
        times[stratified_split(strata, [0.5], rng)[0]] += 1
    # Each row is taken with probability 1/2: 2,000 draws deviate by 22; five of that over 40 rows, 1 alarm in 40,000.
    assert np.abs(times - 1_000).max() < 5 * 22.4


def test_split_is_deterministic_and_takes_arrays():
    strata = np.array(list("aabbbbbbcc"))
    one, two = (stratified_split(strata, (0.5, 0.5), np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one[0], two[0])
    assert sorted(strata[one[0]]) == list("abbbc")


@pytest.mark.parametrize(("fractions", "said"), [((0.8, 0.4), "at most 1, got 1.2"), ((0.0,), "fraction must be > 0")])
def test_bad_fractions(dataset, fractions, said):
    with pytest.raises(BadRequest, match=said):
        stratified_split(dataset, fractions, np.random.default_rng(0))


def test_bad_strata(dataset):
    with pytest.raises(BadRequest, match="by must be one of label, group, both, none"):
        stratified_split(dataset, (0.5,), np.random.default_rng(0), by="sex")


def test_drawn_test_set_has_exact_group_sizes(dataset):
    test, train = draw_test_set(dataset, 100, 10, np.random.default_rng(0))
    assert (len(test), (dataset.group[test] == 0).sum()) == (100, 10)
    np.testing.assert_array_equal(np.sort(np.concatenate([test, train])), np.arange(1_003))
    whole, rest = draw_test_set(dataset, 1_003, 97, np.random.default_rng(0))
    assert (len(whole), len(rest)) == (1_003, 0)


@pytest.mark.parametrize(
    ("n", "n0", "said"),
    [
        (200, 98, "needs 98 rows of group 0, there are 97"),
        (1_003, 50, "needs 953 rows of group 1, there are 906"),
        (10, 0, "n0 must be a whole number between 1 and 9, got 0"),
        (10, 10, "n0 must be a whole number between 1 and 9, got 10"),
    ],
)
def test_impossible_test_set_is_refused(dataset, n, n0, said):
    with pytest.raises(BadRequest, match=said):
        draw_test_set(dataset, n, n0, np.random.default_rng(0))


@pytest.fixture
def frame():
    return pd.DataFrame({"x": [1, 2, 3], "c": pd.Categorical(list("bab"), categories=list("abc")), "y": [0.5, 0, 1]})


def test_one_hot_covers_the_whole_domain(frame):
    matrix, names = one_hot(frame)
    assert names == ["x", "c=a", "c=b", "c=c", "y"]
    expected = OneHotEncoder(categories=[list("abc")], sparse_output=False).fit_transform(frame[["c"]].astype(str))
    np.testing.assert_array_equal(matrix[:, 1:4], expected)
    np.testing.assert_array_equal(matrix[:, [0, 4]], frame[["x", "y"]])
    assert matrix.dtype == float
    np.testing.assert_array_equal(one_hot(frame.iloc[:1])[0], matrix[:1])


def test_ordinal(frame):
    np.testing.assert_array_equal(ordinal(frame), [[1, 1, 0.5], [2, 0, 0], [3, 1, 1]])


def test_empty_frames():
    assert one_hot(pd.DataFrame(index=range(3)))[0].shape == (3, 0)
    assert ordinal(pd.DataFrame(index=range(3))).shape == (3, 0)


def test_standardise_is_scikit_learns():
    rng = np.random.default_rng(0)
    train, test = rng.normal(3, 2, (50, 3)), rng.normal(0, 1, (20, 3))
    train[:, 1] = 7.0  # a constant column is only shifted
    scaler = StandardScaler().fit(train)
    ours = standardise(train, test)
    np.testing.assert_allclose(ours[0], scaler.transform(train))
    np.testing.assert_allclose(ours[1], scaler.transform(test))
