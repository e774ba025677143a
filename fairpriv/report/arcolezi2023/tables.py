"""Tables of ldp_fairness: the numbers of the figures, and paired differences over seeds."""

import pandas as pd

from fairpriv.report.arcolezi2023 import equal_in_law, paired, weightings
from fairpriv.report.arcolezi2023.paired import claimed
from fairpriv.report.arcolezi2023.rows import (
    DATASETS,
    FAIRNESS,
    METRICS,
    POINT,
    UTILITY,
    against_nondp,
    distances,
    k_based_minus_uniform,
    tidy,
    title,
)
from fairpriv.report.summary import half_width


def numbered(rows: pd.DataFrame) -> list[tuple[str, str, str, list[str]]]:
    """List the figures these rows can give: (name, dataset, sensitive, metrics).

    Figures 2-4 fairness and 5-7 utility with the attributes of Table 2, 8-10 and 11-13 with random ones.
    """
    out, known = [], list(DATASETS)
    for dataset, sensitive in rows.groupby(["dataset", "sensitive"]).groups:
        if dataset in known:
            first = (2 if sensitive == "table2" else 8) + known.index(dataset)
            names = [f"figure{first}", f"figure{first + 3}"]
        else:
            names = [f"{dataset}_{sensitive}_{what}" for what in ("fairness", "utility")]
        out += [(names[0], dataset, sensitive, list(FAIRNESS)), (names[1], dataset, sensitive, list(UTILITY))]
    return out


def means(rows: pd.DataFrame, by: list[str], metrics: list[str]) -> pd.DataFrame:
    """Return mean and 95 % half-width over seeds."""
    groups = rows.groupby(by, sort=True)
    out = groups["seed"].nunique().rename("seeds").to_frame()
    for metric in metrics:
        out[metric] = groups[metric].mean()
        out[f"{metric}_half_width"] = groups[metric].agg(half_width)
    return out.reset_index()


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return one table a figure; differences to NonDP; of the splits; and a summary a protocol."""
    rows = tidy(rows)
    out = {"means": means(rows, ["dataset", "model", *POINT[1:]], METRICS)}
    for name, dataset, sensitive, metrics in numbered(rows[rows["defense.protocol"] != "nondp"]):
        of_figure = (rows["sensitive"] == sensitive) | (rows["defense.protocol"] == "nondp")
        some = rows[(rows["dataset"] == dataset) & of_figure]
        out[name] = means(some, ["defense.split", "defense.protocol", "epsilon"], metrics)
    lost = against_nondp(rows)
    if len(lost):
        out["paired_nondp"] = means(lost, POINT, METRICS)
        # how much nearer to perfectly fair: negative is fairer than NonDP
        apart = against_nondp(distances(rows))
        out["protocols"] = _summary(apart)
    both = k_based_minus_uniform(rows)
    if len(both):
        out["paired_splits"] = means(both, ["dataset", "sensitive", "defense.protocol", "epsilon"], METRICS)
    main, appendix = claimed(rows)
    own = {
        "paired_claims": paired.table(rows),
        "weightings": weightings.table(main),
        "utility_losses": _losses(pd.concat([main, appendix]).drop_duplicates()),
        "equal_in_law": equal_in_law.table(main),
    }
    return out | {name: table for name, table in own.items() if len(table)}


def _losses(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what utility loses at most and on average, by dataset and metric: what "minor" would have to mean."""
    lost = against_nondp(rows)
    if lost.empty:
        return pd.DataFrame()
    points = lost.groupby(POINT)[list(UTILITY)].mean()
    level = ["dataset", "sensitive"]
    by, large = points.groupby(level=level), points[points.index.get_level_values("epsilon") >= 8].groupby(level=level)
    parts = {"mean": by.mean(), "worst": by.min(), "worst_at_8_and_above": large.min()}
    out = pd.concat(parts, axis=1).stack(0, future_stack=True).rename_axis([*level, "loss"])
    return out.reset_index()


def _summary(apart: pd.DataFrame) -> pd.DataFrame:
    """Return each protocol's mean change of distance from fair and of utility over all ε and splits, by dataset."""
    by = ["dataset", "sensitive", "defense.protocol"]
    summary = means(apart, by, METRICS)
    summary.insert(0, "title", [title(d) for d in summary["dataset"]])
    return summary
