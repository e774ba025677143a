"""One step of Algorithm 1 (maad2023), without privacy, as printed, and with one joint Gaussian mechanism.

printed   the batch gradient is projected, clipped to C and noised by N(0, σ²C²): one example can turn a clipped
          gradient around, so the sensitivity is 2C; the adversary's own update has no noise at all.
joint     each example's (∇_W L_P, ∇_W L_A, ∇_U L_A) is clipped to C as one vector, the sum is noised by N(0, σ²C²), and
          projection, −γ and both updates come after: post-processing of a mechanism with sensitivity C.
combined  the same with ∇_W L_P − γ∇_W L_A of each example in place of both gradients: half as much to clip and noise.
          There is no projection, which takes away one direction out of thousands once there is noise in all of them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import optax

from fairpriv.defenses.adversarial import adversary, one_vector
from fairpriv.defenses.adversarial.ghost import Tapped, squared_norms, tap, weighted_sum
from fairpriv.defenses.adversarial.networks import Network, Params
from fairpriv.defenses.adversarial.normals import normals
from fairpriv.defenses.adversarial.one_vector import SCALARS
from fairpriv.jax_cpu import jax, jnp

OPTIMISERS = {"adam": optax.adam, "sgd": optax.sgd}
SENSITIVITY = {"printed": 2.0, "joint": 1.0, "combined": 1.0}  # in units of C
WHOLE = ("joint", "combined")  # one Gaussian mechanism for all that uses the data
LARGE = 1024  # entries from which on a matrix is worth `one_vector`


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["gamma", "sigma", "clip", "adversary_part"],
    meta_fields=["debias", "privacy", "criterion", "batch"],
)
@dataclass(frozen=True)
class Rule:
    """What a step does: see the plug-in `maad` for the meaning of each. Another number compiles nothing anew."""

    debias: bool
    privacy: str
    criterion: str
    gamma: float
    sigma: float
    clip: float
    batch: int
    adversary_part: float = 1.0


class State(NamedTuple):
    """What training carries along."""

    w: Params
    u: dict[str, Any]
    w_moments: Any
    u_moments: Any


class Gradients(NamedTuple):
    """Sums over the batch: ∇_W L_P, ∇_W L_A, ∇_U L_A (None without an adversary), and the batch's losses."""

    task: Params
    steer: Params | None
    own: dict[str, Any] | None
    losses: tuple[Any, Any]


def norm(tree: Any) -> Any:
    """Return the Euclidean norm of all entries together."""
    return jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(tree)))


class Weighed(NamedTuple):
    """A batch before it is summed: both losses' gradients are Σ_i weight_i ∂logit_i/∂W (`steer` None: no adversary)."""

    tapped: Tapped
    task: Any
    steer: Any
    own: dict[str, Any] | None
    losses: tuple[Any, Any]


def weighed(rule: Rule, network: Network, w: Params, u: dict[str, Any], example: tuple[Any, Any, Any, Any]) -> Weighed:
    """Return the weights of the batch's examples; with one mechanism each one's gradients are clipped as one vector."""
    x, y, s, real = example
    tapped = tap(network, w, x)
    logit = tapped.logit
    to_task = (jax.nn.sigmoid(logit) - y) * real  # ∂L_P/∂logit of the cross-entropy
    loss_p = ((jax.nn.softplus(logit) - y * logit) * real).sum() / jnp.maximum(real.sum(), 1.0)
    loss_a, to_steer, own = 0.0, None, None
    if rule.debias:
        each, to_steer, own = adversary.gradients(u, logit, y, s, rule.criterion)
        loss_a = (each * real).sum() / jnp.maximum(real.sum(), 1.0)
    if rule.debias and rule.privacy == "combined":
        to_task, to_steer = to_task - rule.gamma * to_steer * real, None
    if rule.debias and rule.privacy in WHOLE:  # how much of what is clipped is the adversary's own
        own = jax.tree.map(lambda g: rule.adversary_part * g, own)
    weights = real
    if rule.privacy in WHOLE:
        multiples = to_task**2 + (0.0 if to_steer is None else to_steer**2)
        squares = multiples * squared_norms(network, tapped)
        if rule.debias:
            squares += sum((g**2).reshape(len(y), -1).sum(axis=1) for g in own.values())
        weights = real * jnp.minimum(1.0, rule.clip / jnp.sqrt(jnp.maximum(squares, 1e-24)))
    if not rule.debias:
        return Weighed(tapped, weights * to_task, None, None, (loss_p, loss_a))
    own = jax.tree.map(lambda g: (weights.reshape(-1, *[1] * (g.ndim - 1)) * g).sum(axis=0), own)
    steer = None if to_steer is None else weights * to_steer
    return Weighed(tapped, weights * to_task, steer, own, (loss_p, loss_a))


def summed(network: Network, w: Params, batch: Weighed) -> Gradients:
    """Return the batch's gradients, summed over its examples."""
    task = weighted_sum(network, w, batch.tapped, batch.task)
    steer = None if batch.steer is None else weighted_sum(network, w, batch.tapped, batch.steer)
    return Gradients(task, steer, batch.own, batch.losses)


class Reel:
    """Standard normals drawn at once, handed out piece by piece."""

    def __init__(self, key: Any, size: int) -> None:
        self.drawn, self.at = normals(key, size), 0

    def take(self, shape: tuple[int, ...]) -> Any:
        """Return the next piece."""
        self.at += math.prod(shape)
        return self.drawn[self.at - math.prod(shape) : self.at].reshape(shape)


def _entries(tree: Any) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


