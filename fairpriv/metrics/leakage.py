"""How much an attack recovered, and how far answers are from the truth (hamman2023, Section 5 and Appendix A.7)."""

import numpy as np


def leakage(recovered: np.ndarray, truth: np.ndarray, mask: np.ndarray | None = None) -> float:
    """Return the balanced accuracy of recovery in percent (Definition 5.1).

    People marked −1 count as not recovered; `mask` restricts the count to the people an attack is about (Y = 1 for
    equal opportunity). NaN where one of the groups has nobody left to count.
    """
    if mask is not None:
        recovered, truth = recovered[mask], truth[mask]
    right = [float(np.mean(recovered[truth == a] == a)) if (truth == a).any() else float("nan") for a in (1, 0)]
    return 50.0 * (right[0] + right[1])


def number_recovered(recovered: np.ndarray, truth: np.ndarray, mask: np.ndarray | None = None) -> int:
    """Return N_A + N_B, the number of people whose group is right (Appendix A.7)."""
    right = recovered == truth
    return int(right.sum() if mask is None else right[mask].sum())


def sp_error(answers: np.ndarray, truth: np.ndarray, bounds: tuple[float, float] = (-1.0, 1.0)) -> dict[str, float]:
    """Return summaries of the error of answers; under Cauchy noise only the first two settle as answers grow in number.

    Returns
    -------
    dict
        `clipped_mean`: mean |error| of the answers mapped into the metric's range (Remark 3); `median`: median |error|;
        `raw_mean`: mean |error|; `signed_mean`: |mean of the signed errors|.
    """
    answers, truth = np.asarray(answers, dtype=float), np.asarray(truth, dtype=float)
    raw = answers - truth
    return {
        "clipped_mean": float(np.abs(np.clip(answers, *bounds) - truth).mean()),
        "median": float(np.median(np.abs(raw))),
        "raw_mean": float(np.abs(raw).mean()),
        "signed_mean": float(np.abs(raw.mean())),
    }
