"""LAFTR: adversarially fair and transferable representations."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.representation.base import RepresentationDefense, Sample
from fairpriv.registry import param, register


@register
@dataclass(frozen=True)
class LAFTR(RepresentationDefense):
    """LAFTR for demographic parity (Madras et al. 2018): classification, against an adversary that guesses s from z.

    The adversary minimises its absolute error averaged within each group (their Equation 3); the encoder receives its
    gradient with the sign turned, times `gamma`.
    """

    name: ClassVar[str] = "laftr"
    paper: ClassVar[str] = "compared in xie2024, Section 6"

    gamma: float = param(1.0, "strength against the adversary", at_least=0)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        validate.number("gamma", self.gamma, at_least=0)

    def noise(self, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        """Return nothing: the encoder is deterministic."""
        return {}

    def init(self, sample: Sample, rng: np.random.Generator) -> Any:
        """Draw encoder, classifier and adversary."""
        from fairpriv.defenses.representation.networks import dense

        return {
            "encoder": dense(rng, sample.x.shape[1], self.hidden, self.d),
            "classifier": dense(rng, self.d, self.hidden, int(sample.u.max()) + 1),
            "adversary": dense(rng, self.d, self.hidden, 1),
        }

    def hyper(self, sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
        """Return the weight, and the share of each group."""
        return {"gamma": self.gamma, "share": np.bincount(sample.s, minlength=2) / len(sample)}

    @staticmethod
    def loss(params: Any, batch: Any, hyper: Any) -> Any:
        """Classification + the adversary's group-normalised error, reversed for the encoder."""
        from fairpriv.defenses.representation.losses import cross_entropy, reverse
        from fairpriv.defenses.representation.networks import mlp
        from fairpriv.jax_cpu import jax, jnp

        z = mlp(params["encoder"], batch["x"])
        guess = jax.nn.sigmoid(mlp(params["adversary"], reverse(z, hyper["gamma"]))[:, 0])
        error = (jnp.abs(guess - batch["s"]) / hyper["share"][batch["s"]]).mean()
        return cross_entropy(mlp(params["classifier"], z), batch["u"]) + error

    def encode(self, params: Any, sample: Sample, rng: np.random.Generator) -> np.ndarray:
        """Return z."""
        from fairpriv.defenses.representation.networks import mlp

        return np.asarray(mlp(params["encoder"], sample.x.astype(np.float32)))
