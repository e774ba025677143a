r"""Audits of DP training (`maad`): the step's noise, sensitivity and sampling one by one, and canaries in one run.

*Parts.* The accountant's number holds if each step adds N(0, σ²C²) to sums that one example moves by at most C, over
batches that every row enters by its own coin. Each is looked at through the functions that training calls; where noise
is less or the reach of an example more than declared, the accountant is asked again at the multiplier that was seen.

*Canaries.* Many examples, each with a feature of its own, go in by the toss of a coin (or have their sensitive
attribute tossed), one model is trained, and the movement of each canary's own weights tells which way its coin fell.
The number of right guesses bounds epsilon from below (Steinke, Nasr and Jagielski 2023, Theorem 5.2). Half of the coins
are shown to the auditor, who learns from them which way weights move; the bound is about the other half, given these.
It is worth little unless delta is far below the error allowed over the number of canaries.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from fairpriv.audits.queries import has_law
from fairpriv.audits.result import Audit
from fairpriv.defenses.adversarial.maad import Maad
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.accountant import pld_delta, pld_epsilon

LOUD = 30.0  # a canary's own feature: nearly all of its gradient is in weights that no other example moves
GUESSES = (0.05, 0.1, 0.25)  # shares of the canaries guessed on either end
HIDDEN = 8
PROBES = 200  # keys that noise is drawn from, and pairs of examples
TOO_LITTLE = 0.1  # a noise multiplier that hides nothing, and that accountants take long over


def one_run_bound(right: int, guesses: int, canaries: int, delta: float, error: float) -> float:
    """Return the epsilon below which so many right guesses come with probability at most `error` (Theorem 5.2)."""

    def p_value(epsilon: float) -> float:
        law = stats.binom(guesses, 1 / (1 + math.exp(-epsilon)))
        i = np.arange(1, right + 1)
        gathered = law.cdf(right - 1) - law.cdf(right - 1 - i)  # P(right - i <= guesses right < right)
        return float(law.sf(right - 1) + 2 * canaries * delta * (gathered / i).max(initial=0.0))

    if p_value(0.0) > error:
        return 0.0
    return 50.0 if p_value(50.0) <= error else float(brentq(lambda e: p_value(e) - error, 0.0, 50.0, xtol=1e-6))


def guessed(scores: np.ndarray, coins: np.ndarray, delta: float, error: float) -> float:
    """Return the lower bound on epsilon from scores of canaries and their coins."""
    shown, hidden = slice(None, len(coins) // 2), slice(len(coins) // 2, None)
    sign = np.sign(np.corrcoef(scores[shown], coins[shown])[0, 1])
    order = np.argsort(sign * scores[hidden], kind="stable")
    best, canaries = 0.0, len(order)
    for share in GUESSES:
        k = max(1, int(share * canaries))
        right = int((~coins[hidden][order[:k]]).sum() + coins[hidden][order[-k:]].sum())
        best = max(best, one_run_bound(right, 2 * k, canaries, delta, error / len(GUESSES)))
    return best


@dataclass(frozen=True)
class Parts:
    """What the parts of a step were seen to be: noise and reach in units declared, and whether sampled by coins."""

    noise: float
    reach: float
    sampled: bool


def _rule(defense: Maad):
    from fairpriv.defenses.adversarial.maad_step import Rule

    same = ("debias", "privacy", "criterion", "gamma", "sigma", "clip", "batch", "adversary_part")
    return Rule(*(getattr(defense, name) for name in same))


def noise_seen(defense: Maad, error: float) -> float:
    """Return a bound on the noise of a step on nobody, in units of σC; 1 where it has the law declared."""
    from fairpriv.defenses.adversarial import adversary, maad_step, networks
    from fairpriv.jax_cpu import jax, jnp

    rule, network = _rule(defense), networks.mlp(4, (HIDDEN,))
    w = network.init(jax.random.key(0))
    u = adversary.init(jax.random.key(1), rule.criterion, 1)
    nobody = (jnp.zeros((8, 4)), jnp.zeros(8), jnp.zeros((8, 1)), jnp.zeros(8))
    batch = maad_step.weighed(rule, network, w, u, nobody)

    def flat(key):
        update, own = maad_step.directions(rule, network, w, batch, key)
        # with an adversary, the joint rule projects its noise on W: the noise on U is looked at instead
        seen = own if rule.debias and rule.privacy == "joint" else update
        return jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(seen)])

    with jax.threefry_partitionable(False):
        drawn = np.asarray(jax.vmap(flat)(jax.random.split(jax.random.key(2), PROBES)), dtype=float)
    per = 1.0 if rule.privacy == "printed" else rule.batch  # the printed rule adds noise after dividing by the batch
    z = drawn * per / (rule.sigma * rule.clip)
    if has_law(stats.norm.cdf(z), error):
        return 1.0
    sizes = np.sort(np.abs(z.ravel()))
    rank = min(int(stats.binom.ppf(1 - error, len(sizes), 0.5)) + 1, len(sizes) - 1)
    return min(1.0, float(sizes[rank] / stats.norm.ppf(0.75)))


def reach_seen(defense: Maad) -> float:
    """Return how far one example beside another moves what noise is added to, in units of C: the most of many pairs."""
    from fairpriv.defenses.adversarial import adversary, maad_step, networks
    from fairpriv.jax_cpu import jax, jnp

    rule, network = _rule(defense), networks.mlp(4, (HIDDEN,))
    w = network.init(jax.random.key(0))
    u = adversary.init(jax.random.key(1), rule.criterion, 1)

    def noised_sums(x, y, s, real):
        sums = maad_step.summed(network, w, maad_step.weighed(rule, network, w, u, (x, y, s, real)))
        if rule.privacy == "printed":  # noise comes after the clipping of the whole
            return maad_step.direction(replace(rule, sigma=0.0), sums, jax.random.key(3))[0]
        return sums[:3]

    def moved(x, y, s):
        with_and_without = (noised_sums(x, y, s, jnp.asarray(real)) for real in ([1.0, 0.0], [1.0, 1.0]))
        return maad_step.norm(jax.tree.map(lambda a, b: a - b, *with_and_without))

    rng = np.random.default_rng(0)
    x = rng.standard_normal((PROBES, 2, 4)) * 10.0 ** rng.uniform(0, 5, (PROBES, 2, 1))
    y, s = rng.integers(0, 2, (PROBES, 2)), rng.integers(0, 2, (PROBES, 2, 1))
    return float(jax.vmap(moved)(*(jnp.asarray(part, jnp.float32) for part in (x, y, s))).max()) / rule.clip


def sampled_by_coins(n: int, batch: int, rng: np.random.Generator, error: float, steps: int = 4000) -> bool:
    """Tell whether rows enter batches at the rate declared and independently: by their counts and by batch sizes."""
    from fairpriv.defenses.adversarial import sampling

    rows, real = sampling.poisson(n, batch, steps, rng)
    rate = batch / n
    counts = np.bincount(rows[real > 0], minlength=n)
    spread = ((counts - steps * rate) ** 2).sum() / (steps * rate * (1 - rate))
    sizes = real.sum(axis=1)
    size_spread = ((sizes - n * rate) ** 2).sum() / (n * rate * (1 - rate))
    tests = [2 * min(stats.chi2.cdf(x, k), stats.chi2.sf(x, k)) for x, k in ((spread, n), (size_spread, steps))]
    tests.append(2 * stats.norm.sf(abs(counts.sum() - steps * batch) / math.sqrt(steps * n * rate * (1 - rate))))
    return bool(min(tests) >= error / 3)


def canaries(defense: Maad, count: int, steps: int, coin: str, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Train once on `count` canaries, each with a coin for being there (`in`) or for its attribute (`s`).

    Return scores, coins, and the number of rows trained on.
    """
    from fairpriv.defenses.adversarial import networks
    from fairpriv.defenses.adversarial import training as maad

    coins = rng.random(count) < 0.5
    there = np.flatnonzero(coins) if coin == "in" else np.arange(count)
    x = np.zeros((len(there), count), np.float32)
    x[np.arange(len(there)), there] = LOUD
    s = (coins if coin == "s" else rng.random(count) < 0.5).astype(np.float32)[there, None]
    network, seed = networks.mlp(count, (HIDDEN,)), int(rng.integers(2**32))

    def weights(label: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
        data = (x, label[there].astype(np.float32), s)
        w = maad.train(_rule(defense), network, data, steps, (rate, rate), "sgd", np.random.default_rng(seed))[0]
        return np.asarray(w["dense0"]["w"], dtype=float), np.asarray(w["dense1"]["w"], dtype=float)[:, 0]

    label = np.arange(count) % 2
    first, out = weights(label, 1e-30)  # the weights before training: everyone may know them
    wrong = (LOUD * np.maximum(first, 0)) @ out < 0  # a label that the first model gets wrong is heard best
    label = wrong.astype(int) if coin == "in" else np.ones(count, int)  # with one label, s moves all the same way
    rate = 1e-3 * defense.batch / (defense.sigma * defense.clip * math.sqrt(steps))
    moved = weights(label, rate)[0] - first
    towards = (2 * label - 1)[:, None] * out * (first > 0)
    scores = (moved * towards).sum(axis=1) / np.maximum(np.linalg.norm(towards, axis=1), 1e-12)
    return scores, coins, len(there)


def audit(
    defense: Maad,
    *,
    count: int = 1000,
    steps: int = 20,
    coin: str = "in",
    rng: np.random.Generator,
    confidence: float = 0.999,
) -> Audit:
    """Audit the claim of DP training for this many steps.

    Under `coin="s"` the claim is that of a change of the attribute: one example out and one in, so at half the
    multiplier.
    """
    if defense.privacy == "none":
        raise BadRequest("privacy must be printed, joint or combined: without noise there is no claim to audit")
    if defense.algorithm != "printed":
        raise BadRequest("algorithm must be printed: with an adversary the public one keeps no ε, by its account alone")
    if coin == "s" and defense.account(count, steps).sensitive == math.inf:
        raise BadRequest("privacy must be joint for coin s: as printed, the attribute is not protected at all")
    error = (1 - confidence) / 3
    scores, coins, n = canaries(defense, count, steps, coin, rng)
    parts = Parts(noise_seen(defense, error), reach_seen(defense), sampled_by_coins(n, defense.batch, rng, error))
    rate, delta = defense.batch / n, float(defense.delta)
    halves = 2 if coin == "s" else 1
    claimed = pld_epsilon(defense.sigma / halves, rate, steps, delta)
    seen = float(defense.sigma * parts.noise / max(1.0, parts.reach) / halves)
    as_declared = parts.noise == 1 and parts.reach <= 1 + 1e-4  # sums are in float32
    needed = (0.0, delta)  # as accounted
    if not as_declared:
        needed = (pld_delta(seen, rate, steps, claimed) if seen > TOO_LITTLE else 1.0,) * 2
    return Audit(
        claimed=claimed,
        delta=delta,
        exact=math.inf,
        exact_delta=needed,
        sampled_lower=guessed(scores, coins, delta, error),
        follows=as_declared and parts.sampled,
        confidence=confidence,
        worst=f"{count} canaries, {steps} steps; an example reaches {parts.reach:.2f} C",
    )
