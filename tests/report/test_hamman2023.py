"""What is made of hamman2023's rows: forensics against simulation, thresholds of Theorem 2, claims and tables."""

import numpy as np
import pandas as pd
import pytest

from fairpriv.defenses.query.candidates import NAMES, candidate_scale
from fairpriv.registry import build
from fairpriv.report.hamman2023 import forensics, phase, tables
from fairpriv.report.hamman2023.claims import conceal_checks, judged, reveal_checks


@pytest.mark.parametrize(("defense", "law"), [("conceal", forensics.ALGORITHM_3), ("laplace", forensics.THEOREM_4)])
def test_the_mechanisms_as_printed_are_among_the_candidates(defense, law):
    scale = build("defenses", defense, {"epsilon": 10.0}).law("sp", 10, 90, 40).scale
    assert candidate_scale(law, 10, 90, 40, 10.0) == pytest.approx(scale, rel=1e-9)
    assert set(forensics.NAMED) <= set(NAMES)


@pytest.mark.parametrize("statistic", forensics.STATISTICS)
@pytest.mark.parametrize("law", ["cauchy-1-sqrt_m-local", "laplace-0.5-m-global"])
def test_values_drawn_from_a_law_are_placed_uniformly(law, statistic):
    """The place of a value in its own law is uniform: 300 of them, KS p above 1e-4 (one false alarm in 10,000)."""
    number = forensics.printed_numbers("sp_error")["table4 conceal"][0]  # m = 800, one run
    rng, found = np.random.default_rng(5), []
    family = forensics.FAMILIES[law.split("-")[0]]
    for _ in range(300):
        z = family(number.scale(law)).sample(number.m, rng)
        value = {
            "raw": np.abs(z).mean(),
            "clipped": np.minimum(np.abs(z), 1).mean(),
            "median": np.median(np.abs(z)),
            "signed": abs(z.mean()),
        }[statistic]
        printed = forensics.Printed("sp_error", float(value), 1.0, 12, None, "", number.printed.selectors)
        found.append(forensics.place(law, statistic, forensics.Number(number.table, printed))[1])
    assert forensics.uniform_p(np.array(found)) > 1e-4


def test_uniform_p_is_kolmogorov_and_smirnov_s():
    from scipy.stats import kstest

    u = np.random.default_rng(0).random(14) ** 1.5
    assert forensics.uniform_p(u) == pytest.approx(kstest(u, "uniform").pvalue)


def test_forensics_says_how_little_of_the_print_the_algorithm_gives():
    """Algorithm 3 gives 3 of the 52 printed errors within 20 %; no candidate gives more than half of them."""
    numbers = forensics.printed_numbers("sp_error")["tables 1 to 4 conceal"]
    assert len(numbers) == 52
    printed = [forensics.fit(forensics.ALGORITHM_3, s, numbers)["within_20_percent"] for s in forensics.STATISTICS]
    assert max(printed) == 3
    cauchy = [law for law in NAMES if law.startswith("cauchy")]
    best = max(forensics.fit(law, "clipped", numbers)["within_20_percent"] for law in cauchy)
    assert 15 <= best <= 26


def test_leakages_are_counted_where_cells_were_run():
    number = forensics.printed_numbers("leakage")["table4 conceal"][0]
    at = number.printed.selectors
    row = {"dataset": "german", "candidate": "cauchy-1-1-smooth", "defense": "none", "attack.decoder": "l1"}
    row |= {axis: float(at[axis]) for axis in ("n", "n0", "m", "epsilon")}
    for recovered, near in ((number.printed.ours + 49, 1), (number.printed.ours + 51, 0)):
        runs = forensics.by_setting(tables.with_axes(pd.DataFrame([row | {"recovered": recovered}])))
        found = forensics.leakages(runs, "cauchy-1-1-smooth", [number])
        assert found == {"leakages": 1, "leakages_within_tolerance": near}
        assert forensics.leakages(runs, "cauchy-1-sqrt_m-local", [number]) == {}


def test_the_threshold_of_a_known_curve_is_found():
    rng = np.random.default_rng(1)
    m = np.repeat(np.arange(10, 200, 10), 20)
    right = (rng.random(len(m)) < 1 / (1 + np.exp(-(m - 93) / 8))).astype(float)
    middle, error = phase.fitted(m, right)
    assert abs(middle - 93) < 4 * error < 20


def phase_cells(constant=1.6):
    rows = []
    for n in (100, 1000):
        for n0 in (5, 10, 20):
            needed = constant * n0 * np.log(n / n0)
            for m in np.linspace(0.3 * needed, 2 * needed, 12):
                for seed in range(4):
                    rows.append({"n": n, "n0": n0, "m": m, "seed": seed, "leakage": 100.0 if m > needed else 60.0})
    fixed = {"dataset": "synthetic", "attack": "reveal_compressed", "attack.queries": "binary", "attack.decoder": "l1"}
    return pd.DataFrame(rows).assign(**fixed)


def test_thresholds_of_theorem_2_s_order_have_exponent_one():
    found = phase.thresholds(tables.with_axes(phase_cells()))
    assert len(found) == 6
    assert found["ratio"].to_numpy() == pytest.approx(np.full(6, 1.6), rel=0.1)
    slope, half = phase.exponent(found)
    assert abs(slope - 1) < half + 0.03


