"""Tables of ldp_intersections: gaps between crossed groups beside those of the protected attribute alone."""

import pandas as pd

from fairpriv.report.arcolezi2023.rows import POINT, parts, tidy
from fairpriv.report.summary import half_width, summarise

# the widest gap among crossed groups, and the same of the protected attribute alone
PAIRS = {"worst_spd": "spd", "worst_eod": "eod", "worst_oad": "oad"}
METRICS = ["groups", "left_out", "worst_di", *PAIRS, "di", *PAIRS.values(), "acc", "balanced_accuracy"]


def changes(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each LDP row minus the NonDP row of its dataset, model and seed, in the size of every gap."""
    gaps = [*PAIRS, *PAIRS.values()]
    noisy, bare = parts(rows.assign(**{m: rows[m].abs() for m in gaps}))
    keys = ["dataset", "model", "seed"]
    base = bare.drop_duplicates(keys).set_index(keys)[gaps]
    matched = base.reindex(pd.MultiIndex.from_frame(noisy[keys])).set_axis(noisy.index)
    return noisy.assign(**{m: noisy[m] - matched[m] for m in gaps}).dropna(subset=gaps)


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the gaps a setting; how LDP changes them, setting by setting and in all; and who is worst off."""
    rows = tidy(rows)
    out = {"intersections": summarise(rows, ["dataset", "model", *POINT[1:]], METRICS)}
    change = changes(rows)
    if len(change):
        out["changes"] = summarise(change, POINT, [*PAIRS, *PAIRS.values()])
        out["improved"] = _improved(change)
    who = rows.groupby(["dataset", "crossed", "least_selected", "most_selected"]).size().rename("cells")
    out["worst_off"] = who.sort_values(ascending=False).reset_index()
    return out


def _improved(change: pd.DataFrame) -> pd.DataFrame:
    """Return in how many settings a gap became no wider, among crossed groups and for the protected attribute alone."""
    out = []
    for dataset, some in change.groupby("dataset", sort=False):
        for crossed, alone in PAIRS.items():
            point = some.groupby(POINT)[[crossed, alone]].mean()
            by_seed = some.groupby("seed")[[crossed, alone]].mean()
            line = {"dataset": dataset, "gap": alone, "settings": len(point), "seeds": some["seed"].nunique()}
            for name, metric in (("crossed", crossed), ("alone", alone)):
                line[f"no_wider_{name}"] = int((point[metric] <= 0).sum())
                line[f"change_{name}"] = by_seed[metric].mean()
                line[f"change_{name}_half_width"] = half_width(by_seed[metric].to_numpy())
            out.append(line)
    return pd.DataFrame(out)
