"""CFB: conditional fairness bottleneck."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.representation.base import RepresentationDefense, Sample
from fairpriv.registry import param, register


@register
@dataclass(frozen=True)
class CFB(RepresentationDefense):
    """Conditional fairness bottleneck (Rodríguez-Gálvez et al. 2021): KL to the prior + beta * H(U | Z, S).

    The encoder's mean depends on x, its variance is learned but the same for all; the decoder is given s, so that z
    need not carry what s already says about u.
    """

    name: ClassVar[str] = "cfb"
    paper: ClassVar[str] = "compared in xie2024, Section 6"
    draws: ClassVar[bool] = True

    beta: float = param(17.0, "weight of the utility that s does not give away", at_least=0)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        validate.number("beta", self.beta, at_least=0)

    def init(self, sample: Sample, rng: np.random.Generator) -> Any:
        """Draw encoder, decoder and the variance."""
        from fairpriv.defenses.representation.networks import dense

        return {
            "encoder": dense(rng, sample.x.shape[1], self.hidden, self.d),
            "log_variance": np.full(self.d, -1.0, np.float32),
            "decoder": dense(rng, self.d + 1, self.hidden, int(sample.u.max()) + 1),
        }

    def hyper(self, sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
        """Return the multiplier."""
        return {"beta": self.beta}

    @staticmethod
    def loss(params: Any, batch: Any, hyper: Any) -> Any:
        """I(X;Z) bound + beta H(U|Z,S) bound."""
        from fairpriv.defenses.representation.autoencoders import draw, with_s
        from fairpriv.defenses.representation.losses import cross_entropy, gaussian_kl
        from fairpriv.defenses.representation.networks import mlp

        mean = mlp(params["encoder"], batch["x"])
        z = draw(mean, params["log_variance"], batch["noise"])
        missing = cross_entropy(mlp(params["decoder"], with_s(z, batch["s"])), batch["u"])
        return gaussian_kl(mean, params["log_variance"]) + hyper["beta"] * missing

    def encode(self, params: Any, sample: Sample, rng: np.random.Generator) -> np.ndarray:
        """Draw z."""
        from fairpriv.defenses.representation.autoencoders import draw
        from fairpriv.defenses.representation.networks import mlp

        noise = self.noise(rng, len(sample))["noise"]
        return np.asarray(draw(mlp(params["encoder"], sample.x.astype(np.float32)), params["log_variance"], noise))
