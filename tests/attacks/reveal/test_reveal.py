"""The attacks of hamman2023 through the desk: what they recover, what they refuse, what they may see."""

from dataclasses import replace

import numpy as np
import pytest

from fairpriv import registry
from fairpriv.attacks.reveal.recovery.reading import sizes_from
from fairpriv.attacks.reveal.reveal_linear import flip_matrix, flip_solve, general_solve
from fairpriv.desk import ComplianceDesk, DeskView
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.noise import Cauchy

REVEAL = ("reveal_single", "reveal_double", "reveal_linear", "reveal_compressed", "reveal_partition")


def desk(n=80, n0=8, seed=0, publish=True, defense="none", **params):
    rng = np.random.default_rng(seed)
    group = np.ones(n, dtype=int)
    group[rng.permutation(n)[:n0]] = 0
    label = rng.integers(0, 2, n)
    label[np.flatnonzero(group == 0)[:4]] = [0, 0, 1, 1]
    built = registry.build("defenses", defense, params)
    the_desk = ComplianceDesk(group, label, built, np.random.default_rng(seed + 1), publish_sizes=publish)
    return the_desk.view(rng.random(n)), group, label


def run(name, view, seed=0, **params):
    return registry.build("attacks", name, params).run(view, np.random.default_rng(seed))


@pytest.mark.parametrize("name", ["reveal_single", "reveal_double", "reveal_linear"])
def test_exact_answers_reveal_everyone(name):
    view, group, _ = desk()
    found = run(name, view)
    np.testing.assert_array_equal(found.group, group)
    assert found.queries == {"reveal_single": 80, "reveal_double": 81, "reveal_linear": 80}[name]
    assert (found.score[group == 0] > 0).all()


@pytest.mark.parametrize(("name", "queries"), [("reveal_single", 1), ("reveal_double", 2)])
def test_one_target(name, queries):
    view, group, _ = desk()
    for target in (0, 17, 79):
        found = run(name, view, target=target)
        assert found.queries == queries
        assert found.group[target] == group[target]
        assert (np.delete(found.group, target) == -1).all()
    with pytest.raises(BadRequest, match="target must be <= 79"):
        run(name, view, target=80)
    with pytest.raises(BadRequest, match="target must be >= 0"):
        run(name, view, target=-1)


@pytest.mark.parametrize("base", ["random", "none", "all", "one", "one_but_last", "all_but_one", "all_but_last"])
@pytest.mark.parametrize("spare", [False, True])
@pytest.mark.parametrize("solver", ["structured", "general"])
def test_linear_with_any_base_model(base, spare, solver):
    view, group, _ = desk(n=20, n0=6)
    outputs = {"random": view.base, "none": np.zeros(20), "all": np.ones(20), "one": np.eye(20)[3]}
    outputs |= {"one_but_last": np.eye(20)[19], "all_but_one": 1 - np.eye(20)[3], "all_but_last": 1 - np.eye(20)[19]}
    found = run("reveal_linear", replace(view, base=outputs[base]), spare=spare, solver=solver)
    np.testing.assert_array_equal(found.group, group)
    assert found.queries == 20 - spare


def test_flip_solve_is_the_general_solve():
    rng = np.random.default_rng(0)
    for n, left_out in ((12, 0), (12, 1), (31, 1)):
        base, flipped = rng.random(n), np.arange(n - left_out)
        v = rng.normal(size=n)
        v -= v.mean()
        answers = flip_matrix(base, flipped) @ v
        np.testing.assert_allclose(flip_solve(base, flipped, answers), v, atol=1e-8)
        np.testing.assert_allclose(general_solve(base, flipped, answers), v, atol=1e-8)
    base = np.array([0.5, 0.2, 0.9, 0.1])
    v = np.array([1, -1, 2, -2.0])
    np.testing.assert_allclose(flip_solve(base, np.arange(4), flip_matrix(base, np.arange(4)) @ v), v, atol=1e-9)


@pytest.mark.parametrize("queries", ["perturbed", "binary"])
@pytest.mark.parametrize("sizes", ["known", "estimated"])
@pytest.mark.parametrize("decoder", ["l1", "lp", "box", "noise_aware", "maximum_likelihood"])
def test_compressed_reveals_a_small_group(queries, sizes, decoder):
    view, group, _ = desk(publish=sizes == "known")
    found = run("reveal_compressed", view, m=50, queries=queries, group_sizes=sizes, decoder=decoder)
    np.testing.assert_array_equal(found.group, group)
    np.testing.assert_allclose(found.score, np.where(group == 0, 1 / 72 + 1 / 8, 0), atol=1e-6)
    assert found.queries == 50 + (sizes == "estimated")


