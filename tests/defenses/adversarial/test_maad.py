"""The plug-ins maad and dp_postprocess: what they refuse, what they account, what training does."""

import itertools
import math

import numpy as np
import pytest

from fairpriv import registry
from fairpriv.defenses.adversarial.dp_postprocess import mix
from fairpriv.defenses.adversarial.maad import Maad
from fairpriv.errors import BadRequest, DataUnavailable, FairprivError

SMALL = {"hidden": (16,), "batch": 20, "epochs": 8, "learning_rate": 0.01, "adversary_rate": 0.01}


def problem(n=800, seed=0):
    """A label that two features tell, one of them a proxy of the first attribute."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, (n, 2)).astype(np.float32)
    x = rng.normal(size=(n, 4)).astype(np.float32)
    x[:, 1] += 1.5 * s[:, 0]
    y = (x[:, 0] + x[:, 1] + 0.3 * rng.normal(size=n) > 0.75).astype(np.float32)
    return x, y, s


def build(**changes):
    return registry.build("defenses", "maad", SMALL | {"privacy": "none"} | changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"privacy": "joint", "sigma": 0}, "sigma must be > 0 with privacy=joint, got 0"),
        ({"privacy": "printed", "sigma": 0.0}, "sigma must be > 0 with privacy=printed"),
        ({"privacy": "joint", "epsilon": math.inf}, "epsilon must be finite"),
        ({"privacy": "secret"}, "privacy must be one of none, printed, joint"),
        ({"criterion": "parity"}, "criterion must be one of"),
        ({"gamma": -1}, "gamma must be >= 0"),
        ({"batch": 0}, "batch must be >= 1"),
        ({"delta": 1}, "delta must be < 1"),
        ({"clip": 0}, "clip must be > 0"),
        ({"width": 10, "heads": 4}, "width must be a multiple of heads"),
        ({"epochs": None, "sigma": 0}, "epochs must be given"),
        ({"hidden": [0]}, "hidden must be >= 1"),
    ],
)
def test_bad_parameters_are_refused_in_one_line(changes, said):
    with pytest.raises(BadRequest, match=said):
        build(**changes)


def test_bad_data_is_refused():
    x, y, s = problem(60)
    rng = np.random.default_rng(0)
    with pytest.raises(BadRequest, match="attribute 1 must be binary, got 3 values"):
        build().fit(x, y, np.column_stack([s[:, 0], np.arange(60) % 3]), rng)
    with pytest.raises(BadRequest, match="attribute 0 has one group only"):
        build().fit(x, y, 0 * s, rng)
    with pytest.raises(BadRequest, match="label has one group only"):
        build().fit(x, 0 * y, s, rng)
    with pytest.raises(BadRequest, match="batch must be <= 60"):
        build(batch=61).fit(x, y, s, rng)
    with pytest.raises(BadRequest, match="single step spends"):
        build(privacy="joint", epsilon=0.01, batch=30).fit(x, y, s, rng)
    with pytest.raises(BadRequest, match="no batch has both groups of attribute 0: raise batch=1"):
        build(batch=1).fit(x, y, s, rng)
    assert build(batch=1, debias=False, epochs=1).fit(x, y, s, rng).one_sided == 1.0  # no adversary to blind


def test_training_may_stop_within_a_chunk():
    x, y, s = problem(1600)  # 80 steps an epoch, chunks of 100
    longer, shorter = (build(epochs=e).fit(x, y, s, np.random.default_rng(3)).losses for e in (2.9, 2.3))
    assert (len(longer), len(shorter)) == (232, 184)
    np.testing.assert_array_equal(longer[:184], shorter)


def test_rules_that_differ_in_numbers_share_one_compiled_epoch():
    from fairpriv.defenses.adversarial import networks
    from fairpriv.defenses.adversarial.maad_step import make_epoch

    x, y, s = problem(64)
    epoch = make_epoch(networks.mlp(x.shape[1], build().hidden), "adam")
    compiled = []
    for changes in ({}, {"gamma": 1.0, "sigma": 2.0, "clip": 0.1}, {"privacy": "printed"}):
        build(**({"privacy": "joint", "epsilon": 1000.0} | changes)).fit(x, y, s, np.random.default_rng(0))
        compiled.append(epoch._cache_size())
    assert compiled[0] == compiled[1] < compiled[2]


def test_a_loss_that_is_no_number_stops_the_cell_and_says_when():
    x, y, s = problem(100)
    x[3, 0] = np.inf
    with pytest.raises(FairprivError, match=r"the loss is not finite at step \d+"):
        build(debias=False).fit(x, y, s, np.random.default_rng(0))


def test_training_learns_and_the_adversary_takes_the_proxy_away():
    x, y, s = problem(2000)
    test = problem(2000, seed=1)
    gaps = {}
    for debias in (False, True):
        fitted = build(debias=debias, gamma=2.0, epochs=15).fit(x, y, s, np.random.default_rng(0))
        guess = fitted.decide(test[0], test[2], np.random.default_rng(0))
        rates = [guess[(test[2][:, 0] == g) & (test[1] == 0)].mean() for g in (0, 1)]
        gaps[debias] = abs(rates[1] - rates[0])
        accuracy = (guess == test[1]).mean()
        assert accuracy > (0.9 if not debias else 0.6)
        assert fitted.losses.shape == (fitted.steps, 2)
        assert fitted.spent.spent == math.inf
    assert gaps[True] < gaps[False]


@pytest.mark.parametrize("privacy", ["none", "printed", "joint"])
def test_same_seed_same_weights(privacy):
    x, y, s = problem(200)
    runs = [build(privacy=privacy, epsilon=1000).fit(x, y, s, np.random.default_rng(5)) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].losses, runs[1].losses)
    other = build(privacy=privacy, epsilon=1000).fit(x, y, s, np.random.default_rng(6))
    assert not np.array_equal(runs[0].losses, other.losses)


def test_what_is_spent_and_on_what():
    n = 39_074
    joint, printed = (Maad(privacy=p) for p in ("joint", "printed"))
    steps = joint.steps(n)
    assert steps == printed.steps(n) == Maad(privacy="none").steps(n)  # all conditions train alike
    assert 3.9 < joint.account(n, steps).spent <= 4.0
    assert joint.account(n, steps).on == "x, y, s"
    real = printed.account(n, steps)
    assert real.claimed == joint.account(n, steps).spent
    assert real.spent > 10 * real.claimed  # sensitivity 2C
    assert real.sensitive == math.inf  # the adversary's updates have no noise
    assert real.proven > 1000
    plain = Maad(privacy="printed", debias=False).account(n, steps)
    assert plain.proven == plain.spent == real.spent
    assert plain.sensitive is None


def test_training_never_exceeds_the_budget():
    few = Maad(privacy="joint", epochs=1000)
    assert few.steps(39_074) == Maad(privacy="joint").steps(39_074)
    assert Maad(privacy="joint", epochs=1).steps(39_074) == round(39_074 / 16)


def test_mixture_against_brute_force():
    rng = np.random.default_rng(0)
    counts = rng.integers(5, 60, (2, 2, 2)).astype(float)
    found = mix(counts, 0.02)
    share = counts / counts.sum(axis=2, keepdims=True)

    def errors(p):
        return (counts[:, 0] * p).sum() + (counts[:, 1] * (1 - p)).sum()

    def gap(p):
        rates = np.einsum("ayh,ah->ay", share, p)
        return np.abs(rates[0] - rates[1]).max()

    assert gap(found) <= 0.02 + 1e-9
    best = min(
        errors(p)
        for p in (np.array(v).reshape(2, 2) for v in itertools.product(np.linspace(0, 1, 26), repeat=4))
        if gap(p) <= 0.02
    )
    assert errors(found) <= best + 1e-9


def test_postprocessing_spends_its_budget_and_equalises():
    x, y, s = problem(2000)
    params = {"epsilon": 50, "batch": 20, "epochs": 3, "sigma": 0.5, "share": 0.2, "learning_rate": 0.01}
    defense = registry.build("defenses", "dp_postprocess", params)
    fitted = defense.fit(x, y, s, np.random.default_rng(0))
    assert fitted.spent.spent <= 50
    assert fitted.spent.spent > 10  # the counts alone
    test = problem(4000, seed=1)
    guess = fitted.decide(test[0], test[2], np.random.default_rng(0))
    rates = [guess[(test[2][:, 0] == g) & (test[1] == 1)].mean() for g in (0, 1)]
    assert abs(rates[0] - rates[1]) < 0.1
    with pytest.raises(BadRequest, match="share must be < 1"):
        registry.build("defenses", "dp_postprocess", {"share": 1})


def test_fairlearns_adversary_is_refused_without_torch(monkeypatch):
    import importlib.util

    defense = registry.build("defenses", "fairlearn_adversarial", {"epochs": 1})
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None)
    with pytest.raises(DataUnavailable, match="needs torch"):
        defense.available()
    with pytest.raises(BadRequest, match="criterion must be one of equality_of_odds, demographic_parity"):
        registry.build("defenses", "fairlearn_adversarial", {"criterion": "equality_of_opportunity"})
    with pytest.raises(BadRequest, match="alpha must be >= 0"):
        registry.build("defenses", "fairlearn_adversarial", {"alpha": -1})


def test_fairlearns_adversary_trains_on_two_attributes():
    pytest.importorskip("torch")
    x, y, s = problem(400)
    params = {"epochs": 4, "batch": 20, "hidden": (16,), "learning_rate": 0.01}
    defense = registry.build("defenses", "fairlearn_adversarial", params)
    runs = [defense.fit(x, y, s, np.random.default_rng(0)) for _ in range(2)]
    guesses = [fitted.decide(x, s, np.random.default_rng(0)) for fitted in runs]
    np.testing.assert_array_equal(*guesses)  # same seed, same answer
    assert (guesses[0] == y).mean() > 0.8
    assert runs[0].steps == 80
    assert runs[0].spent.spent == math.inf


def test_a_budget_that_would_last_for_ever_is_not_searched_to_its_end():
    assert Maad(privacy="joint", sigma=2.0, epochs=1).steps(39_074) == round(39_074 / 16)
