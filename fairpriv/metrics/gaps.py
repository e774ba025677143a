"""Group fairness gaps of many models at once: rows of a prediction matrix H (m models × n individuals)."""

import numpy as np

GAPS = ("sp", "abs_sp", "eo", "abs_eo", "eodds", "abs_eodds")


def _gap(h: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Mean prediction of group 1 minus that of group 0, per model (hamman2023, Definition 2.1)."""
    n1 = group.sum()
    weights = np.where(group == 1, 1.0 / n1, -1.0 / (len(group) - n1))
    return h @ weights


def fairness_gap(metric: str, h: np.ndarray, group: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return the gap of each model: (m,), or (m, 2) for equalized odds (Y = 1 first, then Y = 0).

    hamman2023, Definitions 2.1 and 2.2: `sp` statistical parity, `eo` equal opportunity (Y = 1 only), `eodds` equalized
    odds; `abs_` their absolute values.
    """
    name = metric.removeprefix("abs_")
    if name == "sp":
        gap = _gap(h, group)
    elif name == "eo":
        gap = _gap(h[:, label == 1], group[label == 1])
    else:
        gap = np.stack([_gap(h[:, label == y], group[label == y]) for y in (1, 0)], axis=1)
    return np.abs(gap) if metric.startswith("abs_") else gap
