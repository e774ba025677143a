"""Collect sensitive attributes under local differential privacy."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.collection.base import CollectionDefense
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.budget import SPLITS, Ledger, split_budget
from fairpriv.mechanisms.ldp import PROTOCOLS
from fairpriv.registry import param, register

NONE = "nondp"


@register
@dataclass(frozen=True)
class LDPCollection(CollectionDefense):
    """Each person perturbs each sensitive attribute on their own device; the server sees indicator vectors only."""

    name: ClassVar[str] = "ldp_collection"
    paper: ClassVar[str] = "arcolezi2023, Section 4"
    later: ClassVar[tuple[str, ...]] = ("epsilon",)  # given by the experiment's own axis

    protocol: str = param("grr", "an LDP protocol, or nondp: the values as they are", choices=(*PROTOCOLS, NONE))
    split: str = param(
        "uniform", "how the budget is divided among the attributes (nondp: nondp)", choices=(*SPLITS, NONE)
    )
    epsilon: float = param(1.0, "budget of one person for all attributes; inf for nondp only", above=0)

    def __post_init__(self) -> None:
        validate.choice("protocol", self.protocol, (NONE, *PROTOCOLS))
        validate.choice("split", self.split, (NONE, *SPLITS))
        validate.number("epsilon", self.epsilon, above=0)
        if math.isinf(self.epsilon) != (self.protocol == NONE):
            raise BadRequest(f"epsilon must be inf for protocol nondp and finite for the others, got {self.epsilon!r}")
        if (self.split == NONE) != (self.protocol == NONE):
            raise BadRequest(f"split must be nondp for protocol nondp and only then, got {self.split!r}")

    def collect(
        self, values: Mapping[str, np.ndarray], sizes: Mapping[str, int], rng: np.random.Generator
    ) -> tuple[dict[str, np.ndarray], Ledger]:
        """Return the indicator matrix (n, k) of every attribute, and the ledger of one person.

        `values` holds codes 0 .. k-1, `sizes` the domain size k of each attribute.
        """
        if self.protocol == NONE:
            return {a: codes[:, None] == np.arange(sizes[a]) for a, codes in values.items()}, Ledger(self.epsilon)
        ledger = split_budget(self.epsilon, {a: sizes[a] for a in values}, self.split, self.protocol)
        seen = {}
        for (attribute, codes), one in zip(values.items(), rng.spawn(len(values))):
            protocol = PROTOCOLS[self.protocol](sizes[attribute], ledger.entries[attribute])
            seen[attribute] = protocol.indicator(protocol.perturb(codes, one))
        return seen, ledger
