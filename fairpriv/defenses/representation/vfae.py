"""VFAE: the variational fair autoencoder."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.representation.base import DRAWINGS, RepresentationDefense, Sample
from fairpriv.registry import param, register


@register
@dataclass(frozen=True)
class VFAE(RepresentationDefense):
    """Variational fair autoencoder (Louizos et al. 2016), one stochastic layer.

    Encoder q(z | x, s), decoder p(x | z, s), a classifier p(u | z) weighed by `alpha`, and the maximum mean discrepancy
    between the groups' z weighed by `beta`, by 500 random features.
    """

    name: ClassVar[str] = "vfae"
    paper: ClassVar[str] = "compared in xie2024, Section 6"
    draws: ClassVar[bool] = True
    needs_s: ClassVar[bool] = True
    later: ClassVar[tuple[str, ...]] = ("levels", "drawing")

    alpha: float = param(10.0, "weight of classification; 0: none, as public code", at_least=0)
    beta: float = param(1.0, "weight of the discrepancy between groups", at_least=0)
    levels: int = param(0, "outputs of columns with at most so many values are categorical; 0: none", at_least=0)
    drawing: str = param("gaussian", "log_variance: as public code, nearly no noise", choices=DRAWINGS)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        validate.number("alpha", self.alpha, at_least=0)
        validate.number("beta", self.beta, at_least=0)
        validate.integer("levels", self.levels, at_least=0)
        validate.choice("drawing", self.drawing, DRAWINGS)

    def init(self, sample: Sample, rng: np.random.Generator) -> Any:
        """Draw encoder, decoder and classifier."""
        from fairpriv.defenses.representation.autoencoders import decoder, gaussian_encoder
        from fairpriv.defenses.representation.networks import dense

        width = sample.x.shape[1]
        return {
            "encoder": gaussian_encoder(rng, width + 1, self.hidden, self.d),
            "decoder": decoder(rng, sample.x, self.hidden, self.d, self.levels),
            "classifier": dense(rng, self.d, self.hidden, int(sample.u.max()) + 1),
        }

    def hyper(self, sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
        """Return the weights and the random features."""
        from fairpriv.defenses.representation.autoencoders import variant

        directions, phases = rng.standard_normal((self.d, 500)), rng.uniform(0, 2 * np.pi, 500)
        weights = {"alpha": self.alpha, "beta": self.beta}
        return weights | {"directions": directions, "phases": phases} | variant(self.drawing, self.levels, sample.x)

    @staticmethod
    def loss(params: Any, batch: Any, hyper: Any) -> Any:
        """KL + reconstruction + alpha * classification + beta * discrepancy."""
        from fairpriv.defenses.representation.autoencoders import draw_as, halves, rebuilding_error, with_s
        from fairpriv.defenses.representation.losses import cross_entropy, gaussian_kl, mmd
        from fairpriv.defenses.representation.networks import mlp

        mean, log_variance = halves(params["encoder"], with_s(batch["x"], batch["s"]))
        z = draw_as(mean, log_variance, batch["noise"], hyper)
        kept = rebuilding_error(mlp(params["decoder"], with_s(z, batch["s"])), batch["x"], hyper)
        useful = cross_entropy(mlp(params["classifier"], z), batch["u"])
        apart = mmd(z, batch["s"], hyper["directions"], hyper["phases"])
        return gaussian_kl(mean, log_variance) + kept + hyper["alpha"] * useful + hyper["beta"] * apart

    def encode(self, params: Any, sample: Sample, rng: np.random.Generator) -> np.ndarray:
        """Draw z."""
        from fairpriv.defenses.representation.autoencoders import draw_as, halves, variant, with_s

        x = with_s(sample.x.astype(np.float32), sample.s)
        noise = self.noise(rng, len(sample))["noise"]
        return np.asarray(draw_as(*halves(params["encoder"], x), noise, variant(self.drawing)))
