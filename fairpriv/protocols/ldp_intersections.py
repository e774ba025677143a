"""experiment=ldp_intersections: fairness among groups of gender and race together, under LDP."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.model_selection import train_test_split

from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.errors import BadRequest
from fairpriv.metrics.group_fairness import group_fairness, utility
from fairpriv.metrics.intersections import intersection, intersection_gaps
from fairpriv.protocols.base import Result
from fairpriv.protocols.ldp_fairness import LdpFairness
from fairpriv.protocols.one_hot_table import OneHotTable, sensitive_attributes
from fairpriv.registry import register

# gender and race, by the names they have; of another table the protected attribute and the next sensitive one
CROSSED = {
    "adult_reconstructed": ("gender", "race"),
    "acs_public_coverage": ("SEX", "RAC1P"),
    "lsac": ("gender", "race1"),
}


def crossed(data: Dataset) -> dict[str, np.ndarray]:
    """Return the attributes whose values make the groups together."""
    others = [c for c in data.sensitive if c != data.protected]
    if data.name not in CROSSED and not others:
        raise BadRequest(f"ldp_intersections needs two sensitive attributes; {data.name} has {data.protected} alone")
    names = CROSSED.get(data.name) or (data.protected, others[0])
    return {n: np.asarray(data.sensitive[n] if n in data.sensitive else data.features[n]) for n in names}


@register
@dataclass(frozen=True)
class LdpIntersections(LdpFairness):
    """Trains as ldp_fairness does, and tests among groups of two attributes together.

    An experiment of its own: ldp_fairness keeps no predictions, and its finished cells are left as they are. Its random
    streams are its own too, so that the noise of the reports differs from that of ldp_fairness; splits are the same.
    """

    name: ClassVar[str] = "ldp_intersections"
    paper: ClassVar[str] = "on arcolezi2023, Section 5"
    presented_by: ClassVar[str] = "fairpriv.report.ldp_intersections"

    def fits(self, cell: Cell, dataset: Dataset) -> None:
        """Refuse what ldp_fairness refuses, and a dataset with one sensitive attribute."""
        super().fits(cell, dataset)
        crossed(dataset)

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Split and encode once, then collect, train and test once a cell."""
        data, seed = load(cells[0]), cells[0].seed
        chosen = sensitive_attributes(data, cells[0]["sensitive"], seed)
        part, rest = train_test_split(np.arange(len(data)), test_size=0.2, stratify=data.label, random_state=seed)
        table = OneHotTable.of(data, chosen)
        train, test = table.take(part), table.take(rest)
        group, names = intersection(crossed(data))
        results = []
        for cell in cells:
            rng = cell.rng("collect", "dataset", "sensitive", "defense", "epsilon")
            defense = cell.plugin("defense", epsilon=cell.get("epsilon", math.inf))
            reports, _ = defense.collect(train.codes(chosen), train.sizes(chosen), rng)
            train.replace(reports)
            model = cell.plugin("model").fit(train.frame, data.label[part], cell.rng("model", "dataset", "model"))
            score = model(test.frame)
            label, predicted = data.label[rest], score > 0.5
            gaps = intersection_gaps(label, predicted, group[rest], names)
            fair, useful = group_fairness(label, predicted, data.group[rest])[0], utility(label, predicted, score)[0]
            told = {"crossed": " x ".join(crossed(data)), "group_names": "; ".join(names)}
            results.append(Result(useful | fair | dict(gaps.metrics) | told, gaps.rates))
        return results
