"""Training by Algorithm 1 (maad2023): batches drawn, epochs compiled, losses watched."""

from typing import Any

import numpy as np

from fairpriv.defenses.adversarial import adversary, sampling
from fairpriv.defenses.adversarial.maad_step import Rule, State, make_epoch, optimisers_of
from fairpriv.defenses.adversarial.networks import Network, Params
from fairpriv.defenses.training_failed import TrainingFailed
from fairpriv.errors import BadRequest
from fairpriv.jax_cpu import jax, jnp


def check_losses(losses: np.ndarray, before: int) -> None:
    """Refuse losses that are no numbers, and say at which step of training that was."""
    bad = ~np.isfinite(losses).all(axis=1)
    if bad.any():
        raise TrainingFailed(f"the loss is not finite at step {before + int(np.argmax(bad)) + 1}")


def _finite(params: Any) -> bool:
    return all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(params))


def filled(part: np.ndarray, length: int) -> np.ndarray:
    """Return the part with zeros after it: one shape, one compile."""
    return np.concatenate([part, np.zeros((length - len(part), *part.shape[1:]), part.dtype)])


def train(
    rule: Rule,
    network: Network,
    data: tuple[np.ndarray, np.ndarray, np.ndarray],
    steps: int,
    rates: tuple[float, float],
    optimiser: str,
    rng: np.random.Generator,
) -> tuple[Params, np.ndarray, float]:
    """Train for `steps` steps on (x, y, s).

    Return W, both losses of each step, and the share of batches in which some attribute has one group only.

    rates : learning rates of predictor and adversary (α_c and α_a).
    """
    x, y, s = data
    draw = sampling.shuffled if rule.privacy == "none" else sampling.poisson
    batches = draw(len(y), rule.batch, steps, rng)
    lacking = sampling.one_sided(s, batches)
    if rule.debias and lacking.all(axis=0).any():
        blind = int(np.argmax(lacking.all(axis=0)))
        raise BadRequest(f"no batch has both groups of attribute {blind}: raise batch={rule.batch}")
    # the older layout of JAX's generator draws the same quality of bits in two thirds of the time
    with jax.threefry_partitionable(False):
        first, second, noise = jax.random.split(jax.random.key(int(rng.integers(2**63))), 3)
        w = network.init(first)
        u = adversary.init(second, rule.criterion, s.shape[1])
        optimisers = optimisers_of(optimiser, rates)
        state = State(w, u, optimisers[0].init(w), optimisers[1].init(u))
        epoch = make_epoch(network, optimiser)
        arrays = (jnp.asarray(x), jnp.asarray(y, jnp.float32), jnp.asarray(s, jnp.float32))
        length = max(100, len(y) // rule.batch)
        losses = []
        for at in range(0, steps, length):
            count = min(length, steps - at)
            rows, real = (filled(part[at : at + count], length) for part in batches)
            keys = jax.vmap(lambda i: jax.random.fold_in(noise, i))(jnp.arange(at, at + length))
            state, seen = epoch(rule, rates, state, arrays, rows, real, keys, count)
            losses.append(np.asarray(seen)[:count])
            check_losses(losses[-1], at)
    if not _finite(state.w):
        raise TrainingFailed(f"the weights are not finite after step {steps}")
    return state.w, np.concatenate(losses), float(lacking.any(axis=1).mean())


def predict(network: Network, w: Params, x: np.ndarray, chunk: int = 2048) -> np.ndarray:
    """Return P(y = 1) of each row."""
    run = jax.jit(network.logits)
    out = []
    for at in range(0, len(x), chunk):
        part = x[at : at + chunk]
        out.append(np.asarray(jax.nn.sigmoid(run(w, filled(part, chunk))))[: len(part)])
    return np.concatenate(out) if out else np.zeros(0, np.float32)
