import numpy as np
import pandas as pd
import pytest

from fairpriv import datasets
from fairpriv.errors import BadRequest


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "age": [20, 30, 40, 50, 60, 70],
            "job": ["a", "b", "a", "c", "b", "a"],
            "sex": ["m", "m", "f", "m", "f", "m"],
            "hired": [1, 0, 1, 0, 1, 1],
        }
    )


@pytest.fixture
def load(tmp_path):
    def _load(table, **options):
        path = tmp_path / "own.csv"
        if isinstance(table, pd.DataFrame):
            table.to_csv(path, index=False)
        elif table is not None:
            path.write_bytes(table)
        return datasets.load("csv", {"path": str(path), "label": "hired", "protected": "sex"} | options)

    return _load


def test_reads_a_table(load, table):
    dataset = load(table)
    assert list(dataset.features) == ["age", "job"]
    assert dataset.features["age"].dtype.kind == "i"
    assert list(dataset.features["job"].cat.categories) == ["a", "b", "c"]
    np.testing.assert_array_equal(dataset.label, table["hired"])
    np.testing.assert_array_equal(dataset.group, table["sex"] == "m")  # the larger group is taken for the advantaged
    assert dataset.domains == {"sex": ("f", "m")}


def test_options(load, table):
    dataset = load(table, privileged="f", positive=0, features=["job"])
    np.testing.assert_array_equal(dataset.group, table["sex"] == "f")
    np.testing.assert_array_equal(dataset.label, table["hired"] == 0)
    assert list(dataset.features) == ["job"]
    assert list(load(table, exclude=["age"]).features) == ["job"]


def test_other_label_and_group_values(load, table):
    words = load(table.assign(hired=table["hired"].map({1: "yes", 0: "no"})), positive="yes")
    np.testing.assert_array_equal(words.label, table["hired"])
    truth = load(table.assign(hired=table["hired"] == 1, sex=[0.0, 0.0, 1.0, 0.0, 1.0, 1.0]))
    np.testing.assert_array_equal(truth.label, table["hired"])
    np.testing.assert_array_equal(truth.group, [0, 0, 1, 0, 1, 1])  # groups of equal size: the greater value
    three = load(table.assign(sex=list("mfxmfx")), privileged=["m", "x"])
    np.testing.assert_array_equal(three.group, [1, 0, 1, 1, 0, 1])


def test_missing_values_are_dropped_on_request(load, table):
    spoilt = table.assign(age=[20, 30, np.inf, 50, 60, 70], job=["a", None, "a", "c", "b", "a"])
    assert len(load(spoilt, drop_missing=True)) == 4
    assert len(load(spoilt, drop_missing=True, exclude=["job"])) == 5  # a column that is not used may have holes


def test_a_changed_file_is_read_again(load, table):
    first = load(table)
    second = load(table.iloc[:5])
    assert (len(first), len(second)) == (6, 5)
    assert first.sha256 != second.sha256


def holes(table):
    return table.assign(age=[20, None, 40, None, 60, 70], job=["a", None, "a", "b", "b", "c"])


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (None, {}, r"no such file: dataset\.path="),
        (None, {"path": "/"}, "is a directory"),
        (b"", {}, "is empty"),
        (b"age,sex,hired\n", {}, "has no rows"),
        (b'a,b\n"1,2\n', {}, "cannot be read as CSV"),
        (b"age,sex,hired\n\xff\xfe,1,1\n", {}, "cannot be read as CSV"),
        (lambda t: t, {"label": "hierd"}, "has no column 'hierd': did you mean hired"),
        (lambda t: t, {"protected": "gender"}, "has no column 'gender': .*columns: age, job, sex, hired"),
        (lambda t: t, {"features": ["agee"]}, "did you mean age"),
        (holes, {}, r"missing values \(NaN\) in age \(2\), job \(1\): dataset\.drop_missing=true drops 2 of 6 rows"),
        (lambda t: t.assign(age=None), {"drop_missing": True}, "no row without a missing value"),
        (lambda t: t.assign(sex="m"), {}, "has one group only: m"),
        (lambda t: t.assign(hired=1), {}, "label hired is constant: 1"),
        (lambda t: t.assign(hired=range(6)), {}, r"must be binary, it has 6 values \(0, 1, 2"),
        (lambda t: t.assign(hired=list("yynnyn")), {}, r"dataset\.positive is not given: which value .* n, y"),
        (lambda t: t, {"positive": 7}, "'7' is not a value"),
        (lambda t: t.assign(sex=list("mfxmfx")), {}, r"has 3 values \(f, m, x\): say which are advantaged"),
        (lambda t: t, {"privileged": "w"}, "sex has no value 'w'; it has f, m"),
        (lambda t: t, {"privileged": ["m", "f"]}, "constant"),
        (lambda t: t[["sex", "hired"]], {}, "has no feature beside hired and sex"),
        (lambda t: t, {"label": "sex"}, "label and protected must be two columns"),
        (lambda t: t, {"features": ["age", "sex"]}, "features must not hold"),
        (lambda t: t, {"label": None}, "dataset csv needs label"),
        (lambda t: t, {"exclude": ["agee"]}, "in exclude 'agee': did you mean age"),
    ],
)
def test_each_error_is_one_line(load, table, change, options, said):
    with pytest.raises(BadRequest, match=said) as error:
        load(change(table) if callable(change) else change, **options)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2
