"""experiment=attribute_reveal: exact answers to bias queries reveal protected attributes (hamman2023, Section 3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.protocols.base import Result
from fairpriv.protocols.bias_queries import BiasQueries, play
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class AttributeReveal(BiasQueries):
    """Plays every attack of Section 3 on exact answers: leakage against queries, and the queried models' accuracy."""

    name: ClassVar[str] = "attribute_reveal"
    paper: ClassVar[str] = "hamman2023, Section 3, A.3, A.7"
    presented_by: ClassVar[str] = "fairpriv.report.hamman2023"
    shared: ClassVar[tuple[str, ...]] = ("m", "attack.decoder")

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Play the game of each cell."""
        return play(cells, load)
