"""Answers of the desk are those of the defenses; intervals hold and tell nothing that was not declared."""

import numpy as np
import pytest

from fairpriv.defenses.query.base import Question
from fairpriv.desk import query, state
from fairpriv.desk.drawing import Drawer
from fairpriv.errors import BadRequest

N = 40
RNG = np.random.default_rng(3)
LABEL = (np.arange(N) % 2).astype(np.int8)
GROUP = (RNG.random(N) < 0.6).astype(np.int8)


def declare(sizes: str = "secret", delta: float = 1e-6, share: float = 0.1) -> state.Declaration:
    metrics = ("sp", "abs_sp", "eo", "abs_eo", "eodds", "abs_eodds")
    public = state.public_sizes(LABEL, GROUP) if sizes == "public" else None
    return state.Declaration(N, 20, "y", "a", ("1",), metrics, 10.0, delta, sizes, share, public)


def ask(declared: state.Declaration, metric: str, defense: str, h: np.ndarray, epsilon: float = 1.0) -> query.Query:
    body = {"metric": metric, "defense": defense, "epsilon": epsilon, "predictions": h.tolist()}
    return query.read(body, declared, 1000)


@pytest.mark.parametrize("metric", ["sp", "abs_eo", "eodds"])
@pytest.mark.parametrize(("defense", "sizes"), [(d, s) for s, names in query.PRIVATE.items() for d in names])
def test_draws_are_those_of_the_defense(metric, defense, sizes):
    declared = declare(sizes)
    asked = ask(declared, metric, defense, RNG.random((3, N)))
    answers, widths, grid = Drawer(declared, LABEL, GROUP).draw(asked, np.random.default_rng(1))
    theirs = asked.defense.respond(Question(asked.h, metric, GROUP, LABEL), np.random.default_rng(1))
    assert answers.shape == widths.shape == theirs.shape
    assert np.abs(answers - theirs).max() <= (np.max(grid) if defense == "conceal_aware" else 0)
    assert (answers / grid == np.round(answers / grid)).all()


@pytest.mark.parametrize("metric", ["sp", "abs_sp", "eodds"])
@pytest.mark.parametrize(("defense", "sizes"), [(d, s) for s, names in query.PRIVATE.items() for d in names])
def test_intervals_hold(metric, defense, sizes):
    """At 95 %, of 400 models: fewer than 92 % by chance once in 10^3 at most, as errors may be shared."""
    declared = declare(sizes)
    drawer, rng = Drawer(declared, LABEL, GROUP), np.random.default_rng(2)
    inside = []
    for i in range(200):
        asked = ask(declared, metric, defense, np.random.default_rng(i).random((2, N)), 0.5)
        answers, widths, _ = drawer.draw(asked, rng)
        inside.append(np.abs(answers - Question(asked.h, metric, GROUP, LABEL).gaps) <= widths)
    assert np.mean(inside) > 0.91


@pytest.mark.parametrize("defense", query.PRIVATE["secret"])
def test_where_sizes_are_secret_nothing_but_answers_tells_them(defense):
    declared, h = declare(), RNG.random((3, N))
    told = []
    for few in (3, 10, 20):
        group = (np.arange(N) // 2 < few // 2).astype(np.int8)
        group[-2:] = 1
        drawer = Drawer(declared, LABEL, group)
        told.append([drawer.draw(ask(declared, m, defense, h))[1:] for m in ("sp", "eodds")])
    for other in told[1:]:
        for (widths, grid), (widths_, grid_) in zip(told[0], other):
            assert (widths == widths_).all()
            assert np.array_equal(grid, grid_)


def test_predictions_too_small_for_even_time_are_nothing():
    h = query.predictions([[1e-320, 1e-40, 2.0**-100, 0.5]], 4, 10)
    assert h.tolist() == [[0, 0, 2.0**-100, 0.5]]
    least = h[h > 0].min() / 1e6  # a weight of one in a million
    assert least > np.finfo(float).tiny


def test_the_key_is_of_everything_that_decides_an_answer():
    declared, h = declare(), np.full((2, N), 0.5)
    keys = [
        ask(declared, "sp", "laplace", h).key,
        ask(declared, "eo", "laplace", h).key,
        ask(declared, "sp", "conceal_exact", h).key,
        ask(declared, "sp", "laplace", h, 2.0).key,
        ask(declared, "sp", "laplace", h[:1]).key,
        ask(declared, "sp", "laplace", np.where(np.arange(N) == 3, 0.25, h)).key,
    ]
    assert len(set(keys)) == len(keys)
    assert ask(declared, "sp", "laplace", h.copy()).key == keys[0]
    assert ask(declared, "sp", "laplace", np.zeros((1, N))).key == ask(declared, "sp", "laplace", -np.zeros((1, N))).key


def test_each_relation_has_its_costs():
    h = RNG.random((2, N))
    costs = {
        (s, d): ask(declare(s), "sp", d, h, 0.5).cost.epsilon / 1e9 for s, names in query.PRIVATE.items() for d in names
    }
    assert costs == {
        ("secret", "conceal_exact"): 0.5,
        ("secret", "laplace"): 0.5,
        ("secret", "gaussian"): 0.5,
        ("public", "conceal_aware"): 0.5,
        ("public", "conceal_exact"): 1.0,
        ("public", "laplace"): 1.0,
        ("public", "gaussian"): 1.0,
    }
    with pytest.raises(BadRequest, match="keeps them secret"):
        ask(declare("secret"), "sp", "conceal_aware", h)
