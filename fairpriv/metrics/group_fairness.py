"""Group fairness and utility of a binary classifier (arcolezi2023, Sections 3.1 and 5.1)."""

import numpy as np
from sklearn.metrics import roc_auc_score


def _share(hits: np.ndarray, among: np.ndarray) -> float:
    """Return the share of hits; NaN among nobody."""
    n = int(among.sum())
    return float(hits[among].sum() / n) if n else float("nan")


def group_fairness(
    label: np.ndarray, predicted: np.ndarray, group: np.ndarray
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return DI, SPD, EOD and OAD with the rates behind them, and notes on what could not be computed.

    Parameters
    ----------
    label, predicted, group : array of 0 and 1
        Truth, decision, and the protected attribute (1 is the privileged group).
    """
    label, predicted, one = (np.asarray(x).astype(bool) for x in (label, predicted, group))
    rates, notes = {}, []
    for a, members in ((1, one), (0, ~one)):
        rates[f"sp_{a}"] = _share(predicted, members)
        rates[f"tpr_{a}"] = _share(predicted, members & label)
        rates[f"acc_{a}"] = _share(predicted == label, members)
        if not members.any():
            notes.append(f"group {a} is empty")
        elif not (members & label).any():
            notes.append(f"group {a} has no positive labels: EOD undefined")
    if rates["sp_1"] == 0:
        notes.append("no positive predictions in group 1: DI undefined")
    out = {
        "di": rates["sp_0"] / rates["sp_1"] if rates["sp_1"] else float("nan"),  # Equation 1
        "spd": rates["sp_1"] - rates["sp_0"],  # Equation 2
        "eod": rates["tpr_1"] - rates["tpr_0"],  # Equation 3
        "oad": rates["acc_1"] - rates["acc_0"],  # Equation 4
    }
    return out | rates, tuple(notes)


def utility(label: np.ndarray, predicted: np.ndarray, score: np.ndarray) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return accuracy, F1, balanced accuracy, AUC and recall, and notes on what could not be computed.

    `balanced_accuracy` is the paper's "auc": the area under the curve of hard labels. `auc` is that of the scores.
    """
    label, predicted = (np.asarray(x).astype(bool) for x in (label, predicted))
    hits, notes = int((label & predicted).sum()), []
    if label.all() or not label.any():
        notes.append("only one class among the labels: auc undefined")
    both = int(label.sum() + predicted.sum())
    recall, specificity = _share(predicted, label), _share(~predicted, ~label)
    return {
        "acc": float((label == predicted).mean()) if len(label) else float("nan"),
        "f1": 2 * hits / both if both else float("nan"),
        "balanced_accuracy": (recall + specificity) / 2,
        "auc": float("nan") if notes else float(roc_auc_score(label, score)),
        "recall": recall,
    }, tuple(notes)
