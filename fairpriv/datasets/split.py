"""Splits of a dataset's rows: stratified parts, and a test set with a given number of each group."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fairpriv import validate
from fairpriv.errors import BadRequest

if TYPE_CHECKING:
    from fairpriv.datasets.base import Dataset

BY = ("label", "group", "both", "none")


def stratified_split(
    data: "Dataset | np.ndarray", fractions: Sequence[float], rng: np.random.Generator, by: str = "label"
) -> list[np.ndarray]:
    """Split rows into parts with the same share of every stratum.

    Parameters
    ----------
    data : Dataset or array
        The dataset, or the strata themselves (then `by` is not used).
    fractions : sequence of float
        Size of each part; they add up to at most 1 (rows left over belong to no part).
    rng : numpy Generator
        Source of randomness.
    by : {"label", "group", "both", "none"}
        What the strata are.

    Returns
    -------
    list of ndarray
        Sorted row indices of each part. Part sizes are exact to rounding, and so is each stratum's share (to one row).
    """
    for fraction in fractions:
        validate.number("fraction", fraction, above=0, at_most=1)
    if sum(fractions) > 1 + 1e-9:
        raise BadRequest(f"fractions must add up to at most 1, got {sum(fractions):g}")
    strata = _strata(data, by)
    # Rank each row within its stratum at random and scale the rank to (0, 1): cutting the merged order anywhere then
    # takes the same share of every stratum.
    order = rng.permutation(len(strata))
    position = np.empty(len(strata))
    for value in np.unique(strata):
        rows = order[strata[order] == value]
        position[rows] = (np.arange(len(rows)) + rng.random()) / len(rows)
    merged = np.argsort(position, kind="stable")
    cuts = np.round(np.cumsum([0.0, *fractions]) * len(strata)).astype(int)
    return [np.sort(merged[a:b]) for a, b in pairwise(cuts)]


def draw_test_set(dataset: "Dataset", n: int, n0: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw a test set with exactly `n0` rows of group 0 and `n - n0` of group 1; return its rows and the others."""
    validate.integer("n", n, at_least=2)
    validate.integer("n0", n0, at_least=1, at_most=n - 1)
    drawn = []
    for group, wanted in ((0, n0), (1, n - n0)):
        rows = np.flatnonzero(dataset.group == group)
        if wanted > len(rows):
            raise BadRequest(
                f"dataset {dataset.name}: a test set of n = {n} with n0 = {n0} needs {wanted} rows of group {group}, "
                f"there are {len(rows)}"
            )
        drawn.append(rng.choice(rows, wanted, replace=False))
    test = np.sort(np.concatenate(drawn))
    return test, np.setdiff1d(np.arange(len(dataset)), test)


def _strata(data: "Dataset | np.ndarray", by: str) -> np.ndarray:
    if not hasattr(data, "group"):
        return np.unique(np.asarray(data), return_inverse=True)[1]
    validate.choice("by", by, BY)
    if by == "both":
        return 2 * data.label + data.group
    return {"label": data.label, "group": data.group, "none": np.zeros(len(data), np.int8)}[by]
