"""CFAIR: conditional learning of fair representations."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.representation.base import RepresentationDefense, Sample
from fairpriv.registry import param, register


@register
@dataclass(frozen=True)
class CFAIR(RepresentationDefense):
    """CFAIR (Zhao et al. 2020): balanced classification, against one adversary within each class of U.

    Cross-entropies are weighed so that they bound balanced error rates: by 1 / 2P(u) for the classifier and by
    1 / 2P(s | u) for the adversaries. The encoder receives the adversaries' gradients reversed, times `strength`.
    """

    name: ClassVar[str] = "cfair"
    paper: ClassVar[str] = "compared in xie2024, Section 6"

    strength: float = param(1.0, "strength against the adversaries", at_least=0)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        validate.number("strength", self.strength, at_least=0)

    def noise(self, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        """Return nothing: the encoder is deterministic."""
        return {}

    def init(self, sample: Sample, rng: np.random.Generator) -> Any:
        """Draw encoder, classifier and an adversary a class."""
        from fairpriv.defenses.representation.networks import dense

        classes = int(sample.u.max()) + 1
        return {
            "encoder": dense(rng, sample.x.shape[1], self.hidden, self.d),
            "classifier": dense(rng, self.d, self.hidden, classes),
            "adversaries": [dense(rng, self.d, self.hidden, int(sample.s.max()) + 1) for _ in range(classes)],
        }

    def hyper(self, sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
        """Return the strength and the shares of classes, and of groups within each."""
        counts = np.zeros((sample.u.max() + 1, sample.s.max() + 1))
        np.add.at(counts, (sample.u, sample.s), 1)
        return {
            "strength": self.strength,
            "p_u": counts.sum(axis=1) / counts.sum(),
            "p_s": np.maximum(counts, 1) / np.maximum(counts.sum(axis=1, keepdims=True), 1),
        }

    @staticmethod
    def loss(params: Any, batch: Any, hyper: Any) -> Any:
        """Balanced classification + balanced adversaries, reversed for the encoder."""
        from fairpriv.defenses.representation.losses import cross_entropy, reverse
        from fairpriv.defenses.representation.networks import mlp

        u, s = batch["u"], batch["s"]
        z = mlp(params["encoder"], batch["x"])
        loss = cross_entropy(mlp(params["classifier"], z), u, 0.5 / hyper["p_u"][u])
        against = reverse(z, hyper["strength"])
        for value, adversary in enumerate(params["adversaries"]):
            weights = (u == value) / hyper["p_u"][value] * 0.5 / hyper["p_s"][value][s]
            loss += cross_entropy(mlp(adversary, against), s, weights)
        return loss

    def encode(self, params: Any, sample: Sample, rng: np.random.Generator) -> np.ndarray:
        """Return z."""
        from fairpriv.defenses.representation.networks import mlp

        return np.asarray(mlp(params["encoder"], sample.x.astype(np.float32)))
