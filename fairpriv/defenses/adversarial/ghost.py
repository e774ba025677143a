"""Per-example gradients of the logit without materialising them (ghost clipping).

The losses of predictor and adversary see an example only through its logit, so both their gradients are multiples of
one ∂logit/∂W. In a dense layer this is (inputs)ᵀ(what the logit owes to the outputs): its norm, and any weighted sum
over the batch, follow from these two small matrices.
"""

from typing import Any, NamedTuple

from fairpriv.defenses.adversarial.networks import Network, Params, Tape
from fairpriv.jax_cpu import jax, jnp, matmul


class Tapped(NamedTuple):
    """One forward and backward pass: logits (n,), and for each layer its inputs and ∂logit/∂outputs."""

    logit: Any
    inputs: dict[str, Any]
    owed: dict[str, Any]


def tap(network: Network, params: Params, x: Any) -> Tapped:
    """Run the network on a batch and back once."""
    probe = Tape(params)
    jax.eval_shape(lambda: network.forward(probe, x))  # only to learn the shapes
    taps = {layer: jnp.zeros(shape) for layer, shape in probe.shapes.items()}

    def total(taps: dict[str, Any]) -> tuple[Any, tuple[Any, dict[str, Any]]]:
        tape = Tape(params, taps)
        logit = network.forward(tape, x)
        return logit.sum(), (logit, tape.inputs)  # examples do not mix: the gradient of the sum holds each one's own

    owed, (logit, inputs) = jax.grad(total, has_aux=True)(taps)
    return Tapped(logit, inputs, owed)


def _squares(x: Any) -> Any:
    return (x**2).reshape(len(x), -1).sum(axis=1)


def _over_places(kind: str, a: Any, d: Any) -> Any:
    """Return the squared norm of Σ_places a dᵀ (dense) or of the rows added to each word (embed), an example each."""
    if kind == "embed":  # noqa: SIM108
        alike = (a[:, :, None] == a[:, None, :]).astype(d.dtype)
    else:
        alike = jnp.einsum("nti,nsi->nts", a, a)
    return (alike * jnp.einsum("nto,nso->nts", d, d)).sum(axis=(1, 2))


def squared_norms(network: Network, tapped: Tapped) -> Any:
    """Return ‖∂logit/∂W‖² of each example."""
    total = 0.0
    for layer, kind in network.kinds.items():
        a, d = tapped.inputs[layer], tapped.owed[layer]
        if kind == "embed":
            total += _over_places(kind, a, d)
        elif kind == "scale":
            total += _squares((a * d).sum(axis=1)) + _squares(d.sum(axis=1))
        elif d.ndim == 2:
            total += _squares(d) * (_squares(a) + 1.0)  # an outer product; 1 for the bias
        else:
            total += _over_places(kind, a, d) + _squares(d.sum(axis=1))
    return total


def weighted_sum(network: Network, params: Params, tapped: Tapped, weights: Any) -> Params:
    """Return Σ_i weights_i ∂logit_i/∂W over the batch."""
    out = {}
    for layer, kind in network.kinds.items():
        a, d = tapped.inputs[layer], tapped.owed[layer]
        d = d * weights.reshape(-1, *[1] * (d.ndim - 1))
        places = tuple(range(d.ndim - 1))
        if kind == "embed":
            out[layer] = {"w": jnp.zeros_like(params[layer]["w"]).at[a].add(d)}
        elif kind == "scale":
            out[layer] = {"w": (a * d).sum(axis=places), "b": d.sum(axis=places)}
        else:
            rows = [part.reshape(-1, part.shape[-1]) for part in (a, d)]  # a row a place of an example
            out[layer] = {"w": matmul(rows[0].T, rows[1]), "b": d.sum(axis=places)}
    return out
