"""What the numbers of an assessment mean, held against slow or obvious ways to get them."""

import numpy as np
import pandas as pd
import pytest

from fairpriv.assessment import budgets, fairness, questions, small, summaries
from fairpriv.assessment.groups import Comparison
from fairpriv.assessment.questions import Attacked
from fairpriv.attacks.correction.base import ReconstructionView
from fairpriv.defenses.query.none import NoDefense


@pytest.fixture
def who():
    rng = np.random.default_rng(1)
    group = (rng.random(80) > 0.3).astype(np.int8)
    return Attacked(group, rng.integers(0, 2, 80).astype(np.int8), rng.random(80))


def test_exact_answers_tell_everything_with_half_as_many_questions_as_people(who):
    half, whole = (questions.asked(who, m, NoDefense(), 0) for m in (40, 80))
    assert half["leakage"] == whole["leakage"] == 100
    assert (half["attack"], whole["attack"]) == ("reveal_compressed", "reveal_linear")
    few = questions.asked(who, 2, NoDefense(), 0)
    assert few["leakage"] < 80
    assert questions.fewest([few, half, whole])["questions"] == 40


def test_absolute_gaps_split_everybody(who):
    assert questions.absolute_gaps(who, 0)["leakage_up_to_names"] == 100


@pytest.mark.parametrize("name", ["conceal_exact", "conceal_aware"])
def test_one_victim_by_the_law_of_the_noise_is_what_the_attack_gets(who, name):
    defense = budgets.query_defenses(1.0)[0][name]
    assert budgets.single_law(defense, who) is not None
    by_law = budgets.one_victim(defense, who, np.random.default_rng(0), 0)
    tried = [budgets._hits(defense, who, value, np.random.default_rng(value), 300) for value in (0, 1)]
    assert by_law == pytest.approx(50 * sum(tried), abs=8.5)  # 4 standard deviations of 2 x 300 guesses: 8.2 at most


def test_no_attack_exceeds_what_epsilon_allows(who):
    for epsilon in (0.1, 1.0, 3.0):
        for name in ("conceal", "conceal_aware", "conceal_exact", "conceal_tight", "laplace"):
            got = budgets.one_victim(budgets.query_defenses(epsilon)[0][name], who, np.random.default_rng(0), 0)
            assert got <= budgets.ceiling(epsilon)


def test_every_query_defense_is_tried_and_refusals_are_told():
    found, refused = budgets.query_defenses(2.0)
    assert {"conceal", "conceal_aware", "conceal_exact", "conceal_tight", "laplace", "gaussian"} <= set(found)
    assert "none" not in found
    assert "epsilon must be < 1" in refused["conceal_laplace"]


@pytest.mark.parametrize(
    ("values", "rising", "found"),
    [
        ([50, 52, 60], True, 10 ** (3 / 8)),
        ([60, 70, 80], True, None),
        ([50, 51, 52], True, 10),
        ([90, 60, 50], False, 10**0.5),
        ([54, 53, 52], False, 0.1),
        ([90, 80, 70], False, None),
    ],
)
def test_where_a_curve_crosses(values, rising, found):
    assert budgets.crossing_point([0.1, 1, 10], values, 55, rising) == (found and pytest.approx(found))


def test_sampling_intervals_cover_as_often_as_they_say(monkeypatch):
    monkeypatch.setattr(fairness, "DRAWS", 1000)
    rng, covered = np.random.default_rng(0), 0
    group = np.repeat([0, 1], 60)
    for _ in range(200):
        decision = (rng.random(120) < np.where(group == 1, 0.6, 0.4)).astype(int)
        draws = fairness.posterior(decision, decision, group, rng)["spd"]
        span = fairness._interval(draws)
        covered += span.low <= 0.2 <= span.high
    assert 180 <= covered <= 199  # of 200 at 95 %: outside with probability below 1e-3


def test_noise_widens_what_a_desk_answers_and_nothing_else(who):
    comparison = Comparison("sex", "main", "f", "m", who.group)
    decision = (who.base >= 0.5).astype(np.int8)
    models = budgets.variants(who.base, 3, np.random.default_rng(0))
    defense = budgets.query_defenses(20.0)[0]["conceal_exact"]
    rows = fairness.measures(comparison, who.label, decision, np.random.default_rng(0), defense, models)
    by_name = {row["metric"]: row for row in rows}
    gap = by_name["selection_rate_gap"]
    assert gap["value"] == pytest.approx(decision[who.group == 1].mean() - decision[who.group == 0].mean())
    assert gap["sampling_and_noise"]["low"] < gap["sampling"]["low"]
    assert by_name["impact_ratio"]["sampling_and_noise"] is None


def test_a_class_without_one_of_the_groups_has_no_noise_interval(who):
    label = np.where(who.group == 0, 0, who.label)  # nobody of group 0 has the favourable outcome
    comparison, decision = Comparison("sex", "value", "f", "m", who.group), (who.base >= 0.5).astype(np.int8)
    models = budgets.variants(who.base, 3, np.random.default_rng(0))
    for name in ("conceal_aware", "conceal_exact"):
        defense = budgets.query_defenses(1.0)[0][name]
        rows = fairness.measures(comparison, label, decision, np.random.default_rng(0), defense, models)
        by_name = {row["metric"]: row for row in rows}
        assert by_name["true_positive_gap"]["value"] is None
        assert by_name["false_positive_gap"]["sampling"] is not None
        assert by_name["false_positive_gap"]["sampling_and_noise"] is None


