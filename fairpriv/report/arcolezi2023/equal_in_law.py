"""Points of the grid at which two protocols have the same law: their differences are chance and nothing else."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from fairpriv.mechanisms.budget import split_budget
from fairpriv.mechanisms.ldp import BLH, OLH, SubsetSelection
from fairpriv.report.arcolezi2023.paired import LEVEL, p_against
from fairpriv.report.arcolezi2023.rows import FAIRNESS, UTILITY
from fairpriv.report.summary import half_width

# Table 2: the domain sizes of the four attributes
SIZES = {"adult_reconstructed": (2, 5, 41, 74), "acs_public_coverage": (2, 50, 2, 24), "lsac": (2, 5, 2, 2)}
# SS with subsets of one value is GRR; OLH on two hashes is BLH
PAIRS: dict[tuple[str, str], Callable[[int, float], bool]] = {
    ("ss", "grr"): lambda k, epsilon: SubsetSelection(k, epsilon).omega == 1,
    ("olh", "blh"): lambda k, epsilon: OLH(k, epsilon).g == BLH(k, epsilon).g,
}


def equal(one: str, other: str, dataset: str, split: str, epsilon: float) -> bool:
    """Tell whether two protocols give reports of the same law on all attributes of Table 2."""
    sizes = {str(i): k for i, k in enumerate(SIZES[dataset])}
    shares = split_budget(epsilon, sizes, split, one).entries
    return all(PAIRS[one, other](k, shares[a]) for a, k in sizes.items())


def _points(main: pd.DataFrame) -> Iterator[tuple[str, str, tuple[str, str, float]]]:
    known = main[main["dataset"].isin(list(SIZES)) & np.isfinite(main["epsilon"])]
    for point in known.groupby(["dataset", "defense.split", "epsilon"]).groups:
        yield from ((one, other, point) for one, other in PAIRS if equal(one, other, *point))


def table(main: pd.DataFrame) -> pd.DataFrame:
    """Return the paired difference of every metric at each such point; what is beyond chance is a false alarm."""
    keys, metrics = ["dataset", "defense.split", "epsilon"], [*UTILITY, *FAIRNESS]
    by = main.set_index(["defense.protocol", *keys, "seed"])[metrics].sort_index()
    out = []
    for one, other, point in _points(main):
        if not all((p, *point) in by.index for p in (one, other)):
            continue
        apart = (by.loc[(one, *point)] - by.loc[(other, *point)]).dropna()
        if len(apart) > 1:
            alarms = int((2 * np.minimum(p_against(apart), 1 - p_against(apart)) < LEVEL).sum())
            line = {"protocol": one, "is": other, **dict(zip(keys, point)), "seeds": len(apart)}
            line |= {"tests": len(metrics), "false_alarms": alarms}
            line |= {m: apart[m].mean() for m in metrics}
            out.append(line | {f"{m}_half_width": half_width(apart[m].to_numpy()) for m in metrics})
    return pd.DataFrame(out)
