"""The product of networks: cut into short sums, it is the product still, and so is its gradient."""

import numpy as np
import pytest

from fairpriv.jax_cpu import LONGEST_SUM, jax, jnp, matmul


@pytest.mark.parametrize("k", [1, LONGEST_SUM, LONGEST_SUM + 1, 2 * LONGEST_SUM, 700])
@pytest.mark.parametrize("front", [(5,), (2, 3)])
def test_matmul_is_the_product(k, front):
    rng = np.random.default_rng(k)
    a, b = rng.standard_normal((*front, k)).astype(np.float32), rng.standard_normal((k, 4)).astype(np.float32)
    weights = rng.standard_normal((*front, 4)).astype(np.float32)
    np.testing.assert_allclose(matmul(a, b), a.astype(float) @ b.astype(float), atol=1e-4)
    ours = jax.grad(lambda a, b: (weights * matmul(a, b)).sum(), (0, 1))(a, b)
    plain = jax.grad(lambda a, b: (weights * jnp.matmul(a, b)).sum(), (0, 1))(a, b)
    for one, other in zip(ours, plain):
        np.testing.assert_allclose(one, other, atol=1e-4)


def test_no_product_sums_over_more():
    """In the gradient neither: what XLA is given contracts 256 terms at the most."""
    a, b = np.ones((900, 700)), np.ones((700, 600))
    whole = jax.make_jaxpr(jax.grad(lambda a, b: matmul(a, b).sum(), (0, 1)))(a, b)
    assert max(_lengths(whole.jaxpr)) == LONGEST_SUM


def _lengths(jaxpr):
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            (left, _), _ = equation.params["dimension_numbers"]
            yield int(np.prod([equation.invars[0].aval.shape[axis] for axis in left]))
        for inner in equation.params.values():
            if hasattr(inner, "jaxpr"):
                yield from _lengths(inner.jaxpr)
