"""Audits of DP training: the parts of a step, canaries in one run, and steps that are not what is accounted."""

import dataclasses

import numpy as np
import pytest

from fairpriv.audits import training
from fairpriv.defenses.adversarial import maad_step, sampling
from fairpriv.errors import BadRequest
from fairpriv.registry import build

STEPS = {"privacy": "joint", "sigma": 0.8, "batch": 100, "epsilon": 50.0, "epochs": 1, "delta": 1e-8}


def made(**changes):
    return build("defenses", "maad", STEPS | {"debias": False} | changes)


def audit(defense, seed=0, **more):
    return training.audit(defense, **({"count": 400, "steps": 8} | more), rng=np.random.default_rng(seed))


def test_honest_training_holds():
    found = audit(made())
    assert found.verdict == "holds"
    assert found.sampled_lower <= found.claimed


def test_the_combined_step_is_as_declared():
    defense = made(privacy="combined", debias=True, gamma=3.0, adversary_part=5.0)
    assert training.noise_seen(defense, 1e-4) == 1.0
    assert 0.9 < training.reach_seen(defense) <= 1 + 1e-4  # the bound holds, and is not idle


def test_what_claims_nothing_is_not_audited():
    with pytest.raises(BadRequest, match="without noise there is no claim"):
        audit(made(privacy="none"))
    with pytest.raises(BadRequest, match="algorithm must be printed"):
        audit(made(privacy="printed", algorithm="public"))


@pytest.mark.slow
def test_honest_training_holds_again_and_for_the_attribute():
    assert all(audit(made(), seed).verdict == "holds" for seed in range(1, 6))
    assert audit(made(debias=True, criterion="demographic_parity", gamma=5.0), coin="s").verdict == "holds"


def test_canaries_are_heard():
    """With next to no noise in one run, hundreds of coins are read off the weights."""
    found = audit(made(sigma=0.2))
    assert found.sampled_lower > 1.5


def test_noise_halved_in_the_step(monkeypatch):
    real = maad_step.noised
    monkeypatch.setattr(maad_step, "noised", lambda tree, deviation, reel: real(tree, deviation / 2, reel))
    assert training.noise_seen(made(), 1e-4) == pytest.approx(0.5, rel=0.1)
    assert audit(made()).verdict == "VIOLATED"


def test_clipping_forgotten(monkeypatch):
    real = maad_step.weighed

    def loose(rule, *rest):
        return real(dataclasses.replace(rule, clip=1e9), *rest)

    monkeypatch.setattr(maad_step, "weighed", loose)
    assert training.reach_seen(made()) > 10
    assert audit(made()).verdict == "VIOLATED"


def test_clipping_after_noise(monkeypatch):
    """Sums are noised as they are, and what comes out is clipped: the noise no longer covers an example."""
    real = maad_step.weighed
    monkeypatch.setattr(
        maad_step, "weighed", lambda rule, *rest: real(dataclasses.replace(rule, privacy="printed"), *rest)
    )
    assert audit(made()).verdict == "VIOLATED"


@pytest.mark.parametrize("broken", ["shuffled", "too often", "together"])
def test_a_sample_that_is_not_poisson(monkeypatch, broken):
    real = sampling.poisson

    def together(n, batch, steps, rng):  # the first half of the rows enters all at once
        rows, on = real(n, batch, steps, rng)
        both = rng.random(steps) < batch / n
        width = n
        out = np.zeros((steps, width), np.int32), np.zeros((steps, width), np.float32)
        for t in range(steps):
            late = rows[t][(on[t] > 0) & (rows[t] >= n // 2)]
            members = np.concatenate([np.arange(n // 2), late]) if both[t] else late
            out[0][t, : len(members)], out[1][t, : len(members)] = members, 1
        return sampling.Batches(*out)

    fakes = {
        "shuffled": sampling.shuffled,
        "too often": lambda n, batch, steps, rng: real(n, int(1.3 * batch), steps, rng),
        "together": together,
    }
    monkeypatch.setattr(sampling, "poisson", fakes[broken])
    assert not training.sampled_by_coins(200, 40, np.random.default_rng(0), 1e-4)


def test_poisson_sampling_passes_again_and_again():
    # error 0.01 each, 60 times: more than 6 alarms come less than once in 1e4 seeds
    rng = np.random.default_rng(0)
    alarms = [not training.sampled_by_coins(100, 20, rng, 0.01, steps=500) for _ in range(60)]
    assert sum(alarms) <= 6


def test_the_printed_rule_reaches_too_far():
    """Algorithm 1 clips the batch as a whole: turned around by one example it moves by up to 2C, the noise is σC."""
    assert training.reach_seen(made(privacy="printed", batch=1)) > 1.3
    assert audit(made(privacy="printed")).verdict == "VIOLATED"


def test_bounds_of_one_run_hold():
    """Randomized response at ε = 1: at error 0.05 the bound exceeds 1 in at most 5 % of runs (80 of 1000: 1e-4)."""
    rng = np.random.default_rng(0)
    p = np.exp(1) / (1 + np.exp(1))
    right = rng.binomial(200, p, 1000)
    bounds = {k: training.one_run_bound(k, 200, 200, 0.0, 0.05) for k in set(right.tolist())}
    assert sum(bounds[k] > 1 for k in right.tolist()) <= 80
    assert 0.6 < bounds[int(np.median(right))] < 1
    assert training.one_run_bound(150, 200, 1000, 1e-3, 0.05) <= training.one_run_bound(150, 200, 1000, 0.0, 0.05)
    assert training.one_run_bound(100, 200, 200, 0.0, 0.05) == 0.0


def test_no_claim_no_audit():
    with pytest.raises(BadRequest, match="no claim"):
        audit(build("defenses", "maad", {"privacy": "none"}))
    with pytest.raises(BadRequest, match="not protected at all"):
        audit(made(privacy="printed", debias=True), coin="s")
