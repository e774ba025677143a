"""What is made of arcolezi2023's rows: Figures 2-7 and, with other attributes, 8-13; or hash functions compared."""

from typing import Any

import pandas as pd

from fairpriv.report.arcolezi2023 import hashing
from fairpriv.report.arcolezi2023.claims import checks as paper_checks
from fairpriv.report.arcolezi2023.figures import figures as paper_figures
from fairpriv.report.arcolezi2023.tables import tables as paper_tables
from fairpriv.report.check import Check
from fairpriv.report.presenter import Arrays, Presenter


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the paper's tables; where hash functions are compared, that alone."""
    return hashing.tables(rows) if hashing.several(rows) else paper_tables(rows)


def figures(rows: pd.DataFrame, arrays: Arrays) -> dict[str, Any]:
    """Return the paper's figures; where hash functions are compared, that alone."""
    if not hashing.several(rows):
        return paper_figures(rows, arrays)
    compared = hashing.figure(rows)
    return {} if compared is None else {"hashing": compared}


def checks(rows: pd.DataFrame) -> dict[str, Check]:
    """Return the checks of the paper's claims; rows of two families of hash functions speak of none."""
    return {} if hashing.several(rows) else paper_checks(rows)


PRESENTERS = {"ldp_fairness": Presenter(tables, figures, checks)}
