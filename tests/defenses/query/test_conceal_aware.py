"""conceal_aware: its loss over all swaps through `respond`, its answers, and what it refuses."""

import itertools
import math

import numpy as np
import pytest

import fairpriv.defenses.query.conceal_aware as module
from fairpriv.defenses.query.base import Question
from fairpriv.desk import ComplianceDesk
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.noise import Exact, Gaussian
from fairpriv.metrics.bias import bias
from fairpriv.registry import build


def made(epsilon=1.0, **params):
    return build("defenses", "conceal_aware", {"epsilon": epsilon} | params)


def models(m, n, seed=0):
    rng = np.random.default_rng(seed)
    return np.clip(rng.random(n) + rng.uniform(-0.2, 0.2, (m, n)), 0, 1)


def released(monkeypatch, defense, question):
    """Return everything `respond` releases: values before noise, and scales."""
    seen = []
    real = module.release

    def spy(values, law, grid, rng):
        seen.append((values, law.scale))
        return real(values, law, grid, rng)

    with monkeypatch.context() as patched:
        patched.setattr(module, "release", spy)
        defense.respond(question, np.random.default_rng(0))
    return [np.concatenate(part) for part in zip(*seen)]


@pytest.mark.parametrize("m", [1, 3, 12])
@pytest.mark.parametrize("metric", ["sp", "abs_sp", "eo", "eodds"])
def test_loss_over_all_swaps_is_at_most_epsilon(monkeypatch, m, metric):
    """The supremum of the log density ratio of Laplace noise is the sum of shift over scale: over every swap."""
    n, epsilon, defense = 7, 2.0, made(2.0)
    h, label = models(m, n), np.array([1, 1, 1, 1, 0, 0, 0])
    worst = 0.0
    for group in ([0, 1, 0, 1, 0, 1, 1], [0, 1, 1, 1, 0, 1, 0]):
        group = np.array(group)
        values, scales = released(monkeypatch, defense, Question(h, metric, group, label))
        for j, k in itertools.combinations(range(n), 2):
            same_class = metric.endswith("sp") or label[j] == label[k]
            if group[j] == group[k] or not same_class:
                continue
            swapped = group.copy()
            swapped[[j, k]] = swapped[[k, j]]
            others, their_scales = released(monkeypatch, defense, Question(h, metric, swapped, label))
            np.testing.assert_array_equal(scales, their_scales)  # public: neighbours share the noise
            worst = max(worst, (np.abs(values - others) / scales).sum())
    assert worst <= epsilon * (1 + 1e-9)
    assert worst > 0.5 * epsilon


def test_answers_are_unbiased_with_the_law_announced():
    # 3000 answers: the mean is within five standard errors, the deviation within 10 %
    h, rng = models(5, 30), np.random.default_rng(2)
    group = (np.arange(30) >= 8).astype(int)
    question, defense = Question(h, "sp", group, group), made(5.0)
    off = np.array([defense.respond(question, rng) for _ in range(3000)]) - question.gaps
    law = defense.noise_law(question)
    assert isinstance(law, Gaussian)
    assert np.abs(off.mean(axis=0)).max() < 5 * off.std() / math.sqrt(3000)
    assert math.sqrt((off**2).mean()) == pytest.approx(law.scale, rel=0.1)


def test_less_noise_than_the_mechanisms_that_know_less():
    h = models(40, 100)
    group = (np.arange(100) >= 10).astype(int)
    question = Question(h, "sp", group, group)
    exact = build("defenses", "conceal_exact", {"epsilon": 10.0, "nominal_share": 0.1})
    assert exact.noise_law(question).scale > 5 * made(10.0).noise_law(question).scale


@pytest.mark.parametrize("metric", ["sp", "abs_sp", "eo", "eodds", "abs_eodds", "prp", "abs_prp"])
def test_shapes_ranges_and_exact_answers(metric):
    h, rng = models(4, 20), np.random.default_rng(0)
    group, label = rng.integers(0, 2, 20), rng.integers(0, 2, 20)
    view = ComplianceDesk(group, label, made(0.01, bounding="clip"), np.random.default_rng(0)).view(h[0])
    answers = view.ask(h, metric)
    truth = bias(metric, h, group, label)
    assert answers.shape == truth.shape
    assert np.abs(answers).max() <= 1
    if metric.startswith("abs_"):
        assert answers.min() >= 0
    exact = ComplianceDesk(group, label, made(math.inf)).view(h[0])
    np.testing.assert_array_equal(exact.ask(h, metric), truth)
    assert isinstance(exact.law(h, metric), Exact)


def test_it_refuses_what_it_cannot_do_and_says_what_it_promises():
    with pytest.raises(BadRequest, match="got 'truncate'"):
        made(bounding="truncate")
    with pytest.raises(BadRequest, match="questions about models"):
        made().answer(np.zeros(3), "sp", 5, 5, np.random.default_rng(0))
    with pytest.raises(BadRequest, match="depends on the models"):
        made().law("sp", 5, 5, 3)
    assert "two people" in made().guarantee().protects
    assert made(math.inf).guarantee().protects.startswith("nothing")
