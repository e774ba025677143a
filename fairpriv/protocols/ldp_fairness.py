"""experiment=ldp_fairness: collecting sensitive attributes under LDP, and fairness and utility (arcolezi2023)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import train_test_split

from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.defenses.collection.base import CollectionDefense
from fairpriv.metrics.group_fairness import group_fairness, utility
from fairpriv.models.base import Model
from fairpriv.protocols.base import Protocol, Result
from fairpriv.protocols.one_hot_table import SENSITIVE, OneHotTable, check_discrete, sensitive_attributes
from fairpriv.registry import register
from fairpriv.validate import choice, number


def _defense(cell: Cell) -> Any:
    """Build the cell's collection at its ε; the baseline without LDP has none."""
    return cell.plugin("defense", epsilon=cell.get("epsilon", float("inf")))


@register
@dataclass(frozen=True)
class LdpFairness(Protocol):
    """Trains on LDP reports of the sensitive attributes, tests on true ones (Figures 2-13)."""

    name: ClassVar[str] = "ldp_fairness"
    paper: ClassVar[str] = "arcolezi2023, Sections 4 and 5, Appendix A"
    presented_by: ClassVar[str] = "fairpriv.report.arcolezi2023"
    shared: ClassVar[tuple[str, ...]] = ("epsilon",)

    accepts: ClassVar[Mapping[str, type]] = {"defense": CollectionDefense, "model": Model}

    def build(self, cell: Cell, group: str) -> Any:
        """Build a plug-in: the defense at the cell's ε."""
        return _defense(cell) if group == "defense" else cell.plugin(group)

    def validate(self, cell: Cell) -> None:
        """Refuse a wrong family and parameters out of range."""
        if "epsilon" in cell.axes:
            number("epsilon", cell["epsilon"], above=0)
        super().validate(cell)
        choice("sensitive", cell.get("sensitive"), SENSITIVE)

    def fits(self, cell: Cell, dataset: Dataset) -> None:
        """Refuse sensitive attributes that the dataset does not have, or that are not discrete."""
        super().fits(cell, dataset)
        for attribute in sensitive_attributes(dataset, cell["sensitive"], cell.seed):
            if attribute != dataset.protected:
                check_discrete(dataset, attribute)

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
