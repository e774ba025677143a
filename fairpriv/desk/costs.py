r"""What answers cost and what a budget allows, in whole numbers, so that no sum is ever rounded down.

Every cost is written in three currencies: epsilon and delta of basic composition, and the Rényi divergence at one order
that is fixed when the desk is made. A desk of (E, 0) adds up epsilon. A desk of (E, D), D > 0, goes on as long as

    basic:  Σ epsilon <= E and Σ delta <= D/2,     or     Rényi:  Σ rho <= R,

R the divergence that means (E, D/2) at that order (Canonne, Kamath & Steinke 2020, Proposition 12).

*Proof that this is (E, D), whatever is asked next and at whatever cost, seeing all answers so far.* Stop the desk where
`basic` would fail: it is (E, D/2) (Rogers et al. 2016, Theorem 3.6). Stop it where `Rényi` would fail: it is (E, D/2)
(Feldman & Zrnic 2021, Theorem 3.1; the order must be fixed, as it is). Sums only grow, so every history that the desk
lets happen is one that the first or the second stopped desk gives with the same probability. For a set T of histories
split it into those that the first gives and the rest, and add: P(T) <= e^E P'(T) + D/2 + D/2.

A client's share is a share of each sum. The desk's own sums are checked as well, so that shares cannot add up to more.
"""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import lru_cache

from fairpriv.mechanisms.gaussian import analytic_sigma

UNIT = 10**9  # of epsilon and of the divergence
DELTA_UNIT = 10**18
ORDERS = (1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256, 512)


def up(value: float, unit: int = UNIT) -> int:
    """Return a number in whole units, rounded up; 0.1 counts as it is written."""
    return int((Decimal(repr(value)) * unit).to_integral_value(ROUND_CEILING))


def down(value: float, unit: int = UNIT) -> int:
    """Return a number in whole units, rounded down."""
    return int((Decimal(repr(value)) * unit).to_integral_value(ROUND_FLOOR))


@dataclass(frozen=True)
class Cost:
    """What was or would be spent, in units."""

    epsilon: int = 0
    delta: int = 0
    rdp: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        """Return both together."""
        return Cost(self.epsilon + other.epsilon, self.delta + other.delta, self.rdp + other.rdp)


@dataclass(frozen=True)
class Budget:
    """What a desk may spend: (epsilon, delta), and the order that divergences are taken at (0: none)."""

    epsilon: float
    delta: float = 0.0

    @property
    def order(self) -> float:
        """Return the order at which the most Gaussian answers fit, from epsilon and delta alone; 0 without a delta."""
        return _order(self.epsilon, self.delta)

    def left(self, spent: Cost, share: float = 1.0) -> int:
        """Return how many units of epsilon are left of a share, by the better of the two sums; negative: overspent."""
        part = Decimal(repr(share))
        basic = int(part * down(self.epsilon)) - spent.epsilon
        if spent.delta > int(part * down(self.delta / 2, DELTA_UNIT)):
            basic = min(basic, -1)
        if not self.order:
            return basic
        room = int(part * down(max(0.0, _room(self.epsilon, self.delta / 2, self.order))))
        return max(basic, room - spent.rdp) if room else basic


@lru_cache(maxsize=64)
def _order(epsilon: float, delta: float) -> float:
    return max(ORDERS, key=lambda a: _room(epsilon, delta / 2, a) / a) if delta else 0.0


def _room(epsilon: float, delta: float, order: float) -> float:
    """Return the divergence at an order that means (epsilon, delta)."""
    return epsilon - math.log1p(-1 / order) + math.log(delta * order) / (order - 1)


@lru_cache(maxsize=1024)
def charge(defense: str, epsilon: float, delta: float, m: int, moves: int, order: float) -> Cost:
    """Return what m answers of a defense cost where neighbours are `moves` changes of one person apart.

    One move costs epsilon. The m answers have noise of their own, a share epsilon/m each, and divergences add; only
    `conceal_aware` shares noise among them, over swaps, its own unit (one move). Two moves cost twice epsilon,
    delta 1 + e^epsilon times (from D to D1, from D1 to D'), and shift every answer twice as far. For equalized odds
    a person is in one class only: the answers of the other do not move.
    """
    delta_cost = delta if moves == 1 else min(1.0, delta * (1 + math.exp(min(epsilon, 700.0))))
    if not order:
        rdp = 0.0
    elif defense == "gaussian":
        rdp = _composed("GaussianDpEvent", analytic_sigma(epsilon, delta) / moves, 1, order)
    elif defense == "laplace":
        rdp = _composed("LaplaceDpEvent", m / (moves * epsilon), m, order)
    else:
        parts = 1 if defense == "conceal_aware" else m
        rdp = parts * pure_rdp(moves * epsilon / parts, order)
    # rounding of the divergence itself is below 1e-12 of it
    return Cost(moves * up(epsilon), up(delta_cost, DELTA_UNIT), up(rdp * (1 + 1e-12)))


def _composed(event: str, multiplier: float, times: int, order: float) -> float:
    """Return the divergence of a noise mechanism several times over, by dp-accounting."""
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    return float(RdpAccountant([order]).compose(getattr(dp_accounting, event)(multiplier), times).rdp[0])


def pure_rdp(epsilon: float, order: float) -> float:
    """Return the largest divergence that pure epsilon allows: that of randomised response (Mironov 2017, Table II)."""
    keep, lie = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    first, second = order * keep + (1 - order) * lie, order * lie + (1 - order) * keep
    exact = (max(first, second) + math.log1p(math.exp(-abs(first - second)))) / (order - 1)
    return min(max(exact, 0.0) + 1e-15, epsilon)  # the logarithms cancel where epsilon is small
