"""One step of Algorithm 1 (maad2023), without privacy, as printed, and with one joint Gaussian mechanism.

printed   the batch gradient is projected, clipped to C and noised by N(0, σ²C²): one example can turn a clipped
          gradient around, so the sensitivity is 2C; the adversary's own update has no noise at all.
joint     each example's (∇_W L_P, ∇_W L_A, ∇_U L_A) is clipped to C as one vector, the sum is noised by N(0, σ²C²), and
          projection, −γ and both updates come after: post-processing of a mechanism with sensitivity C.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import optax

from fairpriv.training import adversary
from fairpriv.training.cpu import jax, jnp
from fairpriv.training.ghost import squared_norms, tap, weighted_sum
from fairpriv.training.networks import Network, Params

OPTIMISERS = {"adam": optax.adam, "sgd": optax.sgd}
SENSITIVITY = {"printed": 2.0, "joint": 1.0}  # in units of C


@dataclass(frozen=True)
class Rule:
    """What a step does: see the plug-in `maad` for the meaning of each."""

    debias: bool
    privacy: str
    criterion: str
    gamma: float
    sigma: float
    clip: float
    batch: int


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


def summed(rule: Rule, network: Network, w: Params, u: dict[str, Any], example: tuple[Any, Any, Any, Any]) -> Gradients:
    """Return the batch's gradients; under `joint`, sums of jointly clipped per-example gradients."""
    x, y, s, real = example
    tapped = tap(network, w, x)
    logit = tapped.logit
    to_task = (jax.nn.sigmoid(logit) - y) * real  # ∂L_P/∂logit of the cross-entropy
    loss_p = ((jax.nn.softplus(logit) - y * logit) * real).sum() / jnp.maximum(real.sum(), 1.0)
    loss_a, to_steer, own = 0.0, None, None
    if rule.debias:
        each, to_steer, own = adversary.gradients(u, logit, y, s, rule.criterion)
        loss_a = (each * real).sum() / jnp.maximum(real.sum(), 1.0)
    weights = real
    if rule.privacy == "joint":
        multiples = to_task**2 + (to_steer**2 if rule.debias else 0.0)
        squares = multiples * squared_norms(network, tapped)
        if rule.debias:
            squares += sum((g**2).reshape(len(y), -1).sum(axis=1) for g in own.values())
        weights = real * jnp.minimum(1.0, rule.clip / jnp.sqrt(jnp.maximum(squares, 1e-24)))
    task = weighted_sum(network, w, tapped, weights * to_task)
    if not rule.debias:
        return Gradients(task, None, None, (loss_p, loss_a))
    steer = weighted_sum(network, w, tapped, weights * to_steer)
    own = {name: jnp.tensordot(weights, g, 1) for name, g in own.items()}
    return Gradients(task, steer, own, (loss_p, loss_a))


def noised(tree: Any, deviation: float, key: Any) -> Any:
    """Add N(0, deviation²) to every entry, drawn at once."""
    leaves, shape = jax.tree.flatten(tree)
    whole = -(-sum(leaf.size for leaf in leaves) // 256) * 256  # odd sizes are drawn five times slower
    noise = deviation * jax.random.normal(key, (whole,))
    out, at = [], 0
    for leaf in leaves:
        out.append(leaf + noise[at : at + leaf.size].reshape(leaf.shape))
        at += leaf.size
    return jax.tree.unflatten(shape, out)


def projected(task: Params, steer: Params, gamma: float) -> Params:
    """Return equation (2), variable by variable as AIF360 does: g − ⟨g, u⟩u − γ∇_W L_A, u = ∇_W L_A normalised."""

    def one(g: Any, a: Any) -> Any:
        unit = a / jnp.maximum(jnp.sqrt((a**2).sum()), 1e-12)
        return g - (g * unit).sum() * unit - gamma * a

    return jax.tree.map(one, task, steer)


def direction(rule: Rule, sums: Gradients, key: Any) -> tuple[Params, dict[str, Any] | None]:
    """Return the directions of both updates: what is done with the batch's sums, noise included."""
    if rule.privacy == "joint":
        sums = sums._replace(**dict(zip(("task", "steer", "own"), noised(sums[:3], rule.sigma * rule.clip, key))))
    task, steer, own = jax.tree.map(lambda g: g / rule.batch, sums[:3])
    update = projected(task, steer, rule.gamma) if rule.debias else task
    if rule.privacy == "printed":  # lines 14 and 15 of Algorithm 1
        update = jax.tree.map(lambda g: g * jnp.minimum(1.0, rule.clip / jnp.maximum(norm(update), 1e-12)), update)
        update = noised(update, rule.sigma * rule.clip, key)
    return update, own


def optimisers_of(optimiser: str, rates: tuple[float, float]) -> tuple[optax.GradientTransformation, ...]:
    """Return the optimisers of predictor and adversary."""
    return tuple(OPTIMISERS[optimiser](rate) for rate in rates)


@lru_cache(maxsize=16)
def make_epoch(
    rule: Rule, network: Network, optimiser: str, rates: tuple[float, float]
) -> Callable[..., tuple[State, Any]]:
    """Return a function that runs many steps, compiled once: (state, data, rows, real, keys) -> (state, losses)."""
    optimisers = optimisers_of(optimiser, rates)

    def step(data: tuple[Any, Any, Any], state: State, drawn: tuple[Any, Any, Any]) -> tuple[State, Any]:
        rows, real, key = drawn
        example = (*(part[rows] for part in data), real)
        sums = summed(rule, network, state.w, state.u, example)
        update, own = direction(rule, sums, key)
        change, w_moments = optimisers[0].update(update, state.w_moments)
        w, u, u_moments = optax.apply_updates(state.w, change), state.u, state.u_moments
        if rule.debias:
            change, u_moments = optimisers[1].update(own, u_moments)
            u = optax.apply_updates(u, change)
        return State(w, u, w_moments, u_moments), jnp.stack([jnp.asarray(v, jnp.float32) for v in sums.losses])

    def epoch(state: State, data: tuple[Any, Any, Any], rows: Any, real: Any, keys: Any) -> tuple[State, Any]:
        return jax.lax.scan(lambda s, d: step(data, s, d), state, (rows, real, keys))

    return jax.jit(epoch)
