"""Predictor networks whose layers can be tapped: what went into each, and what the output owes to what came out.

A network is a list of layers of three kinds, each with a known per-example gradient (see `ghost`):
`dense` (out = in·w + b), `scale` (out = in∘w + b) and `embed` (out = w[token]).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fairpriv.jax_cpu import jax, jnp, matmul

Params = dict[str, dict[str, Any]]


class Tape:
    """Runs layers, remembers each one's input and adds `taps[layer]` to its output."""

    def __init__(self, params: Params, taps: Mapping[str, Any] | None = None) -> None:
        self.params, self.taps = params, taps
        self.inputs: dict[str, Any] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}

    def _out(self, layer: str, given: Any, out: Any) -> Any:
        self.inputs[layer], self.shapes[layer] = given, out.shape
        return out if self.taps is None else out + self.taps[layer]

    def dense(self, layer: str, x: Any) -> Any:
        """Return x·w + b."""
        return self._out(layer, x, matmul(x, self.params[layer]["w"]) + self.params[layer]["b"])

    def scale(self, layer: str, x: Any) -> Any:
        """Return x∘w + b."""
        return self._out(layer, x, x * self.params[layer]["w"] + self.params[layer]["b"])

    def embed(self, layer: str, tokens: Any) -> Any:
        """Return the rows of w."""
        return self._out(layer, tokens, self.params[layer]["w"][tokens])


@dataclass(frozen=True, eq=False)
class Network:
    """A predictor: `kinds` of its layers, `init(key)` its weights, `forward(tape, x)` its logits, one an example."""

    kinds: Mapping[str, str]
    init: Callable[[Any], Params]
    forward: Callable[[Tape, Any], Any]

    def logits(self, params: Params, x: Any) -> Any:
        """Return the logits."""
        return self.forward(Tape(params), x)


def dense_weights(key: Any, inputs: int, outputs: int) -> dict[str, Any]:
    """Draw the weights of a dense layer: Glorot's uniform range, no bias."""
    limit = math.sqrt(6.0 / (inputs + outputs))
    return {"w": jax.random.uniform(key, (inputs, outputs), minval=-limit, maxval=limit), "b": jnp.zeros(outputs)}


@lru_cache(maxsize=16)
def mlp(inputs: int, hidden: tuple[int, ...] = (256, 256)) -> Network:
    """Return the feed-forward predictor (maad2023, Section 4.2: two hidden layers of 256)."""
    widths = (inputs, *hidden, 1)
    names = [f"dense{i}" for i in range(len(widths) - 1)]

    def init(key: Any) -> Params:
        keys = jax.random.split(key, len(names))
        return {name: dense_weights(k, *widths[i : i + 2]) for i, (name, k) in enumerate(zip(names, keys))}

    def forward(tape: Tape, x: Any) -> Any:
        for name in names[:-1]:
            x = jax.nn.relu(tape.dense(name, x))
        return tape.dense(names[-1], x)[:, 0]

    return Network(dict.fromkeys(names, "dense"), init, forward)


def _positions(length: int, width: int) -> Any:
    """Return the sinusoids that tell positions apart (Vaswani et al. 2017, Section 3.5)."""
    angle = jnp.arange(length)[:, None] / 10_000.0 ** (2 * (jnp.arange(width) // 2) / width)
    return jnp.where(jnp.arange(width) % 2 == 0, jnp.sin(angle), jnp.cos(angle))


def _normalised(x: Any) -> Any:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / jnp.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)


def transformer(
    width: int, *, heads: int = 4, feed_forward: int = 64, vocabulary: int = 0, vectors: Any = None
) -> Network:
    """Return the text predictor (maad2023, Section 4.2: four heads, feed-forward 64), on tokens (0 is padding).

    Word vectors are learned (`vocabulary` of them) or given and kept as they are (`vectors`, a row a token).
    """
    names = ["query", "key", "value", "mixed", "inner", "outer", "output"]
    kinds = dict.fromkeys(names, "dense") | {"norm1": "scale", "norm2": "scale"}
    if vectors is None:
        kinds["words"] = "embed"

    def init(key: Any) -> Params:
        keys = dict(zip([*names, "words"], jax.random.split(key, len(names) + 1)))
        sizes = {"inner": (width, feed_forward), "outer": (feed_forward, width), "output": (width, 1)}
        params = {name: dense_weights(keys[name], *sizes.get(name, (width, width))) for name in names}
        for name in ("norm1", "norm2"):
            params[name] = {"w": jnp.ones(width), "b": jnp.zeros(width)}
        if vectors is None:
            params["words"] = {"w": 0.1 * jax.random.normal(keys["words"], (vocabulary, width))}
        return params

    def forward(tape: Tape, tokens: Any) -> Any:
        n, length = tokens.shape
        real = (tokens > 0).astype(jnp.float32)
        x = tape.embed("words", tokens) if vectors is None else jnp.asarray(vectors)[tokens]
        x = x + _positions(length, width)
        parts = (tape.dense(name, x).reshape(n, length, heads, width // heads) for name in ("query", "key", "value"))
        query, key, value = parts
        scores = jnp.einsum("nihd,njhd->nhij", query, key) / math.sqrt(width // heads)
        weights = jax.nn.softmax(jnp.where(real[:, None, None, :] > 0, scores, -1e9), axis=-1)
        seen = jnp.einsum("nhij,njhd->nihd", weights, value).reshape(n, length, width)
        x = tape.scale("norm1", _normalised(x + tape.dense("mixed", seen)))
        inner = tape.dense("outer", jax.nn.relu(tape.dense("inner", x)))
        x = tape.scale("norm2", _normalised(x + inner))
        mean = (x * real[:, :, None]).sum(axis=1) / jnp.maximum(real.sum(axis=1), 1.0)[:, None]
        return tape.dense("output", mean)[:, 0]

    return Network(kinds, init, forward)
