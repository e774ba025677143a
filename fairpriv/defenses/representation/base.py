"""What a representation method is: parameters in the config, a loss, an encoder. JAX is imported when it trains."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.base import Defense
from fairpriv.mechanisms.randomizers import LaplaceRandomizer
from fairpriv.registry import param

DRAWINGS = ("gaussian", "log_variance")  # how an encoder's noise is scaled: by its deviation, or by its log variance


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to learn from or to encode: features; utility U and sensitive variable S as class numbers."""

    x: np.ndarray
    u: np.ndarray
    s: np.ndarray

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.u)


@dataclass(frozen=True)
class RepresentationDefense(Defense):
    """Encodes X into Z and, at finite ε, randomizes Z: clip to [−t, t], add Laplace(2td/ε) (xie2024, Section 6.3.2).

    A method says how to draw its parameters (`init`), what to minimise (`loss`, with `hyper` and `noise`) and how to
    encode (`encode`). `predict` is None where a classifier is to be trained on the representation afterwards.

    Examples
    --------
    Only the first feature is given away, clipped to [−0.5, 0.5] and noisy:

    >>> import numpy as np
    >>> from fairpriv import RepresentationDefense
    >>> from fairpriv.defenses.representation.base import Sample
    >>> class First(RepresentationDefense):
    ...     def fit(self, sample, rng):
    ...         return None
    ...
    ...     def encode(self, params, sample, rng):
    ...         return sample.x[:, :1]
    >>> rng, people = np.random.default_rng(0), Sample(np.array([[0.4, 7.0], [0.9, 8.0]]), np.zeros(2), np.zeros(2))
    >>> First().encode(None, people, rng).ravel()
    array([0.4, 0.9])
    >>> given = First(epsilon=1e6).randomize(First().encode(None, people, rng), rng)
    >>> np.round(given, 3).ravel()
    array([0.4, 0.5])
    """

    epsilon: float = param(float("inf"), "budget of the randomizer; inf: none", at_least=0)
    d: int = param(2, "dimensions of the representation", at_least=1)
    t: float = param(0.5, "truncation before noise is added", above=0, at_most=1e6)
    hidden: int = param(100, "units of every hidden layer", at_least=1)
    epochs: int = param(100, "of Adam, for the encoder and for the classifier on its codes", at_least=1)
    batch: int = param(64, "batch size, likewise", at_least=2)
    rate: float = param(1e-3, "learning rate, likewise", above=0, at_most=1)

    learns_with_randomizer: ClassVar[bool] = False
    needs_s: ClassVar[bool] = False  # the encoder is given the sensitive variable
    draws: ClassVar[bool] = False  # the encoder is random: a Gaussian around what it makes of x

    def __post_init__(self) -> None:
        """Check the parameters every method has."""
        validate.number("epsilon", self.epsilon, at_least=0)
        validate.integer("d", self.d, at_least=1)
        validate.number("t", self.t, above=0, at_most=1e6)
        validate.integer("hidden", self.hidden, at_least=1)
        validate.integer("epochs", self.epochs, at_least=1)
        validate.integer("batch", self.batch, at_least=2)
        validate.number("rate", self.rate, above=0, at_most=1)

    def init(self, sample: Sample, rng: np.random.Generator) -> Any:
        """Draw the parameters for data like these."""
        raise NotImplementedError

    @staticmethod
    def loss(params: Any, batch: Any, hyper: Any) -> Any:
        """Return what is minimised; `batch` holds x, u, s (class numbers) and the noise."""
        raise NotImplementedError

    def hyper(self, sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
        """Return the numbers the loss needs."""
        return {}

    def noise(self, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
        """Draw the noise of one epoch: of a Gaussian encoder, unless the method says otherwise."""
        return {"noise": rng.standard_normal((n, self.d), dtype=np.float32)}

    def fit(self, sample: Sample, rng: np.random.Generator) -> Any:
        """Train on the sample and return the parameters."""
        from fairpriv.defenses.representation.training import fit

        params, _ = fit(
            self.loss,
            self.init(sample, rng),
            {"x": sample.x.astype(np.float32), "u": sample.u.astype(np.int32), "s": sample.s.astype(np.int32)},
            rng,
            epochs=self.epochs,
            batch=self.batch,
            rate=self.rate,
            hyper=self.hyper(sample, rng),
            noise=self.noise,
        )
        return params

    def encode(self, params: Any, sample: Sample, rng: np.random.Generator) -> np.ndarray:
        """Return the representations before the randomizer, (n, d)."""
        raise NotImplementedError

    def randomize(self, encoded: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return what is given away: the encoded rows, through the Laplace mechanism where ε is finite."""
        if np.isinf(self.epsilon):
            return encoded
        return LaplaceRandomizer(self.epsilon, encoded.shape[1], self.t).perturb(encoded, rng)

    def fresh(self, params: Any, encoded: np.ndarray, sample: Sample) -> Any:
        """Return what is given away of a sample; where it is random, as a function (rows, rng) that draws it anew."""
        if np.isinf(self.epsilon) and not self.draws:
            return self.released(self.randomize(encoded, np.random.default_rng(0)))

        def draw(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            some = Sample(sample.x[rows], sample.u[rows], sample.s[rows]) if self.draws else None
            return self.released(self.randomize(self.encode(params, some, rng) if some else encoded[rows], rng))

        return draw

    def released(self, z: np.ndarray) -> np.ndarray:
        """Return the given-away representation as numbers for others to learn from."""
        return z

    def predict(self, params: Any, z: np.ndarray) -> np.ndarray | None:
        """Return scores of the classes of U, where the method brings its own classifier."""
        return None

    def information(self, encoded: np.ndarray, s: np.ndarray, rng: np.random.Generator) -> Any:
        """Return what the randomizer's law says of I(X;Z), I(X;Z|S), I(S;Z); None where there is no randomizer."""
        from fairpriv.metrics.information import Information, laplace_information

        if np.isinf(self.epsilon):
            return None
        if self.epsilon == 0:
            return Information(0.0, 0.0, 0.0, 0.0)
        randomizer = LaplaceRandomizer(self.epsilon, encoded.shape[1], self.t)
        return laplace_information(np.clip(encoded, -self.t, self.t), s, randomizer.scale, rng)
