"""experiment=attribute_reveal: exact answers to bias queries reveal protected attributes (hamman2023, Section 3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd

from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.protocols.base import Check, Result
from fairpriv.protocols.bias_queries import BiasQueries, play
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class AttributeReveal(BiasQueries):
    """Plays every attack of Section 3 on exact answers: leakage against queries, and the queried models' accuracy."""

    name: ClassVar[str] = "attribute_reveal"
    paper: ClassVar[str] = "hamman2023, Section 3, A.3, A.7"
    shared: ClassVar[tuple[str, ...]] = ("m", "attack.decoder")

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Play the game of each cell."""
        return play(cells, load)

    def tables(self, rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
        """Return a summary of every point, and the accuracies of the realistic models."""
        from fairpriv.protocols.hamman_tables import reveal_tables

        return reveal_tables(rows)

    def checks(self, rows: pd.DataFrame) -> dict[str, Check]:
        """Return the paper's claims as checks."""
        from fairpriv.protocols.hamman_claims import reveal_checks

        return reveal_checks(rows)

    def figures(self, rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
        """Return leakage against queries (noiseless lines of Figures 1a and 4a) and recovered s̄ vectors."""
        from fairpriv.protocols import hamman_figures as draw
        from fairpriv.protocols.hamman_tables import with_axes

        rows = with_axes(rows)
        made = {"queries": draw.reveal_by_queries(rows), "recovered": draw.reveal_vectors(arrays)}
        return {name: figure for name, figure in made.items() if figure is not None}
