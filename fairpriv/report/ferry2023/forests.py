"""Other attack models held against the printed reconstructions: what a setting that the paper does not print can do."""

import pandas as pd

from fairpriv.report.papers import papers
from fairpriv.report.verdicts import compare

METRICS = ("baseline", "corrected", "corrected_estimated")


def several(rows: pd.DataFrame) -> bool:
    """Tell whether attack models are compared: some dataset has more than one."""
    return "model" in rows and bool((rows.groupby("dataset")["model"].nunique() > 1).any())


def each(rows: pd.DataFrame) -> pd.DataFrame:
    """Return every printed reconstruction beside each attack model's: mean, 95 % interval, verdict."""
    paper, out = next(p for p in papers() if p.key == "ferry2023"), []
    for table in paper.tables:
        for printed in (n for n in table.numbers if n.metric in METRICS):
            of_dataset = rows[rows["dataset"] == printed.selectors["dataset"]]
            for model, part in of_dataset.groupby("model"):
                found = compare(table, printed, part)
                if found["verdict"] == "not run":
                    continue
                said = {"table": table.name, **printed.selectors, "metric": printed.metric, "paper": printed.ours}
                shown = {name: found[name] for name in ("ours", "low", "high", "seeds", "verdict")}
                out.append(said | {"model": _label(model)} | shown | {"difference": found["ours"] - printed.ours})
    return pd.DataFrame(out)


def _label(model: str) -> str:
    return model if model in ("random_forest_depth9", "random_forest_tuned") else "stored"


def counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, a dataset and attack model a row, the verdicts, the mean differences, and the forests there were."""
    found = each(rows)
    if found.empty:
        return found
    verdicts = found.groupby(["dataset", "model", "verdict"]).size().unstack(fill_value=0)
    apart = found.assign(off=found["difference"].abs()).pivot_table(
        index=["dataset", "model"], columns="metric", values=["difference", "off"]
    )
    apart.columns = [f"{metric}_{'mean' if what == 'difference' else 'mean_distance'}" for what, metric in apart]
    forest = rows.assign(model=rows["model"].map(_label)).groupby(["dataset", "model"])
    depth = forest["forest_max_depth"].agg(
        lambda v: f"{v.min():g} to {v.max():g}" if v.nunique() > 1 else f"{v.min():g}"
    )
    return verdicts.join(apart).join(depth.rename("depths")).reset_index()


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables by file name."""
    done = rows[rows["status"] == "done"] if "status" in rows else rows
    found = {"forests": each(done), "forests_counts": counts(done)}
    return {name: table for name, table in found.items() if not table.empty}
