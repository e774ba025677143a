"""Forensics: laws of noise, and ways to sum them up, that could have given hamman2023's printed errors.

The printed errors do not follow from Algorithm 3. Here a few hundred laws (`defenses.query.candidates`), each summed up
in four ways, are held against the errors of each table. So many are tried that a good fit is "not rejected", never
"confirmed", and no verdict depends on it: what is judged is the algorithm as printed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pandas as pd
from scipy.special import ndtr

from fairpriv.defenses.query.candidates import FAMILIES, NAMES, candidate_scale
from fairpriv.paths import share
from fairpriv.report.papers import Printed, Table, read_tables
from fairpriv.report.summary import half_width

ALGORITHM_3, THEOREM_4 = "cauchy-6-m-smooth", "laplace-1-m-global"
# Laws that are always shown, and why
NAMED = {
    ALGORITHM_3: "Algorithm 3 as printed",
    THEOREM_4: "Laplace as printed (Theorem 4)",
    "laplace-0.5-m-global": "Laplace at half the scale",
    "cauchy-1-1-smooth": "no m and no 6 in the scale",
    "cauchy-1-sqrt_m-local": "√m in place of m, local sensitivity",
    "cauchy-0.5-m-smooth_wide": "half the local scale, β = ε/m",
}
STATISTICS = {
    "raw": "mean |error|",
    "clipped": "mean |error| of clipped answers",
    "median": "median |error|",
    "signed": "|mean of signed errors|",
}
SHOWN = 3  # the best of each table by each of the three counts
RUNS = 1000  # simulated runs behind each distribution
SETTING = ("dataset", "n", "n0", "m", "epsilon")
Runs = Mapping[tuple, pd.DataFrame]
_SHARES = (np.arange(2000) + 0.5) / 2000


@dataclass(frozen=True, eq=False)
class Number:
    """A printed error with the setting it is of."""

    table: Table
    printed: Printed

    def of(self, axis: str) -> float:
        """Return the value of an axis."""
        return float(self.printed.selectors[axis])

    @cached_property
    def m(self) -> int:
        """Return the number of queries."""
        return int(self.of("m"))

    def scale(self, law: str) -> float:
        """Return the scale of a law's noise in this setting."""
        n, n0 = int(self.of("n")), int(self.of("n0"))
        return candidate_scale(law, n0, n - n0, self.m, self.of("epsilon"))


@cache
def printed_numbers(metric: str) -> dict[str, tuple[Number, ...]]:
    """Return the printed numbers of a metric (`recovered` counts as leakage) with noise, by column of tables."""
    found: dict[str, list[Number]] = {}
    for table in read_tables(share("experiments") / "hamman2023"):
        for printed in table.numbers if table.name.startswith("table") else ():
            kind = "leakage" if printed.metric == "recovered" else printed.metric
            if kind == metric and np.isfinite(float(printed.selectors["epsilon"])):
                name = f"{table.name} {printed.selectors['defense']}"
                found.setdefault(name, []).append(Number(table, printed))
    every = [n for name, numbers in found.items() if name.endswith("conceal") for n in numbers]
    return {name: tuple(numbers) for name, numbers in found.items()} | {"tables 1 to 4 conceal": tuple(every)}


@cache
def standard(family: str, m: int, runs: int) -> dict[str, np.ndarray]:
    """Return, sorted, simulated statistics of m errors of scale 1, averaged over a number of runs."""
    rng = np.random.default_rng([2023, m, runs])
    z = FAMILIES[family](1.0).sample((RUNS, m), rng)
    size = np.abs(z)
    found = {"raw": size.mean(axis=1), "median": np.median(size, axis=1), "signed": np.abs(z.mean(axis=1))}
    if runs > 1:
        picks = rng.integers(0, RUNS, (RUNS, runs))
        found = {name: values[picks].mean(axis=1) for name, values in found.items()}
    return {name: np.sort(values) for name, values in found.items()}


@cache
def _quantiles(family: str) -> np.ndarray:
    return FAMILIES[family](1.0).ppf((1 + _SHARES) / 2)


def clipped_error(family: str, number: Number, scale: float) -> tuple[float, float]:
    """Return mean and deviation of the mean error of clipped answers, true gaps being near 0, by the normal law."""
    error = np.minimum(scale * _quantiles(family), 1.0)
    return float(error.mean()), float(error.std() / np.sqrt(number.m * number.table.runs))


