"""Fairness among groups that several attributes make together: the widest gap between any two of them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

LEAST = 50  # people in a group, and positives for a true positive rate: below this a rate is mostly chance


@dataclass(frozen=True)
class Gaps:
    """The widest gaps, and which groups make the one of selection."""

    metrics: Mapping[str, float | int | str]
    rates: Mapping[str, np.ndarray]  # a value a group: size, sp, tpr, acc


def intersection(columns: Mapping[str, np.ndarray]) -> tuple[np.ndarray, list[str]]:
    """Return the group of each person, and the groups' names: "F Black" for values F and Black."""
    names = [" ".join(map(str, values)) for values in zip(*columns.values())]
    found, group = np.unique(np.array(names, object).astype(str), return_inverse=True)
    return group, list(found)


def _rates(hits: np.ndarray, among: np.ndarray, group: np.ndarray, k: int) -> np.ndarray:
    """Return the share of hits a group; none (NaN) where it has too few people."""
    counts = np.bincount(group[among], minlength=k)
    found = np.bincount(group[among], weights=hits[among], minlength=k)
    return np.where(counts >= LEAST, found / np.maximum(counts, 1), np.nan)


def _gap(rates: np.ndarray) -> float:
    return float(np.nanmax(rates) - np.nanmin(rates)) if np.isfinite(rates).sum() > 1 else float("nan")


def intersection_gaps(label: np.ndarray, predicted: np.ndarray, group: np.ndarray, names: list[str]) -> Gaps:
    """Return the widest gaps between groups of at least 50 people: DI, SPD, EOD and OAD of the worst pair.

    Parameters
    ----------
    label, predicted : array of 0 and 1
    group : array of 0 .. k-1
    names : list of k names
    """
    label, predicted, k = np.asarray(label).astype(bool), np.asarray(predicted).astype(bool), len(names)
    everyone = np.ones(len(label), bool)
    sp = _rates(predicted, everyone, group, k)
    tpr, acc = _rates(predicted, label, group, k), _rates(predicted == label, everyone, group, k)
    known = np.isfinite(sp)
    metrics: dict[str, float | int | str] = {
        "groups": int(known.sum()),
        "left_out": int(np.bincount(group, minlength=k)[~known].sum()),
        "worst_di": float(np.nanmin(sp) / np.nanmax(sp)) if known.any() and np.nanmax(sp) > 0 else float("nan"),
        "worst_spd": _gap(sp),
        "worst_eod": _gap(tpr),
        "worst_oad": _gap(acc),
        "least_selected": names[int(np.nanargmin(sp))] if known.any() else "",
        "most_selected": names[int(np.nanargmax(sp))] if known.any() else "",
    }
    return Gaps(metrics, {"size": np.bincount(group, minlength=k), "sp": sp, "tpr": tpr, "acc": acc})
