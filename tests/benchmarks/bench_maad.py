"""One DP + debias step of Algorithm 1 (batch 16, Adult's width), ours against vmap(grad) in JAX and against Opacus."""

import importlib.util
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.fastest import in_turns, seconds_of

BATCH, FEATURES, ATTRIBUTES, STEPS, ROUNDS = 16, 18, 2, 40, 5


def _data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (STEPS, BATCH, FEATURES)).astype(np.float32)
    return x, *(rng.integers(0, 2, (STEPS, BATCH, *more)).astype(np.float32) for more in ((), (ATTRIBUTES,)))


def _jax_steps() -> tuple[dict[str, Callable[[], Any]], float]:
    """Return both ways to run the same steps, compiled, and how far their gradient sums are apart."""
    from fairpriv.defenses.adversarial import adversary, networks
    from fairpriv.defenses.adversarial.maad_step import (
        Gradients,
        Rule,
        directions,
        norm,
        optimisers_of,
        projected,
        summed,
        weighed,
    )
    from fairpriv.jax_cpu import jax, jnp

    rule = Rule(True, "joint", "equality_of_odds", 0.2, 0.5, 1.0, BATCH)
    network = networks.mlp(FEATURES)
    w, u = network.init(jax.random.key(0)), adversary.init(jax.random.key(1), rule.criterion, ATTRIBUTES)
    optimisers = optimisers_of("adam", (0.001, 0.001))
    data = tuple(map(jnp.asarray, _data()))
    keys = jax.random.split(jax.random.key(2), STEPS)

    def task(w: Any, x: Any, y: Any) -> Any:
        logit = network.logits(w, x[None])[0]
        return jax.nn.softplus(logit) - y * logit

    def steer(w: Any, u: Any, x: Any, y: Any, s: Any) -> Any:
        return adversary.loss(u, network.logits(w, x[None])[0], y, s, rule.criterion)

    def materialised(w: Any, u: Any, x: Any, y: Any, s: Any) -> Any:
        """Every example's gradients, then clipped and summed: the obvious way."""
        each = (
            jax.vmap(jax.grad(task), (None, 0, 0))(w, x, y),
            *jax.vmap(jax.grad(steer, (0, 1)), (None, None, 0, 0, 0))(w, u, x, y, s),
        )
        squares = sum((g**2).reshape(BATCH, -1).sum(axis=1) for g in jax.tree.leaves(each))
        factor = jnp.minimum(1.0, rule.clip / jnp.sqrt(squares))
        return jax.tree.map(lambda g: jnp.tensordot(factor, g, 1), each)

    def obvious(w: Any, u: Any, x: Any, y: Any, s: Any, key: Any) -> Any:
        """Sum, noise of JAX's own on every entry, projection."""
        leaves, shape = jax.tree.flatten(materialised(w, u, x, y, s))
        noise = jax.random.normal(key, (-(-sum(leaf.size for leaf in leaves) // 512) * 512,))
        cuts = np.cumsum([leaf.size for leaf in leaves])[:-1]
        pieces = jnp.split(noise, [*cuts, cuts[-1] + leaves[-1].size])
        noised = [(g + 0.5 * n.reshape(g.shape)) / BATCH for g, n in zip(leaves, pieces)]
        task, steer, own = jax.tree.unflatten(shape, noised)
        return projected(task, steer, rule.gamma), own

    def ours(w: Any, u: Any, x: Any, y: Any, s: Any, key: Any) -> Any:
        return directions(rule, network, w, weighed(rule, network, w, u, (x, y, s, jnp.ones(BATCH))), key)

    def runner(way: Callable[..., Any]) -> Callable[[], Any]:
        def step(state: Any, drawn: Any) -> tuple[Any, None]:
            w, u, mw, mu = state
            update, own = way(w, u, *drawn)
            change, mw = optimisers[0].update(update, mw)
            own_change, mu = optimisers[1].update(own, mu)
            add = lambda a, b: a + b  # noqa: E731
            return (jax.tree.map(add, w, change), jax.tree.map(add, u, own_change), mw, mu), None

        run = jax.jit(lambda state, drawn: jax.lax.scan(step, state, drawn)[0])
        state = (w, u, optimisers[0].init(w), optimisers[1].init(u))

        def go() -> None:
            with jax.threefry_partitionable(False):  # as training has it; the faster layout for both
                jax.block_until_ready(run(state, (*data, keys)))

        return go

    def ghost(w: Any, u: Any, x: Any, y: Any, s: Any) -> Gradients:
        return summed(network, w, weighed(rule, network, w, u, (x, y, s, jnp.ones(BATCH))))[:3]

    first = tuple(part[0] for part in data)
    apart = float(norm(jax.tree.map(lambda a, b: a - b, *(jax.jit(f)(w, u, *first) for f in (ghost, materialised)))))
    return {"ours": runner(ours), "materialised": runner(obvious)}, apart


def _opacus_step() -> Callable[[], Any]:
    """Return the DP-SGD part alone (no adversary, no projection) in Opacus: less work than our step does."""
    import torch
    from opacus.grad_sample import GradSampleModule

    torch.manual_seed(0)
    torch.set_num_threads(1)
    layers = [torch.nn.Linear(FEATURES, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU()]
    model = GradSampleModule(torch.nn.Sequential(*layers, torch.nn.Linear(256, 1)), loss_reduction="sum")
    optimiser = torch.optim.Adam(model.parameters(), lr=0.001)
    x, y, _ = map(torch.as_tensor, _data())

    def run() -> None:
        for i in range(STEPS):
            optimiser.zero_grad()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(model(x[i])[:, 0], y[i], reduction="sum")
            loss.backward()
            parameters = list(model.parameters())
            norms = sum((p.grad_sample**2).flatten(1).sum(1) for p in parameters).sqrt()
            factor = (1.0 / norms.clamp(min=1e-12)).clamp(max=1.0)
            for p in parameters:
                total = torch.einsum("n,n...->...", factor, p.grad_sample)
                p.grad = (total + 0.5 * torch.randn_like(total)) / BATCH
                p.grad_sample = None
            optimiser.step()

    return run


def bench() -> list[tuple[str, float, float, float, str]]:
    """Return (name, our seconds, reference seconds, ratio, note) for each measurement."""
    ways, apart = _jax_steps()
    missing = [name for name in ("torch", "opacus") if importlib.util.find_spec(name) is None]
    if not missing:
        ways["opacus"] = _opacus_step()
    took = in_turns({name: lambda way=way: seconds_of(way) / STEPS for name, way in ways.items()}, ROUNDS)
    ours = took["ours"]
    rows = [
        (
            "DP + debias step, batch 16, 18-256-256-1, vs vmap(grad)",
            ours,
            took["materialised"],
            took["materialised"] / ours,
            f"same law of noise in both; gradient sums {apart:.0e} apart; one thread",
        )
    ]
    if missing:
        note = f"skipped: {' and '.join(missing)} not installed"
        rows.append(("DP + debias step vs Opacus", ours, math.nan, math.nan, note))
    else:
        note = "Opacus does the DP step without adversary or projection: less work than ours"
        rows.append(("DP + debias step vs Opacus", ours, took["opacus"], took["opacus"] / ours, note))
    return rows
