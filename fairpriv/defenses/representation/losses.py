"""Terms that the methods' losses are made of. Each returns a mean over the batch, in nats."""

from typing import Any

from fairpriv.jax_cpu import jax, jnp, matmul


def cross_entropy(logits: Any, classes: Any, weights: Any = None) -> Any:
    """−log q(class), for one column of logits a class; `weights` (n,) weigh the examples."""
    nats = -jnp.take_along_axis(jax.nn.log_softmax(logits), classes[:, None], axis=1)[:, 0]
    return nats.mean() if weights is None else (nats * weights).mean()


def squared_error(found: Any, x: Any) -> Any:
    """½‖x̂ − x‖²: −log of a Gaussian with unit variance, its constant left out."""
    return 0.5 * jnp.square(found - x).reshape(len(x), -1).sum(axis=1).mean()


def gaussian_kl(mean: Any, log_variance: Any) -> Any:
    """KL(N(mean, variance) ‖ N(0, I)), summed over dimensions (Kingma & Welling 2014, Appendix B)."""
    return 0.5 * (jnp.square(mean) + jnp.exp(log_variance) - 1 - log_variance).sum(axis=-1).mean()


def reverse(z: Any, strength: Any) -> Any:
    """Return z itself, its gradient times −strength: whoever learns from it works against whoever made z."""
    return jax.lax.stop_gradient((1 + strength) * z) - strength * z


# Taylor's coefficients in r², highest first: for |r| <= π/2 what is left out is below 1e-8
_COS = (1 / 479001600, -1 / 3628800, 1 / 40320, -1 / 720, 1 / 24, -1 / 2, 1.0)


def cosine(x: Any) -> Any:
    """Return cos x within 1e-5 for |x| < 100, in a fraction of the time: XLA's own is not vectorised."""
    turns = jnp.round(x / jnp.pi)
    return (1 - 2 * jnp.abs(turns % 2)) * jnp.polyval(jnp.array(_COS, x.dtype), (x - turns * jnp.pi) ** 2)


def mmd(z: Any, s: Any, directions: Any, phases: Any) -> Any:
    """Squared maximum mean discrepancy of two groups by random features (Louizos et al. 2016, Equations 9-10)."""
    features = jnp.sqrt(2 / directions.shape[1]) * cosine(matmul(jnp.sqrt(2.0) * z, directions) + phases)
    ones = s.astype(z.dtype)[:, None]
    n1 = jnp.maximum(ones.sum(), 1)
    n0 = jnp.maximum(len(z) - ones.sum(), 1)
    gap = (ones * features).sum(axis=0) / n1 - ((1 - ones) * features).sum(axis=0) / n0
    return jnp.square(gap).sum()
