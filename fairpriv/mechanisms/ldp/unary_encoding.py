"""Unary encodings: the one-hot vector with each bit perturbed on its own."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from fairpriv.mechanisms.ldp.base import LDPProtocol, chunks
from fairpriv.mechanisms.ldp.coins import coins


@dataclass(frozen=True)
class UnaryEncoding(LDPProtocol):
    """Sends k independent bits; the user's own is 1 with probability p, any other with probability q."""

    def bit_probabilities(self) -> tuple[float, float, float]:
        """Return p, 1 - p (to full precision when p is near 1) and q."""
        raise NotImplementedError

    def pure_probabilities(self) -> tuple[float, float]:
        """Return (p, q)."""
        p, _, q = self.bit_probabilities()
        return p, q

    def perturb(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the bits of each user, (n, k); the memory behind is a column after the other."""
        values = self._checked(values)
        _, miss, q = self.bit_probabilities()
        bits = np.empty((self.k, len(values)), bool)
        for users in chunks(len(values)):
            few = values[users]
            some = coins(q, (self.k, len(few)), rng)
            some[few, np.arange(len(few))] = ~coins(miss, len(few), rng)
            bits[:, users] = some
        return bits.T

    def indicator(self, reports: np.ndarray) -> np.ndarray:
        """Return the bits."""
        return reports

    def log_likelihood(self, reports: np.ndarray) -> np.ndarray:
        """Return the log-probability of all k bits, by value."""
        p, miss, q = self.bit_probabilities()
        others = np.where(reports, math.log(q), math.log1p(-q))
        own = np.where(reports, math.log(p), math.log(miss))
        return others.sum(axis=1, keepdims=True) - others + own


@dataclass(frozen=True)
class Rappor(UnaryEncoding):
    """RAPPOR, one round (Erlingsson et al. 2014): symmetric unary encoding, ε/2 a bit."""

    name: ClassVar[str] = "rappor"
    label: ClassVar[str] = "RAPPOR"

    def bit_probabilities(self) -> tuple[float, float, float]:
        """Return p = e^(ε/2) / (e^(ε/2) + 1), and q = 1 - p."""
        p, miss = float(expit(self.epsilon / 2)), float(expit(-self.epsilon / 2))
        return p, miss, miss


@dataclass(frozen=True)
class OUE(UnaryEncoding):
    """Optimal unary encoding (Wang et al. 2017)."""

    name: ClassVar[str] = "oue"
    label: ClassVar[str] = "OUE"

    def bit_probabilities(self) -> tuple[float, float, float]:
        """Return p = 1/2 and q = 1 / (e^ε + 1)."""
        return 0.5, 0.5, float(expit(-self.epsilon))
