"""Collect sensitive attributes by local hashing with wholly independent hash functions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.collection.ldp_collection import LDPCollection
from fairpriv.mechanisms.budget import SPLITS, Ledger, split_budget
from fairpriv.mechanisms.ldp.independent_hashing import INDEPENDENT
from fairpriv.registry import param, register


@register
@dataclass(frozen=True)
class LDPIndependentHashing(LDPCollection):
    """Local hashing as ldp_collection has it, by hash functions whose values are all independent and not in pairs only.

    A class of its own and no parameter of ldp_collection, whose finished cells all reach its code.
    """

    name: ClassVar[str] = "ldp_independent_hashing"
    paper: ClassVar[str] = "arcolezi2023, Section 3.3"

    protocol: str = param("blh", "a local hashing protocol", choices=tuple(INDEPENDENT))
    split: str = param("uniform", "how the budget is divided among the attributes", choices=tuple(SPLITS))

    def __post_init__(self) -> None:
        validate.choice("protocol", self.protocol, tuple(INDEPENDENT))
        validate.choice("split", self.split, tuple(SPLITS))
        super().__post_init__()

    def collect(
        self, values: Mapping[str, np.ndarray], sizes: Mapping[str, int], rng: np.random.Generator
    ) -> tuple[dict[str, np.ndarray], Ledger]:
        """Return the indicator matrix (n, k) of every attribute, and the ledger of one person."""
        ledger = split_budget(self.epsilon, {a: sizes[a] for a in values}, self.split, self.protocol)
        protocols = {a: INDEPENDENT[self.protocol](sizes[a], ledger.entries[a]) for a in values}
        draws = dict(zip(values, rng.spawn(len(values))))
        return {a: p.indicator(p.perturb(values[a], draws[a])) for a, p in protocols.items()}, ledger