def noised(tree: Any, deviation: float, reel: Reel) -> Any:
    """Add N(0, deviation²) to every entry."""
    return jax.tree.map(lambda leaf: leaf + deviation * reel.take(leaf.shape), tree)


def projected(task: Params, steer: Params, gamma: float) -> Params:
    """Return equation (2), variable by variable as AIF360 does: g − ⟨g, u⟩u − γ∇_W L_A, u = ∇_W L_A normalised."""

    def one(g: Any, a: Any) -> Any:
        unit = a / jnp.maximum(jnp.sqrt((a**2).sum()), 1e-12)
        return g - (g * unit).sum() * unit - gamma * a

    return jax.tree.map(one, task, steer)


def direction(rule: Rule, sums: Gradients, key: Any) -> tuple[Params, dict[str, Any] | None]:
    """Return the directions of both updates: what is done with the batch's sums, noise included."""
    deviation = rule.sigma * rule.clip
    if rule.privacy in WHOLE:
        sums = Gradients(*noised(sums[:3], deviation, Reel(key, _entries(sums[:3]))), sums.losses)
    task, steer, own = jax.tree.map(lambda g: g / rule.batch, sums[:3])
    update = task if steer is None else projected(task, steer, rule.gamma)
    if rule.privacy == "printed":  # lines 14 and 15 of Algorithm 1
        update = jax.tree.map(lambda g: g * jnp.minimum(1.0, rule.clip / jnp.maximum(norm(update), 1e-12)), update)
        update = noised(update, deviation, Reel(key, _entries(update)))
    return update, own


def joint_direction(rule: Rule, network: Network, batch: Weighed, sums: Gradients, key: Any) -> tuple[Params, Any]:
    """Return the same in law as `direction` under `joint` with an adversary, faster: large matrices by `one_vector`.

    Their sums are not used, so that the compiler leaves them out.
    """
    deviation, (inputs, owed) = rule.sigma * rule.clip, batch.tapped[1:]
    dense = [layer for layer, kind in network.kinds.items() if kind == "dense" and owed[layer].ndim == 2]
    large = {layer: sums.task[layer]["w"].shape for layer in dense if sums.task[layer]["w"].size >= LARGE}
    small = [
        {layer: leaves | {"w": None} if layer in large else leaves for layer, leaves in tree.items()}
        for tree in (sums.task, sums.steer)
    ]
    reel = Reel(key, sum(map(math.prod, large.values())) + _entries((small, sums.own)) + SCALARS * len(large))
    drawn = {layer: reel.take(shape) for layer, shape in large.items()}
    task, steer, own = noised((*small, sums.own), deviation, reel)
    update = projected(task, steer, rule.gamma)
    freedom = jnp.array([math.prod(shape) - 3.0 for shape in large.values()])
    chi2 = 2.0 * jax.random.gamma(jax.random.fold_in(key, 1), freedom / 2)
    for i, layer in enumerate(large):
        noise = drawn[layer], reel.take((SCALARS,)), chi2[i]
        both = batch.task, batch.steer
        update[layer]["w"] = one_vector.update(inputs[layer], owed[layer], *both, noise, deviation, rule.gamma)
    return jax.tree.map(lambda g: g / rule.batch, (update, own))


def directions(rule: Rule, network: Network, w: Params, batch: Weighed, key: Any) -> tuple[Params, Any]:
    """Return the directions of both updates, the fastest way for the rule."""
    sums = summed(network, w, batch)
    if rule.privacy == "joint" and rule.debias:
        return joint_direction(rule, network, batch, sums, key)
    return direction(rule, sums, key)


def optimisers_of(optimiser: str, rates: tuple[float, float]) -> tuple[optax.GradientTransformation, ...]:
    """Return the optimisers of predictor and adversary."""
    return tuple(OPTIMISERS[optimiser](rate) for rate in rates)


@lru_cache(maxsize=16)
def make_epoch(network: Network, optimiser: str) -> Callable[..., tuple[State, Any]]:
    """Return a function that runs the first `count` of the steps drawn, compiled once for rules that differ in numbers.

    (rule, rates, state, data, rows, real, keys, count) -> (state, losses), the losses as many as there are rows; rates
    are the learning rates of predictor and adversary (α_c and α_a).
    """

    def step(rule: Rule, rates: tuple[Any, Any], data: Any, state: State, drawn: tuple[Any, Any, Any]) -> Any:
        optimisers = optimisers_of(optimiser, rates)
        rows, real, key = drawn
        example = (*(part[rows] for part in data), real)
        batch = weighed(rule, network, state.w, state.u, example)
        update, own = directions(rule, network, state.w, batch, key)
        change, w_moments = optimisers[0].update(update, state.w_moments)
        w, u, u_moments = optax.apply_updates(state.w, change), state.u, state.u_moments
        if rule.debias:
            change, u_moments = optimisers[1].update(own, u_moments)
            u = optax.apply_updates(u, change)
        return State(w, u, w_moments, u_moments), jnp.stack([jnp.asarray(v, jnp.float32) for v in batch.losses])

    def epoch(rule: Rule, rates: Any, state: State, data: Any, rows: Any, real: Any, keys: Any, count: Any) -> Any:
        def one(i: Any, carried: tuple[State, Any]) -> tuple[State, Any]:
            state, seen = step(rule, rates, data, carried[0], (rows[i], real[i], keys[i]))
            return state, carried[1].at[i].set(seen)

        return jax.lax.fori_loop(0, count, one, (state, jnp.zeros((len(rows), 2), jnp.float32)))

    return jax.jit(epoch)
