"""PPVAE: the privacy funnel by a variational autoencoder."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.representation.base import DRAWINGS, RepresentationDefense, Sample
from fairpriv.registry import param, register


@register
@dataclass(frozen=True)
class PPVAE(RepresentationDefense):
    """Privacy-preserving VAE (Nan & Tao 2020): encoder q(z | x, s), decoder p(x | z, s), KL + beta * reconstruction.

    Outputs are Gaussian, or, with `levels`, categorical and Bernoulli where a column has few values (xie2024, A.2.2).
    """

    name: ClassVar[str] = "ppvae"
    paper: ClassVar[str] = "compared in xie2024, Section 6"
    draws: ClassVar[bool] = True
    needs_s: ClassVar[bool] = True
    later: ClassVar[tuple[str, ...]] = ("levels", "drawing")

    beta: float = param(100.0, "weight of reconstruction", at_least=0)
    levels: int = param(0, "outputs of columns with at most so many values are categorical; 0: none", at_least=0)
    drawing: str = param("gaussian", "log_variance: as public code, nearly no noise", choices=DRAWINGS)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        validate.number("beta", self.beta, at_least=0)
        validate.integer("levels", self.levels, at_least=0)
        validate.choice("drawing", self.drawing, DRAWINGS)

    def init(self, sample: Sample, rng: np.random.Generator) -> Any:
        """Draw encoder and decoder."""
        from fairpriv.defenses.representation.autoencoders import decoder, gaussian_encoder

        return {
            "encoder": gaussian_encoder(rng, sample.x.shape[1] + 1, self.hidden, self.d),
            "decoder": decoder(rng, sample.x, self.hidden, self.d, self.levels),
        }

    def hyper(self, sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
        """Return the multiplier, and what the variants need."""
        from fairpriv.defenses.representation.autoencoders import variant

        return {"beta": self.beta} | variant(self.drawing, self.levels, sample.x)

    @staticmethod
    def loss(params: Any, batch: Any, hyper: Any) -> Any:
        """KL to the prior + beta * reconstruction."""
        from fairpriv.defenses.representation.autoencoders import draw_as, halves, rebuilding_error, with_s
        from fairpriv.defenses.representation.losses import gaussian_kl
        from fairpriv.defenses.representation.networks import mlp

        mean, log_variance = halves(params["encoder"], with_s(batch["x"], batch["s"]))
        z = draw_as(mean, log_variance, batch["noise"], hyper)
        found = mlp(params["decoder"], with_s(z, batch["s"]))
        return gaussian_kl(mean, log_variance) + hyper["beta"] * rebuilding_error(found, batch["x"], hyper)

    def encode(self, params: Any, sample: Sample, rng: np.random.Generator) -> np.ndarray:
        """Draw z."""
        from fairpriv.defenses.representation.autoencoders import draw_as, halves, variant, with_s

        x = with_s(sample.x.astype(np.float32), sample.s)
        noise = self.noise(rng, len(sample))["noise"]
        return np.asarray(draw_as(*halves(params["encoder"], x), noise, variant(self.drawing)))
