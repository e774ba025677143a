"""Theorem 2: how many random binary models reveal everybody, against its order N0 log(n/N0)."""

import numpy as np
import pandas as pd


def phase_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the noiseless rows with random binary models on synthetic people, with `all`: was everybody revealed."""
    some = rows[(rows["attack"] == "reveal_compressed") & (rows["attack.queries"] == "binary")]
    some = some[(some["dataset"] == "synthetic") & (some["attack.decoder"] == "l1")]
    return some.assign(all=(some["leakage"] == 100).astype(float))


def fitted(m: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Return the m at which half of the runs reveal everybody, with its standard error: a logistic curve in m.

    The curve is fitted by likelihood, over a grid; the error comes from its curvature in the midpoint.
    """
    middles = np.linspace(m.min(), m.max(), 400)
    widths = np.geomspace(0.004, 0.2, 25) * m.max()
    z = (m[None, None, :] - middles[:, None, None]) / widths[None, :, None]
    log = -np.logaddexp(0, -z) * right - np.logaddexp(0, z) * (1 - right)
    profile = log.sum(axis=2).max(axis=1)  # over widths
    inside = middles[profile >= profile.max() - 0.5]  # one deviation either side
    return float(middles[profile.argmax()]), float((inside[-1] - inside[0]) / 2)


def thresholds(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, for each n and N0 whose sweep of m passes from none to all, the m that half of the runs need."""
    out = []
    for (n, n0), some in phase_rows(rows).groupby(["n", "n0"]):
        share = some.groupby("m")["all"].mean()
        if len(share) < 4 or share.min() > 0.2 or share.max() < 0.8:
            continue
        middle, error = fitted(some["m"].to_numpy(float), some["all"].to_numpy(float))
        order = n0 * np.log(n / n0)
        found = {"n": n, "n0": n0, "m_half": middle, "m_half_se": error, "order": order, "ratio": middle / order}
        out.append(found | {"seeds": some["seed"].nunique()})
    return pd.DataFrame(out)


def exponent(found: pd.DataFrame) -> tuple[float, float]:
    """Return the slope, and its 95 % half width, of log m against log of the theorem's order: 1 if it is right."""
    x, y = np.log(found["order"].to_numpy(float)), np.log(found["m_half"].to_numpy(float))
    (slope, _), covariance = np.polyfit(x, y, 1, cov=True)
    from scipy.special import stdtrit

    return float(slope), float(stdtrit(len(x) - 2, 0.975) * np.sqrt(covariance[0, 0]))