def test_a_claim_needs_every_setting_and_is_broken_only_beyond_chance():
    sure, unsure = np.array([-1.0, -1.1, -0.9]), np.array([-3.0, 2.0, 0.5])
    good = np.array([1.0, 1.1, 0.9])
    assert judged("c", {}, "").holds is None
    assert (judged("c", {"a": good}, "").holds, judged("c", {"a": good}, "").sure) == (True, False)
    assert (judged("c", {"a": good, "b": unsure}, "").holds, judged("c", {"a": good, "b": unsure}, "").sure) == (
        False,
        False,
    )
    found = judged("c", {"a": good, "b": sure}, "")
    assert (found.holds, found.sure) == (False, True)
    assert "e.g. b" in found.detail
    assert judged("c", {"a": np.array([-1.0])}, "").sure is False  # of one seed nothing is sure


def conceal_cells():
    """Return a small grid of rows as cells.csv has them, with candidates, audits and an attacker that does not clip."""
    rng, rows = np.random.default_rng(0), []
    base = {"dataset": "adult_race", "n": 100, "n0": 10, "m": 40, "attack.queries": "perturbed", "noise_scale": 0.1}
    base |= {"attack.decoder": "l1", "attack.clip": True, "recovered": 80, "status": "done"}
    for epsilon in (5.0, 10.0, 100.0):
        for seed in range(4):
            for defense in ("conceal", "conceal_aware", "laplace"):
                for decoder in ("l1", "maximum_likelihood"):
                    error = {"conceal": 1.0, "conceal_aware": 0.01, "laplace": 2.0}[defense] / epsilon
                    error += 0.001 * rng.random()
                    leak = 50 + 10 * (decoder != "l1") + rng.random()
                    row = base | {"epsilon": epsilon, "seed": seed, "defense": defense, "attack.decoder": decoder}
                    rows.append(row | {"leakage": leak} | dict.fromkeys(tables.ERRORS, error))
            plain = base | {"epsilon": epsilon, "seed": seed, "leakage": 45.0} | dict.fromkeys(tables.ERRORS, 9.0)
            rows.append(plain | {"defense": "conceal", "attack.clip": False})
            rows.append(plain | {"defense": "none", "candidate": "cauchy-1-1-smooth"})
            spent = {"epsilon_accounted": 0.2 * epsilon, "epsilon_audited": 0.1 * epsilon} if seed == 0 else {}
            rows.append(plain | spent | {"defense": "conceal", "audit": True, "defense.bounding": "clip"})
    return pd.DataFrame(rows)


def test_candidates_audits_and_the_attacker_who_does_not_clip_stand_apart():
    rows = conceal_cells()
    assert len(tables.of_mechanisms(tables.with_axes(rows))) == 3 * 4 * 3 * 2
    assert conceal_checks(rows)["conceal_below_laplace"].holds
    found = tables.conceal_tables(rows)
    assert found["summary"]["sp_error"].max() < 1
    clipping = found["clipping"]
    assert (clipping["gain"] > 4).all()
    assert (found["bounding"]["epsilon_accounted"] == 0.2 * found["bounding"]["epsilon"]).all()
    assert "forensics" in found


def test_every_mechanism_has_its_strongest_attacker_and_its_promise_beside_its_error():
    found = tables.conceal_tables(conceal_cells())["mechanisms"]
    assert list(found["defense"][:3]) == ["conceal", "conceal_aware", "laplace"]
    assert set(found["strongest"]) == {"maximum_likelihood"}
    assert found.loc[found["defense"] == "conceal_aware", "protects"].unique() == [tables.SWAP]
    assert found.loc[found["defense"] == "conceal", "protects"].unique() == [tables.ONE_PERSON]


def test_other_thresholds_and_base_models_are_a_table_of_their_own():
    row = {"dataset": "adult_race", "n": 1000, "n0": 104, "m": 400, "attack": "reveal_compressed", "recovered": 1000}
    row |= {"attack.decoder": "l1", "attack.queries": "perturbed", "attack.group_sizes": "known", "queries": 400}
    row |= {"leakage_up_to_swap": 100.0, "base_accuracy": 83.0, "model_accuracy": 83.0, "model_accuracy_sd": 0.4}
    read = [{"leakage": 100.0}, {"leakage": 50.0, "attack.threshold": 0.3}, {"leakage": 60.0, "model": "mlp"}]
    rows = pd.DataFrame(
        [row | one | {"leakage": one["leakage"] - seed, "seed": seed} for one in read for seed in (0, 1)]
    )
    found = tables.reveal_tables(rows)["detection"]
    assert found["attack.threshold"].to_list() == [0.5, 0.3, 0.5]
    assert found["leakage"].to_list() == [99.5, 49.5, 59.5]
    assert "n = 1000, m = 400" in reveal_checks(rows)["reveal_adult"].detail
    assert "99.5 %" in reveal_checks(rows)["reveal_adult"].detail
    assert "detection" not in tables.reveal_tables(
        rows[rows["leakage"] > 90].drop(columns=["attack.threshold", "model"])
    )


def test_tables_of_own_data_have_no_n0():
    rows = [
        {"dataset": "csv", "n": 100, "n0": None, "m": 10, "attack.queries": "perturbed", "epsilon": 1.0}
        | {"defense": "conceal", "attack.decoder": "l1", "attack.clip": clip, "seed": seed, "sp_error": 0.1}
        | dict.fromkeys(("sp_error_median", "sp_error_raw", "sp_error_signed", "recovered", "noise_scale"), 0.5)
        | {"leakage": 60.0 + 5 * clip, "status": "done"}
        for clip in (True, False)
        for seed in (0, 1)
    ]
    made = tables.conceal_tables(pd.DataFrame(rows))
    assert list(made["clipping"]["gain"]) == [5.0]
    assert list(made["summary"]["leakage"]) == [65.0]
    without = tables.conceal_tables(pd.DataFrame(rows[:2]).drop(columns="attack.clip"))
    assert "clipping" not in without
