"""Other attack models held against the printed reconstructions: what a setting that the paper does not print can do."""

from typing import Any

import numpy as np
import pandas as pd

from fairpriv.metrics.unfairness import METRICS as FAIRNESS
from fairpriv.report.ferry2023.figures import printed
from fairpriv.report.ferry2023.tables import ADVERSARIES, NOTIONS, TITLES
from fairpriv.report.figures import COLOURS, canvas, heading, legend_below
from fairpriv.report.papers import paper_of
from fairpriv.report.summary import half_width, summarise
from fairpriv.report.verdicts import compare

LABELS = {"stored": "stored (40 evaluations, once)", "random_forest_depth9": "depth 9"}
LABELS |= {"random_forest_tuned": "100 evaluations in each run"}
METRICS = ("baseline", "corrected", "corrected_estimated")


def several(rows: pd.DataFrame) -> bool:
    """Tell whether attack models are compared: some dataset has more than one."""
    return "model" in rows and bool((rows.groupby("dataset")["model"].nunique() > 1).any())


def each(rows: pd.DataFrame) -> pd.DataFrame:
    """Return every printed reconstruction beside each attack model's: mean, 95 % interval, verdict."""
    paper, out = paper_of("ferry2023"), []
    for table in paper.tables if paper else ():
        for number in (n for n in table.numbers if n.metric in METRICS):
            of_dataset = rows[rows["dataset"] == number.selectors["dataset"]]
            for model, part in of_dataset.groupby("model"):
                found = compare(table, number, part)
                if found["verdict"] == "not run":
                    continue
                said = {"table": table.name, **number.selectors, "metric": number.metric, "paper": number.ours}
                shown = {name: found[name] for name in ("ours", "low", "high", "seeds", "verdict")}
                out.append(said | {"model": _label(model)} | shown | {"difference": found["ours"] - number.ours})
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
    by = [c for c in ("dataset", "defense", "fairness", "attack", "model") if c in done]
    found = {
        "forests": each(done),
        "forests_counts": counts(done),
        "forests_means": summarise(done, by, [m for m in METRICS if m in done]),
    }
    return {name: table for name, table in found.items() if not table.empty}


def figure(rows: pd.DataFrame) -> Any:
    """Draw each attack model's guess (hollow) and correction (filled) beside what the paper prints, a dataset a row."""
    done = rows[rows["status"] == "done"] if "status" in rows else rows
    done = done[done["fairness"].notna()]
    done = done.assign(model=[_label(name) for name in done["model"]])
    shown = [d for d in [*TITLES, *sorted(set(done["dataset"]) - set(TITLES))] if (done["dataset"] == d).any()]
    if not shown:
        return None
    drawn, axes = canvas(1, len(shown), width=10.0, height=3.0)
    models = sorted(done["model"].unique())
    for axis, dataset in zip(axes.flat, shown):
        here = done[done["dataset"] == dataset]
        places = [(m, a) for m in FAIRNESS for a in sorted(here["attack"].unique()) if (here["fairness"] == m).any()]
        for i, model in enumerate(models):
            _points(axis, here[here["model"] == model], places, 0.2 * (i - (len(models) - 1) / 2), COLOURS[i], model)
        for x, (metric, attack) in enumerate(places):
            for what, style in (("baseline", ":"), ("corrected", "-")):
                value = printed().get((dataset, metric, attack, what))
                if value is not None:
                    axis.hlines(value, x - 0.4, x + 0.4, colors="black", linestyles=style, label=f"paper: {what}")
        axis.set_xticks(range(len(places)), [f"{m}, {ADVERSARIES.get(a, a)}" for m, a in places])
        axis.set_title(TITLES.get(dataset, dataset), fontsize=10.5)
        axis.set_ylabel("accuracy")
    seeds = done.groupby(["dataset", "model", "fairness", "attack"])["seed"].nunique()
    said = "one seed, no bars" if seeds.max() == 1 else f"{seeds.min()} to {seeds.max()} seeds, bars: 95 % intervals"
    what = f"ferry2023, Table III by other attack models: guess (hollow), correction (filled); {said}"
    heading(drawn, f"{what}\n{NOTIONS}", fontsize=11)
    found = dict(zip(*reversed(axes.flat[0].get_legend_handles_labels())))
    legend_below(drawn, list(found.values()), list(found), columns=3)
    return drawn


def _points(axis: Any, part: pd.DataFrame, places: list, shift: float, colour: str, model: str) -> None:
    for column, fill in (("baseline", "white"), ("corrected", colour)):
        chosen = [part.loc[(part["fairness"] == m) & (part["attack"] == a), column].to_numpy(float) for m, a in places]
        means = [v.mean() if len(v) else np.nan for v in chosen]
        halves = np.nan_to_num([half_width(v) for v in chosen])
        style = {"fmt": "o", "color": colour, "markerfacecolor": fill, "markersize": 5, "capsize": 2}
        label = LABELS.get(model, model) if column == "corrected" else None
        axis.errorbar(np.arange(len(places)) + shift, means, halves, label=label, **style)
