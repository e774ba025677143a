"""The adversary: guesses every sensitive attribute from the predictor's output (and the label, by the criterion)."""

from typing import Any

from fairpriv.jax_cpu import jax, jnp


def seen(criterion: str, score: Any, label: Any) -> Any:
    """Return the adversary's inputs for one example: (ŷ, y) for equality of odds, ŷ alone for the others."""
    if criterion == "equality_of_odds":
        return jnp.stack([score, score * label, score * (1 - label)])
    return jnp.stack([score])


def init(key: Any, criterion: str, attributes: int) -> dict[str, Any]:
    """Draw the adversary's weights U."""
    inputs = 3 if criterion == "equality_of_odds" else 1
    limit = (6.0 / (inputs + attributes)) ** 0.5
    return {
        "sharpness": jnp.ones(()),
        "w": jax.random.uniform(key, (inputs, attributes), minval=-limit, maxval=limit),
        "b": jnp.zeros(attributes),
    }


def loss(u: dict[str, Any], logit: Any, label: Any, sensitive: Any, criterion: str) -> Any:
    """Return L_A of one example: binary cross-entropy averaged over the attributes (Section 4.3), one sigmoid each."""
    score = jax.nn.sigmoid((1.0 + jnp.abs(u["sharpness"])) * logit)
    guess = seen(criterion, score, label) @ u["w"] + u["b"]
    entropy = jnp.mean(jax.nn.softplus(guess) - sensitive * guess)
    return entropy * label if criterion == "equality_of_opportunity" else entropy  # only those with y = 1


def gradients(u: dict[str, Any], logit: Any, label: Any, sensitive: Any, criterion: str) -> tuple[Any, Any, Any]:
    """Return for each example L_A, ∂L_A/∂logit and ∇_U L_A (U is small: these are materialised)."""

    def one(logit: Any, label: Any, sensitive: Any) -> tuple[Any, tuple[Any, Any]]:
        return jax.value_and_grad(loss, argnums=(0, 1))(u, logit, label, sensitive, criterion)

    value, (to_u, to_logit) = jax.vmap(one)(logit, label, sensitive)
    return value, to_logit, to_u
