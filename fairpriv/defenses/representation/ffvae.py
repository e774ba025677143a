"""FFVAE: flexibly fair representations by disentanglement."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.representation.base import RepresentationDefense, Sample
from fairpriv.registry import param, register


@register
@dataclass(frozen=True)
class FFVAE(RepresentationDefense):
    """Flexibly fair VAE (Creager et al. 2019): x -> (z, b), b predicts s (`alpha`), z and b disentangled (`gamma`).

    b is removed before the representation is given away. The total correlation of (z, b) is estimated by a
    discriminator between (z, b) and (z, b of another row).
    """

    name: ClassVar[str] = "ffvae"
    paper: ClassVar[str] = "compared in xie2024, Section 6"
    draws: ClassVar[bool] = True

    alpha: float = param(1.0, "weight of log p(s given b)", at_least=0)
    gamma: float = param(1.0, "weight of disentanglement", at_least=0)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        validate.number("alpha", self.alpha, at_least=0)
        validate.number("gamma", self.gamma, at_least=0)

    def init(self, sample: Sample, rng: np.random.Generator) -> Any:
        """Draw encoder, decoder and discriminator."""
        from fairpriv.defenses.representation.networks import dense

        width = sample.x.shape[1]
        return {
            "encoder": dense(rng, width, self.hidden, 2 * self.d + 1),
            "decoder": dense(rng, self.d + 1, self.hidden, width),
            "discriminator": dense(rng, self.d + 1, self.hidden, 1),
        }

    def hyper(self, sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
        """Return the weights."""
        return {"alpha": self.alpha, "gamma": self.gamma}

    @staticmethod
    def loss(params: Any, batch: Any, hyper: Any) -> Any:
        """Reconstruction + KL - alpha log p(s|b) + gamma TC, and the discriminator's own loss."""
        from fairpriv.defenses.representation.autoencoders import draw
        from fairpriv.defenses.representation.losses import gaussian_kl, squared_error
        from fairpriv.defenses.representation.networks import mlp
        from fairpriv.jax_cpu import jax, jnp

        out = mlp(params["encoder"], batch["x"])
        d = out.shape[1] // 2
        mean, log_variance, b = out[:, :d], jnp.clip(out[:, d : 2 * d], -10, 10), out[:, 2 * d :]
        z = draw(mean, log_variance, batch["noise"])
        both = jnp.concatenate([z, b], axis=1)
        kept = squared_error(mlp(params["decoder"], both), batch["x"])
        s = batch["s"].astype(jnp.float32)
        sensitive = (jax.nn.softplus(b[:, 0]) - s * b[:, 0]).mean()
        fixed = jax.lax.stop_gradient(params["discriminator"])
        total_correlation = mlp(fixed, both).mean()  # its logit is log q(z, b) / q(z)q(b)
        other = jnp.concatenate([z, jnp.roll(b, 1, axis=0)], axis=1)  # rows of a batch are in random order
        real, mixed = (mlp(params["discriminator"], jax.lax.stop_gradient(a)) for a in (both, other))
        discriminator = (jax.nn.softplus(-real) + jax.nn.softplus(mixed)).mean()
        vae = kept + gaussian_kl(mean, log_variance)
        return vae + hyper["alpha"] * sensitive + hyper["gamma"] * total_correlation + discriminator

    def encode(self, params: Any, sample: Sample, rng: np.random.Generator) -> np.ndarray:
        """Draw z, without b."""
        from fairpriv.defenses.representation.autoencoders import draw
        from fairpriv.defenses.representation.networks import mlp

        out = np.asarray(mlp(params["encoder"], sample.x.astype(np.float32)))
        log_variance = np.clip(out[:, self.d : 2 * self.d], -10, 10)
        return np.asarray(draw(out[:, : self.d], log_variance, self.noise(rng, len(sample))["noise"]))
