"""experiment=ldp_fairness: encoding, collection, and the authors' own numbers."""

import numpy as np
import pandas as pd
import pytest

from fairpriv import datasets
from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.errors import BadRequest, DataUnavailable
from fairpriv.protocols.ldp_fairness import LdpFairness
from fairpriv.protocols.one_hot_table import OneHotTable, sensitive_attributes

INF = float("inf")
QUICK = {"name": "lgbm", "max_depth": -1, "n_estimators": 5, "learning_rate": 0.3, "tune": 0}
# The authors' result files, seeds 0 and 1: acc, f1, "auc", recall, DI, SPD, EOD, OAD
AUTHORS = {
    ("adult_reconstructed", 0): (0.81799, 0.82894, 0.81675, 0.85173, 0.43617, 0.37546, 0.19717, -0.02009),
    ("adult_reconstructed", 1): (0.81134, 0.82158, 0.81033, 0.83888, 0.43974, 0.37065, 0.21486, -0.01056),
    ("acs_public_coverage", 0): (0.83953, 0.47542, 0.66671, 0.39192, 0.10340, 0.47167, 0.53128, -0.16617),
    ("acs_public_coverage", 1): (0.84434, 0.48127, 0.66861, 0.38919, 0.09271, 0.46496, 0.53205, -0.16615),
    ("lsac", 0): (0.94640, 0.97231, 0.54863, 0.99149, 0.84583, 0.15345, 0.10296, 0.20153),
    ("lsac", 1): (0.94616, 0.97222, 0.53485, 0.99278, 0.89554, 0.10392, 0.09257, 0.23614),
}
FOUND = {
    "adult_reconstructed": (38, 1100, 0.02255696731716368),
    "acs_public_coverage": (47, 1300, 0.20243400958078808),
    "lsac": (9, 1100, 0.18177994587365698),
}


def small(n=500, name="small"):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, n)
    age = rng.integers(20, 40, n)
    label = (group + age / 20 + rng.normal(0, 0.5, n) > 2).astype(np.int8)
    town = pd.Categorical.from_codes(rng.integers(0, 3, n), ["x", "y", "z", "nobody"])
    frame = pd.DataFrame({"age": age, "town": town, "height": rng.normal(size=n)})
    sensitive = pd.DataFrame({"sex": pd.Categorical.from_codes(group, ["f", "m"]), "town": town})
    return Dataset(name, frame, label, group.astype(np.int8), sensitive, "sex", "0" * 64)


def cell(protocol="grr", split="uniform", epsilon=1.0, seed=0, sensitive="table2", dataset="small", model=QUICK):
    axes = {
        "dataset": dataset,
        "model": model["name"],
        "sensitive": sensitive,
        "defense.protocol": protocol,
        "defense.split": split,
        "epsilon": epsilon,
    }
    if protocol == "nondp":  # as conf/defense/nondp.yaml: no axes of LDP
        axes = {"dataset": dataset, "model": model["name"], "sensitive": sensitive, "defense": "nondp"}
    defense = {"name": "ldp_collection", "protocol": protocol, "split": split}
    return Cell("ldp_fairness", axes, {"dataset": {"name": dataset}, "defense": defense, "model": model}, seed)


def run(*cells, data=None):
    data = data or small()
    return [r.metrics for r in LdpFairness().run(cells, lambda _: data)]


def test_one_hot_over_full_domains_protected_first():
    table = OneHotTable.of(small(), ("sex", "town"))
    ages = small().features["age"].nunique()
    assert table.sizes(["sex", "age", "town"]) == {"sex": 2, "age": ages, "town": 4}
    assert table.columns["sex"] == slice(0, 2)
    assert table.matrix.shape == (500, 2 + ages + 4 + 1)  # height has too many values: it stays a number
    assert (table.matrix[:, table.columns["town"]].sum(axis=1) == 1).all()
    np.testing.assert_array_equal(table.matrix[:, 1], small().group)


def test_only_the_sensitive_blocks_are_replaced():
    table = OneHotTable.of(small(), ("sex", "town"))
    before = table.matrix.copy()
    few = table.take(np.arange(10))
    few.replace({"town": np.ones((10, 4))})
    np.testing.assert_array_equal(table.matrix, before)  # rows taken are a table of their own
    town = few.columns["town"]
    assert (few.matrix[:, town] == 1).all()
    np.testing.assert_array_equal(np.delete(few.matrix, town, axis=1), np.delete(before[:10], town, axis=1))


