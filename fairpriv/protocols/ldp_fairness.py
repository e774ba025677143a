"""experiment=ldp_fairness: collecting sensitive attributes under LDP, and fairness and utility (arcolezi2023)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.metrics.group_fairness import group_fairness, utility
from fairpriv.protocols.base import Check, Protocol, Result
from fairpriv.protocols.ldp_tables import SENSITIVE, OneHotTable, sensitive_attributes
from fairpriv.registry import register
from fairpriv.validate import choice


def _defense(cell: Cell) -> Any:
    """Build the cell's collection at its ε; the baseline without LDP has none."""
    return cell.plugin("defense", epsilon=cell.get("epsilon", float("inf")))


@register
@dataclass(frozen=True)
class LdpFairness(Protocol):
    """Trains on LDP reports of the sensitive attributes, tests on true ones (Figures 2-13)."""

    name: ClassVar[str] = "ldp_fairness"
    paper: ClassVar[str] = "arcolezi2023, Sections 4 and 5, Appendix A"
    shared: ClassVar[tuple[str, ...]] = ("epsilon",)

    def validate(self, cell: Cell) -> None:
        """Refuse parameters out of range."""
        cell.plugin("model")
        _defense(cell)
        choice("sensitive", cell["sensitive"], SENSITIVE)

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Split and encode once, then collect, train and test once a cell."""
        data, seed = load(cells[0]), cells[0].seed
        chosen = sensitive_attributes(data, cells[0]["sensitive"], seed)
        # the authors' own split, so that results can be compared seed by seed
        rows = train_test_split(np.arange(len(data)), test_size=0.2, stratify=data.label, random_state=seed)
        train, test = (OneHotTable.of(data, chosen).take(part) for part in rows)
        label, group = data.label[rows[1]], data.group[rows[1]]
        results = []
        for cell in cells:
            rng = cell.rng("collect", "dataset", "sensitive", "defense", "epsilon")
            reports, ledger = _defense(cell).collect(train.codes(chosen), train.sizes(chosen), rng)
            train.replace(reports)  # every sensitive block, so that nothing of another cell stays
            model = cell.plugin("model").fit(train.frame, data.label[rows[0]], cell.rng("model", "dataset", "model"))
            score = model(test.frame)
            predicted = score > 0.5
            (fair, why), (useful, why_not) = group_fairness(label, predicted, group), utility(label, predicted, score)
            about = {"d_s": len(chosen), "attributes": " ".join(chosen), "epsilon_spent": ledger.spent}
            results.append(Result(useful | fair | about | {"note": "; ".join((*why, *why_not))}))
        return results

    def tables(self, rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
        """Return the numbers of every figure, and the paired comparisons."""
        from fairpriv.report.ldp_fairness import tables

        return tables(rows)

    def figures(self, rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
        """Return Figures 2-13, and beyond: paired differences and the trade-off."""
        from fairpriv.report.ldp_fairness import figures

        return figures(rows)

    def checks(self, rows: pd.DataFrame) -> dict[str, Check]:
        """Return the paper's claims as checks."""
        from fairpriv.report.ldp_fairness import checks

        return checks(rows)
