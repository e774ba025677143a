"""What "best trade-off" and "worst utility" could weigh: the paper does not say, so every weighting tried is shown."""

import itertools
from collections.abc import Iterator, Sequence

import pandas as pd

from fairpriv.report.arcolezi2023.rows import DATASETS, FAIRNESS, PAPER, SLIGHT, UTILITY, against_nondp, distances

USEFUL = {"all four": tuple(UTILITY), **{m: (m,) for m in UTILITY}, "auc": ("auc",)}
FAIR = {"all four": tuple(FAIRNESS), "DI, SPD, EOD": tuple(SLIGHT)}
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
SCALES = ("rank", "standardised")


def _scaled(mean: pd.DataFrame, scale: str) -> pd.DataFrame:
    """Return each metric within its dataset on one scale: small is good in all of them."""
    groups = mean.groupby(level=0)
    if scale == "rank":
        return groups.rank()
    return ((mean - groups.transform("mean")) / groups.transform("std")).fillna(0.0)  # where all are equal


def _first(score: pd.Series, number: int) -> str:
    return " ".join(sorted(score.sort_values(kind="stable").index[:number]))


def losses(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each protocol's mean over seeds, splits and ε: how much further from fair, how much utility lost."""
    apart = against_nondp(distances(rows))
    mean = apart.groupby(["dataset", "defense.protocol"])[[*UTILITY, "auc", *FAIRNESS]].mean()
    return mean.assign(**{m: -mean[m] for m in (*UTILITY, "auc")})


def _lines(mean: pd.DataFrame, useful: str, fair: str, scale: str, weights: Sequence[float]) -> Iterator[dict]:
    scaled = _scaled(mean, scale)
    for weight in weights:
        score = weight * scaled[list(USEFUL[useful])].mean(axis=1) + (1 - weight) * scaled[list(FAIR[fair])].mean(
            axis=1
        )
        by = {d: score.loc[d] for d in DATASETS}
        best = {d: _first(s, 2) for d, s in by.items()}
        yield {
            "utility": useful,
            "fairness": fair,
            "scale": scale,
            "weight_of_utility": weight,
            **{f"best_two_{d}": names for d, names in best.items()},
            "grr_ss_best": all(names == "grr ss" for names in best.values()),
            **{f"worst_{d}": str(s.idxmax()) for d, s in by.items()},
            "blh_worst": all(s.idxmax() == "blh" for s in by.values()),
        }


def table(main: pd.DataFrame) -> pd.DataFrame:
    """Return a line a weighting, where all protocols and datasets are there."""
    mean = losses(main)
    if len(mean) < len(PAPER) * len(DATASETS):
        return pd.DataFrame()
    made = itertools.product(USEFUL, FAIR, SCALES)
    return pd.DataFrame([line for one in made for line in _lines(mean, *one, WEIGHTS)])