def test_results_do_not_depend_on_companions():
    cells = [cell("oue", epsilon=e) for e in (0.5, 2.0, 8.0)]
    together = run(*cells)
    for one, many in zip((run(c)[0] for c in reversed(cells)), reversed(together)):
        assert one == many


def test_the_test_set_and_the_label_are_never_perturbed():
    """With no information left, a model without other features must do no better than a coin; labels stay."""
    data = small(4000)
    lonely = Dataset(
        "small", data.features[["town"]], data.group, data.group, data.sensitive, "sex", "0" * 64
    )  # the label is the protected attribute itself
    free, hidden = run(cell("nondp", "nondp", INF), cell("rappor", epsilon=0.01), data=lonely)
    assert free["acc"] == 1.0
    assert hidden["acc"] < 0.7
    assert hidden["epsilon_spent"] == pytest.approx(0.01)


def test_perturbation_is_the_same_for_every_learner():
    logistic = {"name": "logistic", "c": 1.0, "iterations": 200}
    one, two = cell(), cell(model=logistic)
    draw = [c.rng("collect", "dataset", "sensitive", "defense", "epsilon").integers(2**60) for c in (one, two)]
    assert draw[0] == draw[1]
    assert 0.5 < run(two)[0]["acc"] <= 1


def test_random_attributes_are_the_authors():
    """Drawn as their code does, with the global generator (numpy's legacy streams never change)."""
    data = small(name="lsac")
    columns = dict.fromkeys(("fam_inc", "gender", "fulltime", "lsat", "ugpa"), data.features["age"])
    data = Dataset("lsac", pd.DataFrame(columns), data.label, data.group, data.sensitive, "sex", "0" * 64)
    for seed in range(6):
        chosen = sensitive_attributes(data, "random", seed)
        np.random.seed(seed)  # noqa: NPY002
        number = np.random.randint(1, 6)  # noqa: NPY002
        theirs = np.random.choice(list(columns), size=number, replace=False)  # noqa: NPY002
        assert chosen == ("sex", *theirs)
        assert 2 <= len(chosen) <= 6


def test_attributes_of_an_unknown_dataset():
    assert sensitive_attributes(small(), "table2", 0) == ("sex", "town")
    chosen = sensitive_attributes(small(), "random", 0)
    assert chosen[0] == "sex"
    assert set(chosen[1:]) <= {"age", "town"}  # height is not discrete


def test_a_continuous_sensitive_attribute_is_refused():
    with pytest.raises(BadRequest, match="height has 500 values: make it discrete"):
        OneHotTable.of(small(), ("sex", "height"))
    with pytest.raises(BadRequest, match="weight is not a column"):
        OneHotTable.of(small(), ("sex", "weight"))


def test_bad_cells_are_refused_before_anything_runs():
    for bad, said in (
        (cell(epsilon=-1.0), "epsilon must be > 0"),
        (cell("nope"), "protocol must be one of"),
        (cell(split="nope"), "split must be one of"),
        (cell(sensitive="all"), "sensitive must be one of table2, random"),
        (cell(epsilon=INF), "epsilon must be inf for protocol nondp"),
    ):
        with pytest.raises(BadRequest, match=said):
            LdpFairness().validate(bad)


def _check_authors(name, seed):
    try:
        data = datasets.load(name, {})
    except DataUnavailable as error:
        pytest.skip(str(error))
    depth, trees, rate = FOUND[name]
    model = QUICK | {"max_depth": depth, "n_estimators": trees, "learning_rate": rate}
    found = run(cell("nondp", "nondp", INF, seed, dataset=name, model=model), data=data)[0]
    ours = [found[m] for m in ("acc", "f1", "balanced_accuracy", "recall", "di", "spd", "eod", "oad")]
    np.testing.assert_allclose(ours, AUTHORS[name, seed], atol=0.6e-5)


@pytest.mark.data
def test_nondp_is_the_authors_run_to_five_decimals():
    _check_authors("lsac", 0)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(("name", "seed"), AUTHORS)
def test_nondp_is_the_authors_run_to_five_decimals_everywhere(name, seed):
    _check_authors(name, seed)
