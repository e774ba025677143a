"""Vector quantisation (van den Oord et al. 2017), as xie2024, Appendix A.1.4, uses it."""

from typing import Any

from fairpriv.jax_cpu import jax, jnp


def nearest(codebook: Any, features: Any) -> Any:
    """Return the index of the nearest embedding (57): features (n, d, D), codebook (d, k, D), result (n, d)."""
    distance = jnp.square(features[:, :, None, :] - codebook[None]).sum(axis=-1)
    return jnp.argmin(distance, axis=-1)


def embed(codebook: Any, codes: Any) -> Any:
    """Return the embeddings of codes (n, d) as (n, d, D)."""
    return jnp.take_along_axis(codebook[None], codes[:, :, None, None], axis=2)[:, :, 0, :]


def straight_through(features: Any, quantised: Any) -> Any:
    """Return the quantised features; their gradient goes to the features as if nothing had happened in between."""
    return features + jax.lax.stop_gradient(quantised - features)


def quantisation_loss(features: Any, quantised: Any, commitment: float) -> Any:
    """Return the terms added in (58): embeddings move to the features, features are held near their embedding."""
    towards = jnp.square(jax.lax.stop_gradient(features) - quantised).sum(axis=(1, 2)).mean()
    held = jnp.square(features - jax.lax.stop_gradient(quantised)).sum(axis=(1, 2)).mean()
    return towards + commitment * held
