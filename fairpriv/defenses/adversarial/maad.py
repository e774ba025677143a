"""Multi-attribute adversarial debiasing with differential privacy (maad2023, Algorithm 1)."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.adversarial.base import DebiasingDefense, Spent, Trained, check_groups
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.accountant import pld_epsilon, rdp_epsilon, steps_within, unsampled_epsilon
from fairpriv.registry import param, register

if TYPE_CHECKING:
    from fairpriv.defenses.adversarial.public_algorithm import Settings

PRIVACIES = ("none", "printed", "joint", "combined")
# What the adversary sees decides which fairness is enforced (Section 2.1; Zhang et al. 2018).
CRITERIA = ("equality_of_odds", "demographic_parity", "equality_of_opportunity")
OPTIMISERS = ("adam", "sgd")
ALGORITHMS = ("printed", "public")


def _number(text: str) -> float | str:
    """Return a number where the text is one, else the text, for a check to refuse."""
    try:
        return float(text)
    except ValueError:
        return text


@register
@dataclass(frozen=True)
class Maad(DebiasingDefense):
    """Adversarial debiasing of several attributes at once, with or without DP (Algorithm 1 and its three ablations)."""

    name: ClassVar[str] = "maad"
    paper: ClassVar[str] = "maad2023, Sections 3 and 4"
    later: ClassVar = ("adversary_part", "algorithm", "attribute_weights")

    debias: bool = param(True, "train against the adversary; else the plain predictor")
    privacy: str = param(
        "joint",
        "no noise; Algorithm 1's as printed; one Gaussian mechanism for all that uses the data; the same after −γ",
        choices=PRIVACIES,
    )
    gamma: float = param(0.2, "weight of the adversary (Table 1: 0.2, 0.5, 0.1)", at_least=0)
    criterion: str = param("equality_of_odds", "what the adversary sees", choices=CRITERIA)
    epsilon: float = param(4.0, "claimed budget; training ends where it is spent (Table 1: 4, 7.7, 13)", above=0)
    delta: float = param(1e-6, "δ of the claim", above=0, below=1)
    sigma: float = param(0.5, "noise multiplier", at_least=0)
    clip: float = param(1.0, "gradient norm bound C (not printed)", above=0)
    batch: int = param(16, "(expected) batch size (Table 1: 16, 4, 64)", at_least=1)
    epochs: float | None = param(None, "instead (with DP: at most); null: as many as the budget allows", above=0)
    optimiser: str = param("adam", "not printed; AIF360's is adam", choices=OPTIMISERS)
    learning_rate: float = param(0.001, "of the predictor (not printed; AIF360's)", above=0)
    adversary_rate: float = param(0.001, "of the adversary (not printed; AIF360's)", above=0)
    hidden: tuple[int, ...] = param((256, 256), "hidden layers of the predictor for tables", at_least=1)
    width: int = param(64, "of texts: length of learned word vectors", at_least=1)
    heads: int = param(4, "its heads", at_least=1)
    feed_forward: int = param(64, "units of its inner layer", at_least=1)
    words: int = param(2048, "buckets into which words are hashed", at_least=1)
    adversary_part: float = param(
        1.0, "with one mechanism: factor of the adversary's own gradient in what is clipped and noised", above=0
    )
    algorithm: str = param("printed", "Algorithm 1, or that of AIF360's pull request 460", choices=ALGORITHMS)
    attribute_weights: str | None = param(
        None, "public: weights of the attributes in the adversary's loss, joined by + (null: 1 each)"
    )

    def __post_init__(self) -> None:
        """Check the parameters."""
        hidden = self.hidden if isinstance(self.hidden, list | tuple) else (self.hidden,)
        object.__setattr__(self, "hidden", tuple(hidden))
        validate.choice("debias", self.debias, (True, False))
        validate.choice("privacy", self.privacy, PRIVACIES)
        validate.choice("criterion", self.criterion, CRITERIA)
        validate.choice("optimiser", self.optimiser, OPTIMISERS)
        validate.number("gamma", self.gamma, at_least=0)
        validate.number("epsilon", self.epsilon, above=0)
        validate.number("delta", self.delta, above=0, below=1)
        validate.number("sigma", self.sigma, at_least=0)
        if self.privacy != "none":
            if self.sigma == 0:
                raise BadRequest(f"sigma must be > 0 with privacy={self.privacy}, got 0 (privacy=none has no noise)")
            if math.isinf(self.epsilon):
                raise BadRequest(f"epsilon must be finite with privacy={self.privacy} (privacy=none has no budget)")
        validate.number("clip", self.clip, above=0)
        validate.integer("batch", self.batch, at_least=1)
        if self.epochs is not None:
            validate.number("epochs", self.epochs, above=0)
        elif self.sigma == 0 or math.isinf(self.epsilon):
            raise BadRequest("epochs must be given where sigma is 0 or epsilon infinite: no budget ends the training")
        validate.number("adversary_part", self.adversary_part, above=0)
        self._check_algorithm()
        for rate in ("learning_rate", "adversary_rate"):
            validate.number(rate, getattr(self, rate), above=0)
        for size in ("width", "heads", "feed_forward", "words", *(["hidden"] if not self.hidden else [])):
            validate.integer(size, getattr(self, size), at_least=1)
        for size in self.hidden:
            validate.integer("hidden", size, at_least=1)
        if self.width % self.heads:
            raise BadRequest(f"width must be a multiple of heads = {self.heads}, got {self.width}")

    def _check_algorithm(self) -> None:
        validate.choice("algorithm", self.algorithm, ALGORITHMS)
        if self.attribute_weights is not None:
            for weight in str(self.attribute_weights).split("+"):
                validate.number("attribute_weights", _number(weight), above=0)
        if self.algorithm == "public" and self.privacy not in ("none", "printed"):
            raise BadRequest(f"privacy must be one of none, printed with algorithm=public, got {self.privacy}")

    def steps(self, n: int) -> int:
        """Return the number of steps on n examples: what the claimed ε allows, or `epochs` if fewer."""
        if self.batch > n:
            raise BadRequest(f"batch must be <= {n}, the number of training examples, got {self.batch}")
        wanted = None if self.epochs is None else max(1, round(self.epochs * n / self.batch))
        epsilon, rest = float(self.epsilon), (float(self.sigma), self.batch / n)
        if wanted is not None and (self.privacy == "none" or pld_epsilon(*rest, wanted, float(self.delta)) <= epsilon):
            return wanted  # the search can be long where ε would last for millions of steps
        return steps_within(epsilon, *rest, float(self.delta))

    def least_epsilon(self, n: int) -> float:
        """Return what a single step on n examples spends (0 where `epochs` alone, or the algorithm, ends training)."""
        if self.algorithm == "public" or (self.privacy == "none" and self.epochs is not None):
            return 0.0
        return pld_epsilon(float(self.sigma), self.batch / n, 1, float(self.delta))

    def account(self, n: int, steps: int) -> Spent:
        """Return what these steps on n examples spend."""
        if self.privacy == "none":
            return Spent(math.inf, math.inf, math.inf, math.inf, "nothing is protected")
        rate, sigma, delta = self.batch / n, float(self.sigma), float(self.delta)
        claimed, rdp = pld_epsilon(sigma, rate, steps, delta), rdp_epsilon(sigma, rate, steps, delta)
        if self.privacy in ("joint", "combined"):
            return Spent(claimed, rdp, claimed, claimed, "x, y, s")
        # a clipped batch gradient moves by up to 2C, the noise is σC
        halved = pld_epsilon(sigma / 2, rate, steps, delta)
        if not self.debias:
            return Spent(claimed, rdp, halved, halved, "x, y, s")
        return Spent(claimed, rdp, halved, unsampled_epsilon(sigma / 2, steps, delta), "x, y; s: none", math.inf)

    def fit(
        self,
        x: np.ndarray,
        label: np.ndarray,
        sensitive: np.ndarray,
        rng: np.random.Generator,
        vectors: np.ndarray | None = None,
    ) -> Trained:
        """Train on numbers (float x) or texts (tokens, integer x; 0 is padding) with k binary attributes (n × k)."""
        from fairpriv.defenses.adversarial import networks
        from fairpriv.defenses.adversarial import training as maad
        from fairpriv.defenses.adversarial.maad_step import Rule

        check_groups(label, sensitive)
        if self.algorithm == "public":
            return self._fit_public(x, label, sensitive, rng)
        steps = self.steps(len(label))
        if np.issubdtype(x.dtype, np.integer):
            width = self.width if vectors is None else vectors.shape[1]
            if width % self.heads:
                raise BadRequest(f"heads must divide the length of the word vectors, {width}, got {self.heads}")
            network = networks.transformer(
                width, heads=self.heads, feed_forward=self.feed_forward, vocabulary=self.words, vectors=vectors
            )
        else:
            network = networks.mlp(x.shape[1], self.hidden)
        rule = Rule(
            *(self.debias, self.privacy, self.criterion, self.gamma, self.sigma, self.clip, self.batch),
            adversary_part=self.adversary_part,
        )
        rates = (self.learning_rate, self.adversary_rate)
        w, losses, one_sided = maad.train(rule, network, (x, label, sensitive), steps, rates, self.optimiser, rng)
        return Trained(
            decide=lambda rows, groups, draw: maad.predict(network, w, rows) >= 0.5,
            steps=steps,
            spent=self.account(len(label), steps),
            losses=losses,
            one_sided=one_sided,
        )

    def public_settings(self, attributes: int) -> "Settings":
        """Return what the public algorithm is given."""
        from fairpriv.defenses.adversarial.public_algorithm import Settings

        given = None if self.attribute_weights is None else str(self.attribute_weights).split("+")
        weights = (1.0,) * attributes if given is None else tuple(map(float, given))
        if len(weights) != attributes:
            raise BadRequest(f"attribute_weights must be {attributes} numbers, one an attribute, got {len(weights)}")
        rates = (self.learning_rate, self.adversary_rate)
        private = self.privacy != "none"
        return Settings(
            *(self.debias, private, self.gamma, self.sigma, self.clip, self.batch, rates, self.hidden, weights)
        )

    def account_public(self, n: int, steps: int) -> Spent:
        """Return what the public algorithm spends: its noised steps claim an ε that its joint steps do not keep."""
        if self.privacy == "none":
            return self.account(n, steps)
        alone = replace(self, algorithm="printed", privacy="joint", debias=False).account(n, steps)
        if not self.debias:
            return alone
        lost = {"spent": math.inf, "proven": math.inf, "on": "nothing is protected: joint steps have no noise"}
        return replace(alone, **lost)

    def _fit_public(self, x: np.ndarray, label: np.ndarray, sensitive: np.ndarray, rng: np.random.Generator) -> Trained:
        """Train by the public algorithm."""
        from fairpriv.defenses.adversarial import public_algorithm
        from fairpriv.defenses.adversarial import training as maad

        if np.issubdtype(x.dtype, np.integer):
            raise BadRequest("algorithm=public trains on tables, not on texts")
        settings = self.public_settings(sensitive.shape[1])
        network, w, losses = public_algorithm.train(settings, (x, label, sensitive), rng)
        return Trained(
            decide=lambda rows, groups, draw: maad.predict(network, w, rows) >= 0.5,
            steps=len(losses),
            spent=self.account_public(len(label), settings.steps_alone(len(label))),
            losses=losses,
            one_sided=math.nan,
        )
