"""What a desk can be asked for: gaps that are linear in group membership, and predictive rate parity, which is not."""

import numpy as np

from fairpriv.metrics.gaps import GAPS, fairness_gap

METRICS = (*GAPS, "prp", "abs_prp")


def bias(metric: str, h: np.ndarray, group: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return the answer of each model: `fairness_gap`, or the gap in predictive values for `prp` and `abs_prp`."""
    if not metric.endswith("prp"):
        return fairness_gap(metric, h, group, label)
    gap = predictive_gap(h, group, label)
    return np.abs(gap) if metric.startswith("abs_") else gap


def predictive_gap(h: np.ndarray, group: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return P(Y = 1 | accepted, A = 1) - P(Y = 1 | accepted, A = 0) of each model (hamman2023, Remark 2).

    Scores count as probabilities of being accepted. A group of which nobody is accepted has the value 0, as
    scikit-learn's precision: a refusal to answer would itself tell that a group is missing among those accepted.

    Examples
    --------
    >>> import numpy as np
    >>> h, group, label = np.array([[1, 1, 1, 0]]), np.array([1, 1, 0, 0]), np.array([1, 0, 1, 1])
    >>> predictive_gap(h, group, label)  # one of two in group 1 is right, the one in group 0 as well
    array([-0.5])
    """
    values = []
    for a in (1, 0):
        accepted = h[:, group == a].sum(axis=1)
        right = h[:, (group == a) & (label == 1)].sum(axis=1)
        values.append(np.divide(right, accepted, out=np.zeros(len(h)), where=accepted > 0))
    return values[0] - values[1]