def test_compressed_by_class():
    view, group, label = desk(n=120, n0=12)
    found = run("reveal_compressed", view, m=40, queries="binary", metric="eo", group_sizes="estimated")
    np.testing.assert_array_equal(found.group, np.where(label == 1, group, -1))
    assert np.isnan(found.score[label == 0]).all()
    found = run("reveal_compressed", view, m=40, queries="binary", metric="eodds", group_sizes="estimated")
    np.testing.assert_array_equal(found.group, group)


def test_a_lower_threshold_calls_more_people_members_of_the_smaller_group():
    view, _, _ = desk()
    found = [run("reveal_compressed", view, m=14, threshold=at) for at in (0.1, 0.5, 0.9)]
    members = [frozenset(np.flatnonzero(one.group == 0)) for one in found]
    assert members[0] > members[1] > members[2]
    for one, at in zip(found, (0.1, 0.5, 0.9)):
        np.testing.assert_array_equal(one.group == 0, one.score > at * (1 / 72 + 1 / 8))


def test_compressed_refusals():
    view, _, _ = desk(publish=False)
    for params, message in (
        ({"m": 0}, "m must be >= 1"),
        ({"decoder": "l2"}, "decoder must be one of"),
        ({"width": 0}, "width must be > 0"),
        ({"threshold": 1}, "threshold must be < 1"),
        ({"queries": "gaussian"}, "queries must be one of"),
        ({"metric": "abs_sp"}, "metric must be one of"),
        ({"metric": "eo"}, "group_sizes must be estimated for eo"),
        ({"m": 81}, r"m must be in 1\.\.80"),
        ({"m": 5}, "this desk does not publish them"),
    ):
        with pytest.raises(BadRequest, match=message):
            run("reveal_compressed", view, **params)


@pytest.mark.parametrize("metric", ["sp", "eodds"])
def test_together_is_the_same_as_alone(metric):
    views = [
        desk(defense=d, **p)[0]
        for d, p in (("none", {}), ("conceal", {"epsilon": 50.0}), ("laplace", {"epsilon": 9.0}))
    ]
    attack = registry.build(
        "attacks", "reveal_compressed", {"m": 30, "queries": "binary", "metric": metric, "group_sizes": "estimated"}
    )
    views = [replace(v, ask=recorded(v)) for v in views]
    together = attack.run_many(views, np.random.default_rng(3))
    for view, found in zip(views, together):
        alone = attack.run(view, np.random.default_rng(3))
        assert alone.score.tobytes() == found.score.tobytes()
        np.testing.assert_array_equal(alone.group, found.group)
    assert attack.run_many([], np.random.default_rng(3)) == []


def recorded(view: DeskView):
    """Answer a question asked before as it was answered then."""
    memory = {}

    def ask(h, metric):
        key = (metric, h.tobytes())
        if key not in memory:
            memory[key] = view.ask(h, metric)
        return memory[key].copy()

    return ask


@pytest.mark.parametrize("name", REVEAL)
@pytest.mark.parametrize("epsilon", [float("inf"), 20.0])
def test_an_attack_sees_no_more_than_the_view(name, epsilon):
    view, _, _ = desk(defense="conceal", epsilon=epsilon)
    answers, asked = [], []

    def tape(h, metric):
        answers.append(view.ask(h, metric))
        asked.append((metric, h.copy()))
        return answers[-1].copy()

    found = run(name, replace(view, ask=tape))
    replay = iter(zip(asked, answers))

    def play(h, metric):
        (was, matrix), answer = next(replay)
        assert was == metric
        np.testing.assert_array_equal(h, matrix)
        return answer.copy()

    law = view.law(np.zeros((40, len(view))), "sp")
    bare = DeskView(view.label.copy(), view.base.copy(), play, lambda h, metric: law, view.sizes)
    again = run(name, bare)
    np.testing.assert_array_equal(again.group, found.group)
    np.testing.assert_array_equal(again.score, found.score)
    assert sum(len(h) for _, h in asked) == found.queries == again.queries


