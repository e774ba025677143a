"""The game of hamman2023 as the two experiments play it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairpriv import config, datasets
from fairpriv.errors import BadRequest
from fairpriv.protocols.bias_queries import make_test_set, play
from fairpriv.registry import build
from fairpriv.runner.work import load


@pytest.fixture(scope="module", autouse=True)
def conf():
    config.start()


def cells(*overrides, experiment="attribute_conceal"):
    pinned = ["dataset=synthetic", "profile=smoke", *overrides]
    return list(config.plan([f"experiment={experiment}", *pinned]).cells)


def test_exact_answers_have_no_error_and_enough_queries_reveal_everyone():
    some = cells("epsilon=inf", "m=60")
    for cell, result in zip(some, play(some, load)):
        assert result.metrics["sp_error_raw"] == 0
        assert result.metrics["leakage"] == 100, cell.axes


def test_noise_is_the_paper_s_median():
    """Median |error| of the printed mechanism is its scale 6ΔS/ε, 0.2664 at n = 100, N0 = 10, m = 40, ε = 100."""
    some = cells("epsilon=100", "defense=conceal", "attack.decoder=l1", "seeds=60")
    metrics = pd.DataFrame([r.metrics for r in play(some, load)])
    assert metrics["noise_scale"].unique() == pytest.approx([0.26639], abs=1e-4)
    # 2400 Cauchy draws: the median of |Z| has standard error π/2/√2400 = 0.032 of the scale; 5 of them
    assert metrics["sp_error_median"].mean() == pytest.approx(0.2664, rel=0.2)


def test_a_cell_s_result_does_not_depend_on_its_companions():
    some = cells("seeds=1", "m=[20,40]")
    together = play(some, load)
    for i in (0, len(some) // 2, len(some) - 1):
        alone = play([some[i]], load)[0]
        assert alone.metrics == together[i].metrics
        for name, array in alone.arrays.items():
            np.testing.assert_array_equal(array, together[i].arrays[name])


def test_test_set_has_n0_as_asked_and_the_model_never_sees_it():
    (cell, *_) = cells("attack.queries=perturbed", "n=200", "n0=30")
    test = make_test_set(cell, load)
    assert (test.group == 0).sum() == 30
    assert len(test.group) == 200
    data = load(cell)
    assert data.protected not in data.features
    assert (test.base > 0).all()
    assert (test.base < 1).all()


def test_whole_dataset_is_predicted_by_models_that_did_not_see_the_row():
    (cell, *_) = cells(
        "attack.queries=perturbed", "n=null", "n0=null", "dataset.n=300", "dataset.n0=100", "dataset.signal=0"
    )
    test = make_test_set(cell, load)
    assert len(test.group) == 300
    # labels are independent of the features: out-of-fold accuracy is a coin's (5 standard errors), in-sample is above
    assert abs(((test.base > 0.5) == test.label).mean() - 0.5) < 5 * 0.5 / np.sqrt(300)


def test_equal_opportunity_recovers_only_people_with_y_1():
    some = cells(
        "attack=reveal_compressed",
        "attack.metric=eo",
        "attack.group_sizes=estimated",
        "m=90",
        experiment="attribute_reveal",
    )
    (result,) = play(some[:1], load)
    test = make_test_set(some[0], load)
    assert result.metrics["leakage"] == 100
    assert result.metrics["recovered"] == (test.label == 1).sum()


@pytest.mark.parametrize("attack", ["reveal_single", "reveal_double", "reveal_linear", "reveal_partition"])
def test_every_attack_reveals_everyone_on_exact_answers(attack):
    some = cells(f"attack={attack}", experiment="attribute_reveal")
    assert {r.metrics["leakage"] for r in play(some, load)} == {100.0}


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("epsilon=0", "epsilon must be > 0"),
        ("epsilon=-3", "epsilon must be > 0"),
        ("epsilon=nan", "epsilon must be a number"),
        ("m=0", "m must be >= 1"),
        ("attack.decoder=l2", "decoder must be one of"),
    ],
)
def test_parameters_out_of_range_are_refused_before_anything_runs(override, says):
    protocol = build("protocols", "attribute_conceal")
    (cell, *_) = cells(override)
    with pytest.raises(BadRequest, match=says):
        protocol.validate(cell)


def test_more_queries_than_people_are_refused():
    some = cells("m=101", "epsilon=inf", "seeds=1", "defense=conceal", "attack.decoder=l1")
    with pytest.raises(BadRequest, match=r"m must be in 1\.\.100"):
        play(some, load)


def test_datasets_are_read_once():
    (cell, *_) = cells()
    assert load(cell) is load(cell)
    assert datasets._loaded.cache_info().hits


def test_a_candidate_law_stands_in_for_the_defense():
    """Algorithm 3 by its name among the candidates is Algorithm 3."""
    point = ["epsilon=100", "m=40", "attack.decoder=l1", "attack.queries=binary", "seeds=40"]
    plain = [r.metrics for r in play(cells("defense=conceal", *point), load)]
    some = [replace(c, axes={**c.axes, "candidate": "cauchy-6-m-smooth"}) for c in cells("defense=none", *point)]
    named = [r.metrics for r in play(some, load)]
    assert named[0]["noise_scale"] == pytest.approx(plain[0]["noise_scale"], rel=1e-9)
    assert named[0]["sp_error"] != plain[0]["sp_error"]  # a stream of its own
    median = [np.median([row["sp_error_median"] for row in rows]) for rows in (plain, named)]
    assert median[0] == pytest.approx(median[1], rel=0.25)
    wrong = replace(some[0], axes={**some[0].axes, "candidate": "cauchy-7-m-smooth"})
    with pytest.raises(BadRequest, match="candidate must be one of"):
        build("protocols", "attribute_conceal").validate(wrong)


def test_an_audited_cell_says_what_its_defense_spends():
    (cell, *_) = cells("defense=laplace", "epsilon=10", "m=4", "n=30", "n0=5", "attack.decoder=l1", "seeds=1")
    (plain,) = play([cell], load)
    (audited,) = play([replace(cell, axes={**cell.axes, "audit": True})], load)
    assert "epsilon_accounted" not in plain.metrics
    assert audited.metrics["epsilon_accounted"] == pytest.approx(10, rel=1e-6)
    assert 0 <= audited.metrics["epsilon_audited"] <= 10
    assert audited.metrics["sp_error"] == plain.metrics["sp_error"]
