"""experiment=epsilon_audit: honest claims are recorded, a broken one fails its cell, a paper's is a finding."""

import pandas as pd
import pytest

from fairpriv import config
from fairpriv.audits.families import auditor
from fairpriv.defenses.query.laplace import LaplaceDefense
from fairpriv.protocols.epsilon_audit import ClaimBroken
from fairpriv.registry import build, find, names
from fairpriv.report.epsilon_audit.tables import tables


def cell(*words):
    config.start()
    (only,) = config.plan(["experiment=epsilon_audit", "profile=smoke", *words]).cells
    return only


def audited(*words):
    return build("protocols", "epsilon_audit").run([cell(*words)], None)[0].metrics


def test_every_mechanism_that_claims_an_epsilon_is_in_the_grid():
    config.start()
    products = config.grids_of("epsilon_audit")[1]["quick"]
    used = {d for axes, _ in products for d in axes["defense"]}
    own = {n for n in names("defenses")[0] if find("defenses", n).__module__.startswith("fairpriv.")}
    own -= {"ldp_independent_hashing"}  # ldp_hashing's; audited in tests/mechanisms/test_independent_hashing.py
    assert {n for n in own if auditor(find("defenses", n)) and n != "none"} <= used


def test_a_claim_that_holds_is_recorded():
    found = audited("defense=laplace")
    assert found["verdict"] == "holds"
    assert found["audited"] <= found["claimed"] == pytest.approx(found["accounted"])


def test_a_claim_that_is_broken_fails_its_cell_and_says_by_how_much(monkeypatch):
    honest = LaplaceDefense.noise_scale
    monkeypatch.setattr(LaplaceDefense, "noise_scale", lambda self, *sizes: honest(self, *sizes) / 2)
    with pytest.raises(ClaimBroken, match=r"laplace claims epsilon = 0\.9; its law costs 1\.8"):
        audited("defense=laplace")


def test_findings_are_said_in_words():
    base = {"claimed_delta": 0.0, "delta_needed": 0.0, "as_declared": 1, "worst": "w", "seed": 0, "coin": None}
    rows = pd.DataFrame(
        [
            base | {"defense": "a", "claimed": 1.0, "accounted": 0.2, "audited": 0.1, "verdict": "holds"},
            base | {"defense": "b", "claimed": 1.0, "accounted": 1.0, "audited": 0.9, "verdict": "holds"},
            base | {"defense": "c", "claimed": 1.0, "accounted": 1.0, "audited": 3.0, "verdict": "VIOLATED"},
        ]
    )
    found = tables(rows)["findings"].set_index("mechanism")["finding"]
    assert found["a"].startswith("noise to spare: the worst case spends 0.2 of 1")
    assert found["c"].startswith("broken: outputs prove ε >= 3")
    assert list(found.index) == ["a", "c"]