@pytest.mark.parametrize(("n", "n0"), [(40, 7), (40, 33), (40, 20), (41, 20), (3, 1)])
@pytest.mark.parametrize("publish", [True, False])
def test_partition_up_to_a_swap(n, n0, publish):
    rng = np.random.default_rng(1)
    group = np.ones(n, dtype=int)
    group[rng.permutation(n)[:n0]] = 0
    built = registry.build("defenses", "none", {})
    view = ComplianceDesk(group, np.ones(n, dtype=int), built, rng, publish_sizes=publish).view(rng.random(n))
    found = run("reveal_partition", view)
    assert found.queries == n
    assert (found.group == group).all() or (found.group == 1 - group).all()
    if 2 * n0 != n:
        assert (found.group == 0).sum() == min(n0, n - n0)


def test_sizes_from_one_answer():
    for n0 in range(1, 30):
        assert sizes_from(-1 / n0, 30) == (n0, 30 - n0)
        assert sizes_from(1 / (30 - n0), 30) == (n0, 30 - n0)
    for noisy in (0.0, 1e-9, -1e-9, 50.0, -50.0, 1e300):
        n0, n1 = sizes_from(noisy, 30)
        assert n0 >= 1
        assert n1 >= 1
        assert n0 + n1 == 30


def test_noise_conceals():
    # Leakage of the paper's decoder under heavy noise is a coin flip: its mean over 20 desks has a standard error of
    # about 2 points, so the band of ±10 fails by chance less than once in a million runs.
    from fairpriv.metrics.leakage import leakage

    values = []
    for seed in range(20):
        view, group, _ = desk(seed=seed, defense="conceal", epsilon=5.0)
        assert isinstance(view.law(np.zeros((40, len(view))), "sp"), Cauchy)
        values.append(leakage(run("reveal_compressed", view, seed=seed, queries="binary").group, group))
    assert abs(np.mean(values) - 50) < 10


@pytest.mark.parametrize("metric", ["abs_eo", "abs_eodds"])
@pytest.mark.parametrize("n0", [12, 60])
def test_absolute_gaps_by_class_split_each_class(metric, n0):
    """The smaller part of each class is called group 0; of equal parts the first person's."""
    view, group, label = desk(n=120, n0=n0, seed=3)
    found = run("reveal_partition", view, metric=metric)
    assert found.queries == max((label == y).sum() for y in ((1,) if metric == "abs_eo" else (1, 0)))
    for y in (1, 0):
        mine, truth = found.group[label == y], group[label == y]
        if metric == "abs_eo" and y == 0:
            assert (mine == -1).all()
        else:
            assert (mine == truth).all() or (mine == 1 - truth).all()


def test_equal_parts_of_a_class_are_split_too():
    group, label = np.tile([0, 1], 20), np.repeat([1, 0], 20)
    the_desk = ComplianceDesk(group, label, registry.build("defenses", "none", {}), np.random.default_rng(0))
    found = run("reveal_partition", the_desk.view(np.full(40, 0.5)), metric="abs_eodds")
    np.testing.assert_array_equal(found.group, group)  # the first of each class is in group 0


@pytest.mark.parametrize("n0", [4, 8, 72])
def test_predictive_rate_parity_reveals_everyone(n0):
    view, group, label = desk(n0=n0)
    found = run("reveal_predictive", view)
    np.testing.assert_array_equal(found.group, group)
    assert found.queries == 80
    for y in (0, 1):  # the score is larger for group 0 within each label
        assert found.score[(group == 0) & (label == y)].min() > found.score[(group == 1) & (label == y)].max()


def test_an_attacker_may_clip_answers_or_not():
    """Clipping moves answers into the metric's range before decoding, and only those outside it."""
    view, _, _ = desk(defense="laplace", epsilon=1.0)
    free = [run("reveal_compressed", replace(view), m=20, clip=clip).score for clip in (True, False)]
    assert not np.allclose(*free)
    within = replace(view, ask=lambda h, metric: np.full(len(h), 0.25))
    same = [run("reveal_compressed", within, m=20, clip=clip).score for clip in (True, False)]
    np.testing.assert_array_equal(*same)
    outside = replace(view, ask=lambda h, metric: np.full(len(h), 7.0))
    bound = replace(view, ask=lambda h, metric: np.ones(len(h)))
    np.testing.assert_array_equal(
        run("reveal_compressed", outside, m=20).score, run("reveal_compressed", bound, m=20, clip=False).score
    )
