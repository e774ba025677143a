"""experiment=attribute_conceal: noisy answers to bias queries (hamman2023, Section 5 and A.7)."""

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
class AttributeConceal(BiasQueries):
    """Answers bias queries under differential privacy and measures error and leakage (Tables 1-4, Figures 1-4)."""

    name: ClassVar[str] = "attribute_conceal"
    paper: ClassVar[str] = "hamman2023, Sections 4 and 5, A.7"
    shared: ClassVar[tuple[str, ...]] = ("n0", "m", "epsilon", "defense", "attack.decoder")

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Play the game of each cell."""
        return play(cells, load)

    def tables(self, rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
        """Return a summary of every point, the paper's tables in their layout, and what the strongest attacker gets."""
        from fairpriv.protocols.hamman_tables import conceal_tables

        return conceal_tables(rows)

    def checks(self, rows: pd.DataFrame) -> dict[str, Check]:
        """Return the paper's claims as checks."""
        from fairpriv.protocols.hamman_claims import conceal_checks

        return conceal_checks(rows)

    def figures(self, rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
        """Return Figures 1 to 4, and beyond: the attackers side by side and the mechanisms side by side."""
        from fairpriv.protocols import hamman_figures as draw
        from fairpriv.protocols.hamman_tables import with_axes

        rows = with_axes(rows)
        made = {
            "figure1": draw.figure1(rows, arrays),
            "figure2": draw.figure2(rows),
            "figure3": draw.figure3(arrays),
            "figure4": draw.figure4(rows, arrays),
            "attackers": draw.attackers(rows),
            "mechanisms": draw.mechanisms(rows),
        }
        return {name: figure for name, figure in made.items() if figure is not None}
