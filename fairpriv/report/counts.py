"""How many verdicts of each kind, and of what differs or was not run, for which cause."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the names alone are wanted where nothing is counted
    import pandas as pd

VERDICTS = ("reproduced", "close", "consistent", "differs", "not run")
CAUSES = ("paper", "data", "unprinted", "open")
CAUSED = ("differs", "not run")  # the verdicts that carry a cause


@dataclass(frozen=True)
class Counts:
    """The split by verdict and cause; what holds by construction is in none of them."""

    tally: dict[str, int]
    causes: dict[str, dict[str, int]]
    by_construction: int

    def __str__(self) -> str:
        parts = [f"{n} {self._with_causes(verdict)}" for verdict, n in self.tally.items() if n]
        aside = f"; {self.by_construction} by construction, not counted" if self.by_construction else ""
        return (", ".join(parts) or "nothing judged") + aside

    def _with_causes(self, verdict: str) -> str:
        said = ", ".join(f"{n} {cause}" for cause, n in self.causes.get(verdict, {}).items() if n)
        return f"{verdict} ({said})" if said else verdict


def count(verdicts: "pd.DataFrame") -> Counts:
    """Count the verdicts (of tables/verdicts.csv, or as `judge` gives them)."""
    aside = verdicts["by_construction"] != ""
    counted = verdicts[~aside]
    pairs = list(zip(counted["verdict"], counted["cause"], strict=True))
    return Counts(
        {v: int((counted["verdict"] == v).sum()) for v in VERDICTS},
        {v: {c: pairs.count((v, c)) for c in CAUSES} for v in CAUSED},
        int(aside.sum()),
    )


def by_paper(verdicts: "pd.DataFrame") -> dict[str, Counts]:
    """Count the verdicts of each paper."""
    return {str(key): count(some) for key, some in verdicts.groupby("paper", sort=False)}


def still_open(verdicts: "pd.DataFrame") -> list[str]:
    """Name, one line each, what differs or was not run for a cause nobody has shown."""
    out = []
    for row in verdicts[(verdicts["cause"] == "open") & (verdicts["by_construction"] == "")].itertuples():
        name = f"{row.verdict}: {row.paper} {row.table} {row.metric}"
        if row.kind == "number":
            ours = "" if row.ours != row.ours else f", ours {row.ours:.4g}"
            out.append(f"{name} ({row.selectors}): paper {row.paper_value:.4g}{ours}")
        else:
            out.append(f"{name}: {row.detail or row.reason}")
    return out
