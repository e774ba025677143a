"""PPVAE: the privacy funnel by a variational autoencoder."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.representation.base import RepresentationDefense, Sample
from fairpriv.registry import param, register


@register
@dataclass(frozen=True)
class PPVAE(RepresentationDefense):
    """Privacy-preserving VAE (Nan & Tao 2020): encoder q(z | x, s), decoder p(x | z, s), KL + beta * reconstruction."""

    name: ClassVar[str] = "ppvae"
    paper: ClassVar[str] = "compared in xie2024, Section 6"
    draws: ClassVar[bool] = True
    needs_s: ClassVar[bool] = True

    beta: float = param(100.0, "weight of reconstruction", at_least=0)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        validate.number("beta", self.beta, at_least=0)

    def init(self, sample: Sample, rng: np.random.Generator) -> Any:
        """Draw encoder and decoder."""
        from fairpriv.defenses.representation.autoencoders import gaussian_encoder
        from fairpriv.defenses.representation.networks import dense

        width = sample.x.shape[1]
        return {
            "encoder": gaussian_encoder(rng, width + 1, self.hidden, self.d),
            "decoder": dense(rng, self.d + 1, self.hidden, width),
        }

    def hyper(self, sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
        """Return the multiplier."""
        return {"beta": self.beta}

    @staticmethod
    def loss(params: Any, batch: Any, hyper: Any) -> Any:
        """KL to the prior + beta * reconstruction."""
        from fairpriv.defenses.representation.autoencoders import draw, halves, with_s
        from fairpriv.defenses.representation.losses import gaussian_kl, squared_error
        from fairpriv.defenses.representation.networks import mlp

        mean, log_variance = halves(params["encoder"], with_s(batch["x"], batch["s"]))
        z = draw(mean, log_variance, batch["noise"])
        found = mlp(params["decoder"], with_s(z, batch["s"]))
        return gaussian_kl(mean, log_variance) + hyper["beta"] * squared_error(found, batch["x"])

    def encode(self, params: Any, sample: Sample, rng: np.random.Generator) -> np.ndarray:
        """Draw z."""
        from fairpriv.defenses.representation.autoencoders import draw, halves, with_s

        x = with_s(sample.x.astype(np.float32), sample.s)
        return np.asarray(draw(*halves(params["encoder"], x), self.noise(rng, len(sample))["noise"]))
