"""The figure of the audits: claimed, accounted and audited ε, a line a mechanism, its claims side by side."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.report.epsilon_audit.tables import audited
from fairpriv.report.figures import COLOURS, canvas, heading, legend_below
from fairpriv.report.page import names

WORDS = {"claimed": "claimed", "accounted": "accounted (the law's worst case)", "audited": "proved by outputs"}
LEAST = 1e-3  # where a bound of zero is drawn


def _named(mechanism: str) -> str:
    """Return a mechanism by the names a reader knows."""
    return " ".join(names.value(word) for word in mechanism.replace("ldp_collection ", "").split(" "))


def figures(rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
    """Return the figure."""
    found = audited(rows)
    lines = list(dict.fromkeys(found["mechanism"]))[::-1]  # the claims of one mechanism share a line
    at = found["mechanism"].map(lines.index).to_numpy()
    figure, axes = canvas(width=9.0, height=max(3.0, 0.2 * len(lines) + 1.4))
    axis = axes[0][0]
    broken = found["verdict"].isin(["VIOLATED", "unprotected"]).to_numpy()
    for i in np.unique(at[broken]):
        axis.axhspan(i - 0.5, i + 0.5, color=COLOURS[1], alpha=0.15, linewidth=0)
    looks = {
        "claimed": {"marker": "|", "s": 110, "color": "black", "linewidths": 1.6},
        "accounted": {"marker": "o", "s": 26, "facecolors": "none", "edgecolors": COLOURS[0]},
        "audited": {"marker": ">", "s": 18, "color": COLOURS[1]},
    }
    for column, look in looks.items():
        values = found[column].to_numpy(float)
        shown = np.isfinite(values)
        axis.scatter(np.maximum(values[shown], LEAST), at[shown], label=WORDS[column], **look)
    axis.set_xscale("log")
    axis.set_yticks(range(len(lines)), [_named(line) for line in lines], fontsize=9)
    axis.set_ylim(-0.7, len(lines) - 0.3)
    heading(figure, f"ε claimed, accounted and audited: {len(lines)} mechanisms, {len(found)} claims")
    axis.set_xlabel("ε (a bound of zero is drawn at 0.001; shaded: the claim does not hold)")
    legend_below(figure, axis.get_legend_handles_labels()[0], columns=3)
    return {"epsilon": figure}
