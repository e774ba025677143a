"""The projected update from one Gaussian vector in place of two, exact in law, without forming the gradients.

Wanted, for a weight matrix with task gradient g and adversary's gradient a (sums over the batch), n₁, n₂ ~ N(0, s²I):
    U = g̃ − c ã,  g̃ = g + n₁,  ã = a + n₂,  c = ⟨g̃, ã⟩/‖ã‖² + γ        (equation (2) on noised sums)
c needs inner products only. Let e₁, e₂ be an orthonormal basis of span(a, g). There, n₁ and n₂ are two scalar normals
each. Off it, (n₁', n₂') is invariant under rotation: U' = n₁' − c n₂' has a uniform direction independent of the Gram
matrix of n₁', n₂'. So with n' the part of one Gaussian vector n off the span, R = ‖n'‖, z normal and ρ² ~ χ²
(Bartlett's decomposition: n₁' = R n'/R, ⟨n₁', n₂'⟩ = R z, ‖n₂'‖² = z² + ρ²):
    U = g − c a + s(x₁ − c x₃) e₁ + s(x₂ − c x₄) e₂ + κ n',   κ = s √((R − c z)² + c²ρ²) / R
In a dense layer every vector of the span is Aᵀ diag(v) D for weights v an example, A what went in and D what the logit
owes to what came out: inner products are v'ᵀ K v with K = AAᵀ ∘ DDᵀ, and U is one such product plus κ n.
"""

from typing import Any, NamedTuple

from fairpriv.jax_cpu import jnp, matmul

SCALARS = 5  # x₁ … x₄ and z
TINY = 1e-6  # a squared length below this part of what was added up is rounding


class Span(NamedTuple):
    """An orthonormal basis of span(a, g) as weights an example (zero where there is no such direction)."""

    first: Any
    second: Any
    gram: Any


def _unit(weights: Any, gram: Any, whole: Any) -> Any:
    """Return the weights scaled to a vector of length one, or zeros where it is rounding of what `whole` adds up."""
    square = (matmul(weights, gram) * weights).sum()
    most = (jnp.abs(whole) * jnp.sqrt(jnp.maximum(jnp.diagonal(gram), 0.0))).sum() ** 2
    there = square > TINY * most
    return jnp.where(there, weights / jnp.sqrt(jnp.where(there, square, 1.0)), 0.0)


def span_of(inputs: Any, owed: Any, task: Any, steer: Any) -> Span:
    """Return the basis: along a first, then along what of g is not along a."""
    gram = matmul(inputs, inputs.T) * matmul(owed, owed.T)
    first = _unit(steer, gram, steer)
    return Span(first, _unit(task - (matmul(task, gram) * first).sum() * first, gram, task), gram)


def update(
    inputs: Any, owed: Any, task: Any, steer: Any, noise: tuple[Any, Any, Any], deviation: float, gamma: float
) -> Any:
    """Return U of a dense layer's weight matrix.

    noise : n (shaped as the matrix), five standard normals, and χ² with (entries − 3) degrees of freedom.
    """
    n, scalars, chi2 = noise
    span = span_of(inputs, owed, task, steer)
    there = jnp.stack([(v != 0).any() for v in (span.first, span.second)]).astype(n.dtype)
    x, z = scalars[:4].reshape(2, 2), scalars[4]
    one, two = deviation * there * x[0], deviation * there * x[1]  # n₁ and n₂ along the basis
    basis = jnp.stack([span.first, span.second])
    along = (basis * (matmul(inputs, n) * owed).sum(axis=1)).sum(axis=1)  # n along the basis
    radius = jnp.sqrt((n**2).sum() - (along**2).sum())
    rest = chi2 + ((1 - there) * x[1] ** 2).sum()  # a direction that is not there is one more off the span
    g, a = ((basis * matmul(v, span.gram)).sum(axis=1) for v in (task, steer))  # the Gram matrix is symmetric
    inner = (g + one) @ (a + two) + deviation**2 * radius * z
    square = ((a + two) ** 2).sum() + deviation**2 * (z**2 + rest)
    c = inner / jnp.maximum(square, 1e-24) + gamma
    kappa = deviation * jnp.sqrt((radius - c * z) ** 2 + c**2 * rest) / radius
    weights = task - c * steer + (one - c * two - kappa * along) @ basis
    return matmul(inputs.T, owed * weights[:, None]) + kappa * n
