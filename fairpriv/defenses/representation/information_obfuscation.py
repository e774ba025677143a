"""Information obfuscation: the variational encoder with an LDP randomizer inside."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.representation.base import RepresentationDefense, Sample
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.randomizers import LaplaceRandomizer, ResponseRandomizer
from fairpriv.registry import param, register

STARTS = ("he", "uniform")


@register
@dataclass(frozen=True)
class InformationObfuscation(RepresentationDefense):
    """Variational encoding with an LDP randomizer: minimise −log q(x | z, s) − beta log q(u | z) (39).

    `continuous`: clip to [−t, t], add Laplace(2td/ε). `discrete`: d codes of k values by vector quantisation,
    randomized response at ε/d on each; loss (58), straight-through gradients. The utility decoder q(u | z) is the
    classifier; the side decoder q(x | z, s) is a Gaussian of unit variance.
    """

    name: ClassVar[str] = "information_obfuscation"
    paper: ClassVar[str] = "xie2024, Section 4"
    learns_with_randomizer: ClassVar[bool] = True
    later: ClassVar[tuple[str, ...]] = ("start",)

    beta: float = param(100.0, "weight of utility", at_least=0, at_most=1e9)
    representation: str = param(
        "continuous",
        "image: continuous, by convolutions; d is the image's size",
        choices=("continuous", "discrete", "image"),
    )
    k: int = param(4, "values of a code (discrete; not printed in the paper)", at_least=2)
    code_width: int = param(8, "width D of a code's embedding (discrete; not printed)", at_least=1)
    commitment: float = param(0.25, "the λ of (58)", at_least=0)
    utility_layers: int = param(1, "hidden layers of the utility decoder (Section 6.1: 1, A.2.1: 2)", at_least=1)
    start: str = param("he", "weights at the start: He's, or uniform as PyTorch's layers (tables)", choices=STARTS)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        validate.choice("start", self.start, STARTS)
        validate.number("beta", self.beta, at_least=0, at_most=1e9)
        validate.choice("representation", self.representation, ("continuous", "discrete", "image"))
        validate.integer("k", self.k, at_least=2)
        validate.integer("code_width", self.code_width, at_least=1)
        validate.number("commitment", self.commitment, at_least=0)
        validate.integer("utility_layers", self.utility_layers, at_least=1)
        if self.representation == "image" and self.start != "he":
            raise BadRequest(f"start must be he for images, got {self.start}")
        if self.discrete and self.k**self.d > 4096:
            raise BadRequest(f"k^d must be <= 4096, got k = {self.k}, d = {self.d}")

    @property
    def discrete(self) -> bool:
        """Tell whether representations are codes."""
        return self.representation == "discrete"

    @property
    def randomizer(self) -> Any:
        """Return the LDP mechanism inside the encoder."""
        if self.discrete:
            return ResponseRandomizer(self.epsilon, self.d, self.k)
        return LaplaceRandomizer(self.epsilon, self.d, self.t)

    def init(self, sample: Sample, rng: np.random.Generator) -> Any:
        """Draw encoder, utility decoder, side decoder (and the codebook)."""
        from fairpriv.defenses.representation import obfuscation

        layers = [self.hidden] * self.utility_layers
        groups, classes = int(sample.s.max()) + 1, int(sample.u.max()) + 1
        if self.representation == "image":
            return obfuscation.init_image(rng, self.d, groups, classes, layers)
        width = self.d * self.code_width if self.discrete else self.d
        params = obfuscation.init(rng, sample.x.shape[1], self.hidden, width, groups, classes, layers)
        if self.start == "uniform":
            params = obfuscation.uniform(rng, params)
        if self.discrete:
            params["codebook"] = rng.standard_normal((self.d, self.k, self.code_width)).astype(np.float32)
        return params

    def hyper(self, sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
        """Return the multipliers."""
        return {"beta": self.beta, "t": self.t, "commitment": self.commitment, "keep": float(self.epsilon > 0)}

    def noise(self, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        """Draw the randomizer's noise, one draw a row (L = 1 in (39))."""
        if self.discrete:
            return {"shift": self.randomizer.shifts(n, rng).astype(np.int32)}
        return {"noise": self.randomizer.noise(n, rng).astype(np.float32)}

    @property
    def loss(self) -> Any:
        """Return the loss of the kind of representation."""
        from fairpriv.defenses.representation import obfuscation

        return {
            "continuous": obfuscation.continuous_loss,
            "discrete": obfuscation.discrete_loss,
            "image": obfuscation.image_loss,
        }[self.representation]

    def encode(self, params: Any, sample: Sample, rng: np.random.Generator) -> np.ndarray:
        """Return ẑ: truncated values, or codes."""
        from fairpriv.defenses.representation import obfuscation

        x = sample.x.astype(np.float32)
        if self.discrete:
            return np.asarray(obfuscation.codes(params, x)[0])
        encoder = obfuscation.encode_image if self.representation == "image" else obfuscation.encode
        parts = [np.asarray(encoder(params, x[i : i + 4096])) for i in range(0, len(x), 4096)]
        return np.clip(np.concatenate(parts).astype(float), -self.t, self.t)

    def randomize(self, encoded: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Apply the LDP mechanism."""
        return self.randomizer.perturb(encoded, rng)

    def released(self, z: np.ndarray) -> np.ndarray:
        """Return values as they are, codes one-hot."""
        if not self.discrete:
            return z
        return (z[:, :, None] == np.arange(self.k)).reshape(len(z), -1).astype(float)

    def predict(self, params: Any, z: np.ndarray) -> np.ndarray:
        """Return the utility decoder's scores."""
        from fairpriv.defenses.representation import obfuscation

        return np.asarray(obfuscation.utility(params, z if self.discrete else z.astype(np.float32)))

    def information(self, encoded: np.ndarray, s: np.ndarray, rng: np.random.Generator) -> Any:
        """Return I(X;Z), I(X;Z|S), I(S;Z): exact for codes, by the mixture's density for values."""
        from fairpriv.metrics.information import response_information

        if self.discrete:
            return response_information(encoded, s, self.randomizer.transition())
        return super().information(encoded, s, rng)
