"""What is made of ferry2023's rows."""

from typing import Any

import pandas as pd

from fairpriv.report.ferry2023 import forests, prior
from fairpriv.report.ferry2023.claims import checks
from fairpriv.report.ferry2023.figures import figures as paper_figures
from fairpriv.report.ferry2023.tables import tables as paper_tables
from fairpriv.report.presenter import Arrays, Presenter


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the paper's tables and the question of the prior; where attack models are compared, that alone."""
    if forests.several(rows):
        return forests.tables(rows)
    more = {
        "prior": prior.means(rows),
        "prior_differences": prior.differences(rows),
        "prior_counts": prior.counts(rows),
    }
    return paper_tables(rows) | {name: table for name, table in more.items() if not table.empty}


def figures(rows: pd.DataFrame, arrays: Arrays) -> dict[str, Any]:
    """Return the paper's figures and that of the prior; where attack models are compared, that alone."""
    if forests.several(rows):
        compared = forests.figure(rows)
        return {} if compared is None else {"forests": compared}
    asked = {"prior": prior.figure(rows), "prior_adversary_xy": prior.figure(rows, "adversary_xy")}
    return paper_figures(rows) | {name: figure for name, figure in asked.items() if figure is not None}


PRESENTERS = {"reconstruction_correction": Presenter(tables, figures, checks)}
