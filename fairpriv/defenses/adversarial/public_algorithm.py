"""The algorithm of AIF360's pull request 460, which may be what maad2023 ran: written anew from its description.

It differs from Algorithm 1 in six things: dropout in the predictor; an adversary with a hidden layer; a weighted sum of
its losses over the attributes in place of their mean; both nets trained alone first; the predictor's update applied
twice a step; and noise, where there is any, in the predictor's training alone: the joint steps take plain gradients.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import optax

from fairpriv.defenses.adversarial import adversary, networks, sampling
from fairpriv.defenses.adversarial.maad_step import Rule, directions, projected, weighed
from fairpriv.defenses.adversarial.networks import Network, Params
from fairpriv.defenses.adversarial.training import check_losses, filled
from fairpriv.jax_cpu import jax, jnp

UNITS = 64  # of the adversary's hidden layer
KEEP = 0.5  # part of the predictor's hidden units that dropout leaves
ALONE, JOINTLY = 10, 40  # epochs
TWICE = 2  # times that the predictor's update is applied in a joint step


@lru_cache(maxsize=16)
def dropout_mlp(inputs: int, hidden: tuple[int, ...]) -> Network:
    """Return the predictor, on (x, masks): a mask a hidden layer says what is kept. On x alone nothing is dropped."""
    plain = networks.mlp(inputs, hidden)

    def forward(tape: networks.Tape, given: Any) -> Any:
        x, masks = given if isinstance(given, tuple) else (given, [1.0] * len(hidden))
        names = list(plain.kinds)
        for name, mask in zip(names, masks):
            x = jax.nn.relu(tape.dense(name, x)) * mask
        return tape.dense(names[-1], x)[:, 0]

    return Network(plain.kinds, plain.init, forward)


def masks_of(key: Any, rows: int, hidden: tuple[int, ...]) -> list[Any]:
    """Draw what dropout keeps, scaled so that the mean stays."""
    keys = jax.random.split(key, len(hidden))
    return [jax.random.bernoulli(k, KEEP, (rows, width)).astype(jnp.float32) / KEEP for k, width in zip(keys, hidden)]


def init_adversary(key: Any, attributes: int) -> dict[str, Any]:
    """Draw the adversary's weights: three inputs, a hidden layer, an output an attribute."""
    first, second = jax.random.split(key)
    return {
        "sharpness": jnp.ones(()),
        "hidden": networks.dense_weights(first, 3, UNITS),
        "output": networks.dense_weights(second, UNITS, attributes),
    }


def adversary_loss(u: dict[str, Any], logit: Any, label: Any, sensitive: Any, weights: Any) -> Any:
    """Return the adversary's loss of a batch: cross-entropies summed over attributes with these weights."""
    score = jax.nn.sigmoid((1.0 + jnp.abs(u["sharpness"])) * logit)
    given = jax.vmap(lambda s, y: adversary.seen("equality_of_odds", s, y))(score, label)
    inner = jax.nn.relu(given @ u["hidden"]["w"] + u["hidden"]["b"])
    guess = inner @ u["output"]["w"] + u["output"]["b"]
    return ((jax.nn.softplus(guess) - sensitive * guess) * weights).sum(axis=1).mean()


class Nets(NamedTuple):
    """What training carries along."""

    w: Params
    u: dict[str, Any]
    w_moments: Any
    u_moments: Any


@dataclass(frozen=True)
class Settings:
    """What the user may set; see the plug-in `maad`."""

    debias: bool
    private: bool
    gamma: float
    sigma: float
    clip: float
    batch: int
    rates: tuple[float, float]
    hidden: tuple[int, ...]
    weights: tuple[float, ...]  # one an attribute

    def epochs_alone(self) -> int:
        """Return for how many epochs the predictor is trained alone: all of them where there is no adversary."""
        return ALONE if self.debias else ALONE + JOINTLY

    def steps_alone(self, n: int) -> int:
        """Return in how many steps."""
        return max(1, round(self.epochs_alone() * n / self.batch))


def _alone(network: Network, hidden: tuple[int, ...], rule: Rule, rate: Any, nets: Nets, batch: Any, key: Any) -> Any:
    """Return the nets after a step of the predictor alone, with noise where the rule has some; and its loss."""
    x, y, s, real = batch
    given = (x, masks_of(jax.random.fold_in(key, 1), len(y), hidden))
    found = weighed(rule, network, nets.w, nets.u, (given, y, s, real))
    update, _ = directions(rule, network, nets.w, found, key)
    change, moments = optax.adam(rate).update(update, nets.w_moments)
    return nets._replace(w=optax.apply_updates(nets.w, change), w_moments=moments), found.losses[0], 0.0


