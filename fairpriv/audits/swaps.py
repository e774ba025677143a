"""Audits of `conceal_aware`: over swaps, through what it measures, of which the answers are shown to be a function."""

import numpy as np

from fairpriv.audits.queries import has_law
from fairpriv.audits.result import Audit
from fairpriv.audits.sampled import by_low_bits, by_scores
from fairpriv.defenses.query.base import Question
from fairpriv.defenses.query.conceal_aware import ConcealAware
from fairpriv.mechanisms.noise import Laplace
from fairpriv.mechanisms.strategies import Strategy, choose


def questions(n: int, m: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return models to ask about: one that tells two people apart, m times, and m variants of another."""
    apart = np.zeros((m, n))
    apart[:, 0] = 1.0
    return [apart, np.clip(rng.random(n) + rng.uniform(-0.1, 0.1, (m, n)), 0, 1)]


def losses(defense: ConcealAware, strategy: Strategy, n0: int, n1: int) -> np.ndarray:
    """Return what each swap of two people loses by the law declared, (n, n): Σ_r shift / scale."""
    n, unit = n0 + n1, 1 / n0 + 1 / n1
    total = np.zeros((n, n))
    for rows, scales, _ in strategy.parts:
        noise = defense.noise(scales, strategy, n0, n1)
        if rows is None:
            total += unit * (1 / noise[:, None] + 1 / noise) * (1 - np.eye(n))
        else:
            for row, b in zip(rows, noise):
                total += unit * np.abs(row[:, None] - row) / b
    return total


def audit(
    defense: ConcealAware,
    n: int,
    m: int,
    *,
    share: float = 0.1,
    samples: int = 3000,
    rng: np.random.Generator,
    confidence: float = 0.999,
) -> Audit:
    """Audit the claim for m answers about n people, of whom a share is in group 0, over all swaps."""
    n0 = min(max(1, round(share * n)), n - 1)
    asked = questions(n, m, rng)
    error = (1 - confidence) / (4 * len(asked))  # for each: two bounds, and a test of the law on either side
    exact, lower, follows, worst = 0.0, 0.0, True, ""
    for h in asked:
        cost = losses(defense, choose(h), n0, n - n0)
        j, k = np.unravel_index(cost.argmax(), cost.shape)
        found, has = _sampled(defense, h, (int(j), int(k)), n0, samples, error, rng)
        lower, follows = max(lower, found), follows and has
        if cost.max() >= exact:
            exact, worst = float(cost.max()), f"people {j} and {k} swapped, N0 = {n0}"
    return Audit(defense.epsilon, 0.0, exact, (0.0, 0.0), lower, follows, confidence, worst)


def _sampled(defense, h, swap, n0, samples, error, rng) -> tuple[float, bool]:
    """Return a lower bound on epsilon from what is measured, and whether it has the law declared."""
    n = h.shape[1]
    strategy = choose(h)
    noise = np.concatenate([defense.noise(s, strategy, n0, n - n0) for _, s, _ in strategy.parts])
    moving = noise > 1e-280  # a row that no swap moves carries no noise to speak of
    group = np.ones(n, int)
    group[[swap[0], *[i for i in range(n) if i not in swap][: n0 - 1]]] = 0
    groups = group, group.copy()
    groups[1][list(swap)] = group[list(swap)][::-1]
    law = Laplace(noise[moving])
    means, seen = [], []
    for who in groups:
        v = np.where(who == 1, 1 / (n - n0), -1 / n0)
        means.append(np.concatenate([v if rows is None else rows @ v for rows, _, _ in strategy.parts])[moving])
        draws = [np.concatenate(defense.measured(h, who, rng))[moving] for _ in range(samples)]
        seen.append(np.array(draws))
    scores = [(law.logpdf(y - means[0]) - law.logpdf(y - means[1])).sum(axis=1) for y in seen]
    follows = _a_function_of_what_is_measured(defense, h, groups[0])
    follows = follows and all(has_law(law.cdf(y - mean), error) for y, mean in zip(seen, means))
    return max(by_scores(*scores, error), by_low_bits(*seen, error)), follows


def _a_function_of_what_is_measured(defense: ConcealAware, h: np.ndarray, group: np.ndarray) -> bool:
    """Tell whether `respond` gives B times what `measured` gives, with the same randomness, and nothing else."""
    answers = defense.respond(Question(h, "sp", group, group), np.random.default_rng(0))
    seen = defense.measured(h, group, np.random.default_rng(0))
    expected = sum(back @ y for (_, _, back), y in zip(choose(h).parts, seen))
    return bool(np.array_equal(answers, expected if defense.bounding == "none" else np.clip(expected, -1, 1)))
