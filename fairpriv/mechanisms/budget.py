"""One budget for several attributes: how it is split, and a ledger of what was spent (sequential composition)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fairpriv import validate
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.ldp import PROTOCOLS, LDPProtocol

PARTS = 240  # the variance-minimising split is in 240ths of the budget


def uniform(epsilon: float, sizes: Sequence[int], protocol: type[LDPProtocol]) -> list[float]:
    """Give every attribute the same: ε_j = ε / d."""
    return [epsilon / len(sizes)] * len(sizes)


def k_based(epsilon: float, sizes: Sequence[int], protocol: type[LDPProtocol]) -> list[float]:
    """Give every attribute its share of the domain sizes: ε_j = ε k_j / Σ k (arcolezi2023, Section 4)."""
    return [epsilon * k / sum(sizes) for k in sizes]


def least_variance(epsilon: float, sizes: Sequence[int], protocol: type[LDPProtocol]) -> list[float]:
    """Minimise the total variance of all frequency estimates, Σ_j Σ_v Var_j(ε_j), over splits into 240ths.

    Beyond the paper. Dynamic programming, since the variance of a protocol with a whole-numbered parameter (SS, OLH) is
    neither smooth nor convex in ε.
    """
    d, parts = len(sizes), np.arange(1, PARTS + 1)
    if d > PARTS:
        raise BadRequest(f"the split least_variance takes at most {PARTS} attributes, got {d}")
    costs = {k: np.array([protocol(k, float(epsilon * m / PARTS)).total_variance() for m in parts]) for k in set(sizes)}
    # best[m] after j attributes: the least cost of giving them m parts in all, at least one each
    best = np.full(PARTS + 1, np.inf)
    best[0] = 0.0
    choices = []
    for k in sizes:
        total = np.full((PARTS + 1, PARTS), np.inf)  # [all parts, parts of this one]
        for i, m in enumerate(parts):
            total[m:, i] = best[: PARTS + 1 - m] + costs[k][i]
        choices.append(total.argmin(axis=1))
        best = total.min(axis=1)
    split, rest = [], PARTS
    for choice in reversed(choices):
        split.append(int(choice[rest]) + 1)
        rest -= split[-1]
    return [epsilon * m / PARTS for m in reversed(split)]


SPLITS: dict[str, Callable[[float, Sequence[int], type[LDPProtocol]], list[float]]] = {
    "uniform": uniform,
    "k_based": k_based,
    "least_variance": least_variance,
}


@dataclass
class Ledger:
    """What of a budget was spent on what; spending more than there is is refused.

    Reports on different attributes of one person compose sequentially (arcolezi2023, Proposition 2); whatever is then
    computed from them costs nothing (Proposition 1).
    """

    epsilon: float
    entries: dict[str, float] = field(default_factory=dict)

    @property
    def spent(self) -> float:
        """Return Σ ε_j."""
        return math.fsum(self.entries.values())

    def spend(self, attribute: str, epsilon: float) -> None:
        """Write down one report; rounding of the last bits is let through."""
        validate.number(f"epsilon of {attribute}", epsilon, above=0)
        if attribute in self.entries:
            raise BadRequest(f"{attribute} was collected already")
        if self.spent + epsilon > self.epsilon * (1 + 1e-12):
            left = f"{self.spent:g} of {self.epsilon:g} is spent"
            raise BadRequest(f"{attribute} at epsilon {epsilon:g} would exceed the budget: {left}")
        self.entries[attribute] = epsilon


def split_budget(epsilon: float, sizes: Mapping[str, int], split: str, protocol: str) -> Ledger:
    """Return the ledger of one person whose attributes, of these domain sizes, are collected with this split."""
    validate.choice("split", split, tuple(SPLITS))
    validate.choice("protocol", protocol, tuple(PROTOCOLS))
    validate.number("epsilon", epsilon, above=0)
    if not sizes:
        raise BadRequest("there must be at least one sensitive attribute")
    ledger = Ledger(epsilon)
    for attribute, share in zip(sizes, SPLITS[split](epsilon, list(sizes.values()), PROTOCOLS[protocol])):
        ledger.spend(attribute, share)
    return ledger