def _guessing(network: Network, weights: Any, rate: Any, nets: Nets, batch: Any) -> Any:
    """Return the nets after a step of the adversary alone, and its loss."""
    x, y, s, _ = batch
    loss, own = jax.value_and_grad(adversary_loss)(nets.u, network.logits(nets.w, x), y, s, weights)
    change, moments = optax.adam(rate).update(own, nets.u_moments)
    return nets._replace(u=optax.apply_updates(nets.u, change), u_moments=moments), 0.0, loss


def _jointly(
    network: Network, hidden: tuple[int, ...], weights: Any, gamma: Any, rates: Any, nets: Nets, batch: Any, key: Any
) -> Any:
    """Return the nets after a joint step without noise, and both losses."""
    x, y, s, _ = batch
    given = (x, masks_of(key, len(y), hidden))

    def losses(w: Params, u: dict[str, Any]) -> tuple[Any, Any]:
        logit = network.logits(w, given)
        return (jax.nn.softplus(logit) - y * logit).mean(), adversary_loss(u, logit, y, s, weights)

    loss_p, task = jax.value_and_grad(lambda w: losses(w, nets.u)[0])(nets.w)
    loss_a, (steer, own) = jax.value_and_grad(lambda w, u: losses(w, u)[1], argnums=(0, 1))(nets.w, nets.u)
    update, w, w_moments = projected(task, steer, gamma), nets.w, nets.w_moments
    for _ in range(TWICE):
        change, w_moments = optax.adam(rates[0]).update(update, w_moments)
        w = optax.apply_updates(w, change)
    change, u_moments = optax.adam(rates[1]).update(own, nets.u_moments)
    return Nets(w, optax.apply_updates(nets.u, change), w_moments, u_moments), loss_p, loss_a


@lru_cache(maxsize=16)
def make_phase(phase: str, network: Network, hidden: tuple[int, ...]) -> Callable[..., Any]:
    """Return a compiled function that runs the first `count` of the steps drawn of a phase."""

    def run(rule: Rule, rates: Any, weights: Any, nets: Nets, data: Any, drawn: Any, count: Any) -> Any:
        def one(i: Any, carried: tuple[Nets, Any]) -> tuple[Nets, Any]:
            nets, seen = carried
            rows, real, key = (part[i] for part in drawn)
            batch = (*(part[rows] for part in data), real)
            if phase == "alone":
                found = _alone(network, hidden, rule, rates[0], nets, batch, key)
            elif phase == "guessing":
                found = _guessing(network, weights, rates[1], nets, batch)
            else:
                found = _jointly(network, hidden, weights, rule.gamma, rates, nets, batch, key)
            return found[0], seen.at[i].set(jnp.stack([jnp.asarray(v, jnp.float32) for v in found[1:]]))

        return jax.lax.fori_loop(0, count, one, (nets, jnp.zeros((len(drawn[0]), 2), jnp.float32)))

    return jax.jit(run)


def train(
    settings: Settings, data: tuple[np.ndarray, np.ndarray, np.ndarray], rng: np.random.Generator
) -> tuple[Network, Params, np.ndarray]:
    """Train on (x, y, s); return the predictor, its weights, and both losses of each step."""
    x, y, s = data
    n, batch = len(y), settings.batch
    network = dropout_mlp(x.shape[1], settings.hidden)
    privacy = "joint" if settings.private else "none"
    rule = Rule(False, privacy, "equality_of_odds", settings.gamma, settings.sigma, settings.clip, batch)
    phases = [("alone", settings.steps_alone(n), sampling.poisson if settings.private else sampling.shuffled)]
    if settings.debias:
        steps = [max(1, round(epochs * n / batch)) for epochs in (ALONE, JOINTLY)]
        phases += [("guessing", steps[0], sampling.shuffled), ("jointly", steps[1], sampling.shuffled)]
    losses = []
    with jax.threefry_partitionable(False):
        first, second, draws = jax.random.split(jax.random.key(int(rng.integers(2**63))), 3)
        w, u = network.init(first), init_adversary(second, s.shape[1])
        nets = Nets(w, u, optax.adam(0.0).init(w), optax.adam(0.0).init(u))
        arrays = (jnp.asarray(x), jnp.asarray(y, jnp.float32), jnp.asarray(s, jnp.float32))
        weights, length = jnp.asarray(settings.weights, jnp.float32), max(100, n // batch)
        for number, (phase, steps, draw) in enumerate(phases):
            run, batches = make_phase(phase, network, settings.hidden), draw(n, batch, steps, rng)
            noise = jax.random.fold_in(draws, number)
            for at in range(0, steps, length):
                count = min(length, steps - at)
                keys = jax.vmap(lambda i, noise=noise: jax.random.fold_in(noise, i))(jnp.arange(at, at + length))
                drawn = (*(filled(part[at : at + count], length) for part in batches), keys)
                nets, seen = run(rule, settings.rates, weights, nets, arrays, drawn, count)
                losses.append(np.asarray(seen)[:count])
                check_losses(losses[-1], at)
    return network, nets.w, np.concatenate(losses)
