"""What the paper prints in its tables, by dataset and method."""

from functools import cache

from fairpriv.report.papers import papers
from fairpriv.report.xie2024.methods import method


@cache
def printed_table2(metric: str) -> dict[tuple[str, str, float], float]:
    """Return a column of Table 2 by dataset, method and ε."""
    return {
        (n.selectors["dataset"], method(n.selectors["defense"]), float(n.selectors["epsilon"])): n.ours
        for n in _numbers("table2")
        if n.metric == metric
    }


@cache
def larger_class() -> dict[str, float]:
    """Return the larger class's share of the test part by dataset (Table 1)."""
    return {n.selectors["dataset"]: max(n.ours, 1 - n.ours) for n in _numbers("table1") if n.metric == "p_u"}


def _numbers(table: str) -> list:
    (paper,) = (p for p in papers() if p.key == "xie2024")
    return next(t for t in paper.tables if t.name == table).numbers