def test_the_tolerance_moves_the_recommendation(who):
    rows, _ = budgets.by_epsilon(who, who, 2, (0.1, 1.0, 10.0), 0)
    least, strict, usual, loose = (
        budgets.advise(rows, who, 0.05, None, 0, points) for points in (1e-9, 1.0, 5.0, 30.0)
    )
    assert least.high is None  # nothing that was tried is so strict: the least is taken
    assert least.epsilon == 0.1 < usual.epsilon < loose.epsilon
    for told in (strict, usual, loose):  # a defense that keeps to it goes before one of less noise that does not
        assert told.high is not None
        below = [r["leakage"] for r in rows if r["defense"] == told.defense and r["epsilon"] <= told.epsilon]
        assert max(below) <= 50 + told.tolerance


def test_of_useless_answers_the_least_noise_is_chosen(who):
    rows, _ = budgets.by_epsilon(who, who, 60, (0.1, 1.0), 0)
    few = Attacked(np.array([0] * 5 + [1] * 75, np.int8), who.label, who.base)
    models = budgets.variants(few.base, 60, np.random.default_rng(0))
    chosen = budgets.advise(rows, few, 0.05, 0.1, 0).defense
    errors = {
        name: budgets.error_of(budgets.query_defenses(0.1)[0][name], few.group, few.label, models)
        for name in {row["defense"] for row in rows if row["delta"] == 0}
    }
    assert errors[chosen] <= 1.1 * min(errors.values())
    assert min(errors.values()) > 1  # so that a bound at 1 would have hidden who is best


def test_what_is_left_out_does_not_follow_by_subtraction():
    rng = np.random.default_rng(4)
    sex, race = rng.choice(["f", "m"], 300), rng.choice(["a", "b", "c", "d"], 300, p=[0.6, 0.3, 0.09, 0.01])
    attributes = pd.DataFrame({"sex": pd.Categorical(sex), "race": pd.Categorical(race)})
    may = small.told(attributes)
    assert may.subtracted > 0
    cells = sorted(set(zip(sex, race)))
    known, hidden = [np.ones(len(cells))], []
    for names in (("sex",), ("race",), ("sex", "race")):
        for value, mask in small.crossing(attributes, names).groupby(small.crossing(attributes, names), observed=True):
            inside = [bool(((sex == s) & (race == r) & attributes.index.isin(mask.index)).any()) for s, r in cells]
            if may.tells(names, value):
                assert len(mask) >= small.SMALL
                known.append(np.array(inside, float))
            elif len(mask) < small.SMALL:
                hidden.append(np.array(inside, float))
    rank = np.linalg.matrix_rank(np.array(known))
    assert len(hidden) >= 2
    assert all(np.linalg.matrix_rank(np.array([*known, one])) == rank + 1 for one in hidden)


def test_a_union_that_is_told_counts_as_known():
    race = pd.DataFrame({"race": pd.Categorical(["w"] * 50 + ["b"] * 3 + ["c"] * 20 + ["d"] * 30)})
    assert small.told(race).tells(("race",), "w")
    union = np.array([1] * 53 + [0] * 50)  # w or b: with w, it would tell of b
    assert not small.told(race, [union]).tells(("race",), "w")


def test_a_published_table_hides_small_categories_and_tells_of_certain_people():
    attributes = pd.DataFrame({"sex": pd.Categorical(["f"] * 3 + ["m"] * 17 + ["x"] * 6)})
    decision = np.array([0] * 3 + [1] * 10 + [0] * 13)
    few, large, other = summaries.rates(decision, attributes, small.told(attributes))
    assert few == {
        "table": "sex", "category": "f", "people": None, "selection_rate": None, "impact_ratio": None, "left_out": True
    }  # fmt: skip
    assert large["impact_ratio"] == 1
    assert other["left_out"]  # or the total would tell of the three
    attributes, decision = attributes[:20], decision[:20]
    group = (attributes["sex"] == "m").to_numpy().astype(int)
    told = summaries.given_away(decision, group)
    assert told["certain"] == 10  # all who were selected are men
    assert told["leakage"] == pytest.approx(50 + 50 * 10 / 17)
    assert summaries.differencing(decision, group)["leakage"] == 100


def test_an_attacker_who_knows_the_table_respects_it():
    from fairpriv.assessment.predictions import _table_known
    from fairpriv.attacks.correction.adversary_xy import AdversaryXY

    truth, h = np.array([0, 0, 0, 1, 1, 1, 1, 1]), np.array([1, 0, 0, 1, 1, 1, 0, 0])
    view = ReconstructionView(pd.DataFrame(index=range(8)), h, h, None, None)
    attack = _table_known(AdversaryXY(), view, truth)
    found = attack._correct(np.ones(8, int), np.arange(8.0) + 1, h, h, "SP", 1, 2)
    assert found.status == "optimal"
    assert (found.group == 0).sum() == 3
    assert h[found.group == 0].sum() == 1
