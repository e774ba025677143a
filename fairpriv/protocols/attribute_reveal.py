"""experiment=attribute_reveal: exact answers to bias queries reveal protected attributes (hamman2023, Section 3)."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.protocols.bias_queries import BiasQueries
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class AttributeReveal(BiasQueries):
    """Plays every attack of Section 3 on exact answers: leakage against queries, and the queried models' accuracy."""

    name: ClassVar[str] = "attribute_reveal"
    paper: ClassVar[str] = "hamman2023, Section 3, A.3, A.7"
    presented_by: ClassVar[str] = "fairpriv.report.hamman2023"
    shared: ClassVar[tuple[str, ...]] = ("n0", "m", "attack.decoder")
