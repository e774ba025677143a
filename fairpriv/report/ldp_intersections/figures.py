"""Figures of ldp_intersections: the widest gaps against ε."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from fairpriv.report.arcolezi2023.figures import by_epsilon, seeds_told
from fairpriv.report.arcolezi2023.printed import COLUMNS
from fairpriv.report.arcolezi2023.rows import PAPER, in_order, parts, tidy, title
from fairpriv.report.page import names

SHOWN = {
    "worst_spd": "SPD, widest\nof crossed groups",
    "spd": "SPD, protected\nattribute alone",
    "worst_eod": "EOD, widest\nof crossed groups",
    "eod": "EOD, protected\nattribute alone",
}


def figures(rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
    """Return a figure a dataset."""
    noisy, bare = parts(tidy(rows))
    nobody = pd.DataFrame(columns=list(COLUMNS))
    made = {}
    for dataset in in_order(noisy[noisy["defense.protocol"].isin(PAPER)]["dataset"]):
        some, base = noisy[noisy["dataset"] == dataset], bare[bare["dataset"] == dataset]
        crossed = " x ".join(names.value(attribute) for attribute in some["crossed"].iloc[0].split(" x "))
        words = f"Beyond arcolezi2023: {title(dataset)}, groups of {crossed}, {seeds_told(some)}"
        made[f"intersections_{dataset}"] = by_epsilon(some, base, nobody, SHOWN, words)
    return made