@cache
def place(law: str, statistic: str, number: Number) -> tuple[float, float]:
    """Return the median that a law gives a statistic, and the probability of at most the printed value.

    Within the rounding of the print, the value that is least extreme counts.
    """
    family, scale, x = law.split("-")[0], number.scale(law), number.printed.ours
    edge = number.printed.rounding
    if statistic == "clipped":
        mean, deviation = clipped_error(family, number, scale)
        nearest = min(max(mean, x - edge), x + edge)
        return mean, float(ndtr((nearest - mean) / max(deviation, 1e-12)))
    values = standard(family, number.m, number.table.runs)[statistic]
    middle = scale * float(values[len(values) // 2])
    nearest = min(max(middle, x - edge), x + edge)
    return middle, float((np.searchsorted(values, nearest / scale) + 0.5) / (len(values) + 1))


def uniform_p(u: np.ndarray) -> float:
    """Return the p-value of Kolmogorov and Smirnov's test that these are uniform on (0, 1)."""
    from scipy.stats import kstwo  # a second of import; `kstest` takes four times as long a call

    u, n = np.sort(u), len(u)
    return float(kstwo.sf(max((np.arange(1, n + 1) / n - u).max(), (u - np.arange(n) / n).max()), n))


def fit(law: str, statistic: str, numbers: tuple[Number, ...]) -> dict[str, float]:
    """Count the printed errors that a law and statistic give within 20 %, and within their 95 % band; KS p of all."""
    found = np.array([place(law, statistic, number) for number in numbers])
    values = np.array([number.printed.ours for number in numbers])
    return {
        "errors": len(numbers),
        "within_20_percent": int((np.abs(found[:, 0] - values) <= 0.2 * values).sum()),
        "in_95_percent_band": int(((found[:, 1] >= 0.025) & (found[:, 1] <= 0.975)).sum()),
        "ks_p": uniform_p(found[:, 1]),
    }


def by_setting(rows: pd.DataFrame) -> Runs:
    """Return the rows of the paper's attack by law and setting; the mechanisms as printed count as their laws."""
    mine = rows[(rows["attack.decoder"] == "l1") & (rows["attack.clip"].astype(str) != "False")]
    mechanisms = mine["defense"].map({"conceal": ALGORITHM_3, "laplace": THEOREM_4})
    plain = mine["candidate"].isna() & (mine["audit"].astype(str) != "True")
    mine = mine.assign(law=mine["candidate"].where(~plain, mechanisms))
    mine = mine.astype(dict.fromkeys(SETTING[1:], float))
    return dict(iter(mine.groupby(["law", *SETTING])))


def _cells(runs: Runs, law: str, number: Number) -> pd.DataFrame | None:
    return runs.get((law, number.printed.selectors["dataset"], *map(number.of, SETTING[1:])))


def leakages(runs: Runs, law: str, numbers: Iterable[Number]) -> dict[str, float]:
    """Count the printed leakages (recovered attributes) that a law gives within the table's tolerance, of those run."""
    ran = near = 0
    for number in numbers:
        cells = _cells(runs, law, number)
        if cells is not None:
            ran += 1
            mean = cells[number.printed.metric].mean()
            near += bool(abs(mean - number.printed.ours) <= number.table.close(number.printed))
    return {"leakages": ran, "leakages_within_tolerance": near} if ran else {}


def forensic_leakages(rows: pd.DataFrame) -> pd.DataFrame:
    """Return every printed leakage (recovered attributes) beside what the same attack gets under each law that ran."""
    runs, out = by_setting(rows), []
    for name, numbers in printed_numbers("leakage").items():
        for number in numbers if not name.startswith("tables") else ():
            at = {axis: number.printed.selectors[axis] for axis in SETTING}
            found: dict[str, object] = {"table": name} | at
            found |= {"metric": number.printed.metric, "printed": number.printed.ours}
            for law in (law for law in NAMED if law.startswith(family_of(name))):
                cells = _cells(runs, law, number)
                if cells is not None:
                    values = cells[number.printed.metric].to_numpy(float)
                    found |= {law: values.mean(), f"{law}.ci": half_width(values), f"{law}.seeds": len(values)}
            out.append(found)
    return pd.DataFrame(out)


def family_of(column: str) -> str:
    """Return the family of laws that is tried on a column of errors."""
    return "laplace" if column.endswith("laplace") else "cauchy"


def _best(fits: pd.DataFrame) -> pd.Series:
    """Say which fits of a table are shown: named laws by their best statistic, and the best by each count."""
    counts = ("within_20_percent", "in_95_percent_band", "ks_p")
    order = fits.sort_values(list(counts), ascending=False, kind="stable")
    named = order[order["law"].isin(NAMED)].groupby("law").head(1).index
    tops = [fits.sort_values(c, ascending=False, kind="stable").head(SHOWN).index for c in counts]
    return fits.index.isin(named.append(tops))


def forensics(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, for each column of errors, the named laws and those that fit best, with what they say of leakage.

    Laplace laws are tried on the Laplace column, Cauchy laws on the others.
    """
    parts = []
    told, runs = printed_numbers("leakage"), by_setting(rows)
    for name, numbers in printed_numbers("sp_error").items():
        pairs = [(law, s) for law in NAMES if law.startswith(family_of(name)) for s in STATISTICS]
        fits = pd.DataFrame([{"table": name, "law": law, "statistic": s} | fit(law, s, numbers) for law, s in pairs])
        fits.insert(3, "tried", len(pairs))
        shown = fits[_best(fits)].sort_values(["ks_p", "in_95_percent_band"], ascending=False, kind="stable")
        also = [leakages(runs, law, told.get(name, ())) for law in shown["law"]]
        parts.append(pd.concat([shown.reset_index(drop=True), pd.DataFrame(also)], axis=1))
    out = pd.concat(parts, ignore_index=True)
    return out.assign(statistic=out["statistic"].map(STATISTICS), known_as=out["law"].map(NAMED).fillna(""))
