"""experiment=attribute_conceal: noisy answers to bias queries (hamman2023, Section 5 and A.7)."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.protocols.bias_queries import BiasQueries
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class AttributeConceal(BiasQueries):
    """Answers bias queries under differential privacy and measures error and leakage (Tables 1-4, Figures 1-4)."""

    name: ClassVar[str] = "attribute_conceal"
    paper: ClassVar[str] = "hamman2023, Sections 4 and 5, A.7"
    presented_by: ClassVar[str] = "fairpriv.report.hamman2023"
    shared: ClassVar[tuple[str, ...]] = ("n0", "m", "epsilon", "defense", "attack.decoder", "candidate")
