"""What the paper's text and the authors' files say, as points and lines for the figures."""

from collections.abc import Iterator

import pandas as pd

from fairpriv.report.papers import papers

KEY = "arcolezi2023"
COLUMNS = ("what", "dataset", "defense.protocol", "defense.split", "epsilon", "metric", "value")


def _numbers() -> Iterator[tuple[object, ...]]:
    tables = [table for paper in papers() if paper.key == KEY for table in paper.tables]
    for table in tables:
        for number in table.numbers:
            said = number.selectors
            point = (said.get("defense.protocol"), said.get("defense.split"), float(said.get("epsilon", "inf")))
            bare = said.get("defense") == "nondp"
            # a number of the text without a protocol is the mean over all protocols and splits
            what = "text" if table.name == "text" else "nondp" if bare else "runs"
            if not (what == "text" and bare):  # NonDP is known to five digits
                yield (what, said["dataset"], *point, number.metric, number.ours)


def authors() -> pd.DataFrame:
    """Return the authors' numbers: `what` is nondp or runs (means of 20 runs, without and with LDP) or text."""
    return pd.DataFrame(list(_numbers()), columns=COLUMNS)
