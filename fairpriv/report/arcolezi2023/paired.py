"""The claims of arcolezi2023 as tests paired by seed, beside the rules on means by which they are judged.

A claim asks one or many questions; each is a series with one value a seed, positive where it speaks for the claim.
These tests were added after the numbers were seen. They are shown, and decide no verdict.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtr

from fairpriv.report.arcolezi2023.rows import (
    FAIRNESS,
    GENERALLY,
    PAPER,
    POINT,
    RETURNED,
    SLIGHT,
    UTILITY,
    against_nondp,
    distances,
    k_based_minus_uniform,
    tidy,
)
from fairpriv.report.summary import half_width

LEVEL = 0.05
ALIKE = ("splits_alike_lsac", "uniform_returns")  # claims that two things are the same
Series = pd.DataFrame  # a row a seed, a column a question


@dataclass(frozen=True)
class Paired:
    """What the tests say: how many questions, and how many are answered for and against beyond chance.

    `against_holm` are those that stay when all questions of the claim are asked together (Holm); `mean` is the mean of
    all questions with its 95 % interval over seeds. Whether two things are alike within a margin is asked once a side,
    and such questions have no mean to speak of.
    """

    seeds: int
    questions: int
    for_it: int
    against: int
    against_holm: int
    mean: float
    low: float
    high: float
    general: bool
    alike: bool = False

    @property
    def reading(self) -> str:
        """Return what follows: of a general claim one question in ten may be against, of the others none."""
        if self.seeds < 2:
            return "one seed: no test"
        against = self.against > (1 - GENERALLY) * self.questions if self.general else self.against_holm > 0
        enough = (GENERALLY if self.general else 1) * self.questions
        holds = self.for_it >= enough if self.alike else self.low > 0
        return "contradicted" if against else "supported" if holds else "not contradicted"

    @property
    def words(self) -> str:
        """Return the result in a line."""
        if self.seeds < 2:
            return self.reading
        counts = f"{self.for_it} of {self.questions} for, {self.against} against ({self.against_holm} by Holm)"
        return f"paired over {self.seeds} seeds (added later, decides nothing): {counts}: {self.reading}"


def p_against(series: Series) -> np.ndarray:
    """Return the one-sided p value of each question, of several seeds, against the claim (small: it is below zero)."""
    values = series.to_numpy(float)
    n = np.sum(~np.isnan(values), axis=0)
    with np.errstate(all="ignore"):
        t = np.nanmean(values, axis=0) / (np.nanstd(values, axis=0, ddof=1) / np.sqrt(n))
        p = stdtr(n - 1, t)
    flat = np.sign(np.nanmean(values, axis=0))  # seeds that all agree to the last bit leave no doubt
    return np.where(np.isnan(p), np.where(flat < 0, 0.0, np.where(flat > 0, 1.0, 0.5)), p)


def rejected_by_holm(p: np.ndarray, level: float) -> int:
    """Return how many hypotheses Holm's procedure rejects at a family-wise level."""
    ordered = np.sort(p)
    passes = ordered <= level / (len(p) - np.arange(len(p)))
    return int(len(p) if passes.all() else passes.argmin())


def ask(series: Series, general: bool, alike: bool = False) -> Paired | None:
    """Ask all questions of a claim, nothing where there is none; where some have several seeds, of those alone."""
    repeated = series.notna().sum() > 1
    series = series.loc[:, repeated] if repeated.any() else series.dropna(axis=1, how="all")
    if series.empty:
        return None
    series = series.dropna(how="all")
    n, whole = int(series.notna().sum().max()), series.mean(axis=1).to_numpy()
    mean, half = (np.nan, np.nan) if alike else (float(whole.mean()), half_width(whole))
    counts = (0, 0, 0)
    if n > 1:
        p = p_against(series)
        counts = (int((p >= 1 - LEVEL / 2).sum()), int((p <= LEVEL / 2).sum()), rejected_by_holm(p, LEVEL / 2))
    return Paired(n, series.shape[1], *counts, mean, mean - half, mean + half, general, alike)


def _wide(rows: pd.DataFrame, by: Sequence[str], metrics: Sequence[str]) -> Series:
    """Return a row a seed, a column for each point and metric."""
    return rows.groupby(["seed", *by])[list(metrics)].mean().stack().unstack([*by, -1]) if len(rows) else pd.DataFrame()


def _within(change: Series, margin: float) -> Series:
    """Ask whether changes are within a margin: one question a side."""
    return pd.concat([margin - change, margin + change], axis=1) if len(change) else change


def _not_worse(rows: pd.DataFrame) -> Series:
    return -_wide(against_nondp(distances(rows)), POINT, SLIGHT)


def _utility(rows: pd.DataFrame) -> Series:
    return _wide(against_nondp(rows), POINT, UTILITY) + 0.02


def _splits(rows: pd.DataFrame, metrics: Sequence[str]) -> Series:
    return _wide(k_based_minus_uniform(rows), ["dataset"], metrics)


def _returned(rows: pd.DataFrame) -> Series:
    high = rows[rows["epsilon"].isin([50, np.inf]) & rows["defense.split"].isin(["uniform", "nondp"])]
    return _within(_wide(against_nondp(high), POINT, FAIRNESS), RETURNED)


def seed_ranks(rows: pd.DataFrame, metrics: Sequence[str]) -> pd.Series:
    """Return each protocol's mean rank over metrics (1 is best), by seed and dataset, over all splits and ε."""
    apart = against_nondp(distances(rows))
    mean = apart.groupby(["seed", "dataset", "defense.protocol"])[list(metrics)].mean()
    worse = mean.assign(**{m: -mean[m] for m in metrics if m in UTILITY})
    return worse.groupby(level=[0, 1]).rank().mean(axis=1)


def _ahead(rows: pd.DataFrame, heroes: Sequence[str], metrics: Sequence[str], sign: int) -> Series:
    """Ask of each hero and each other protocol, on each dataset, whether the hero has the better mean rank."""
    ranks = seed_ranks(rows, metrics).unstack("defense.protocol")
    if not set(PAPER) <= set(ranks):
        return pd.DataFrame()
    others = [p for p in PAPER if p not in heroes]
    pairs = {(h, o): sign * (ranks[o] - ranks[h]) for h in heroes for o in others}
    return pd.DataFrame(pairs).unstack("dataset")


def _fairest(rows: pd.DataFrame, hero: str) -> Series:
    """Ask of each other protocol and metric whether the hero is nearer to fair."""
    mean = _wide(against_nondp(distances(rows)), ["defense.protocol"], SLIGHT)
    if mean.empty or not set(PAPER) <= set(mean.columns.get_level_values(0)):
        return pd.DataFrame()
    return pd.concat({o: mean[o] - mean[hero] for o in PAPER if o != hero}, axis=1)


def _questions(main: pd.DataFrame, appendix: pd.DataFrame) -> dict[str, tuple[Callable[[], Series], bool]]:
    """Return, for each claim, how its questions are made and whether it is said "in general"."""
    adult, acs, lsac = (main[main["dataset"] == d] for d in ("adult_reconstructed", "acs_public_coverage", "lsac"))
    k_based = adult[adult["defense.split"] != "uniform"]
    private = acs[acs["epsilon"].isin([0.25, np.inf])]
    two = pd.concat([adult, acs])
    return {
        "fairness_not_worse": (lambda: _not_worse(main), True),
        "oad_exception_acs": (lambda: -0.05 - _wide(against_nondp(private), POINT, ["oad"]), False),
        "utility_minor": (lambda: _utility(adult), False),
        "k_based_utility_adult": (lambda: _splits(adult, list(UTILITY)), False),
        "uniform_utility_acs": (lambda: -_splits(acs, list(UTILITY)), False),
        "k_based_fairness": (lambda: -_splits(distances(two), SLIGHT), False),
        "k_based_stays_fair": (lambda: _not_worse(k_based), True),
        "splits_alike_lsac": (lambda: _within(_splits(lsac, ["acc", "f1", "di", "spd"]), 0.01), False),
        "uniform_returns": (lambda: _returned(main), True),
        "grr_ss_best": (lambda: _ahead(main, ["grr", "ss"], [*UTILITY, *FAIRNESS], +1), True),
        "blh_worst_utility": (lambda: _ahead(main, ["blh"], list(UTILITY), -1), False),
        "blh_fairest_acs": (lambda: _fairest(acs, "blh"), False),
        "appendix_fairness": (lambda: _not_worse(appendix), True),
        "appendix_utility": (lambda: _wide(against_nondp(appendix), ["dataset"], UTILITY) + 0.02, False),
    }


def paired_tests(main: pd.DataFrame, appendix: pd.DataFrame) -> dict[str, Paired]:
    """Return the tests of every claim that these rows (of `claimed`) speak of."""
    asked = _questions(main, appendix).items()
    found = {claim: ask(make(), general, claim in ALIKE) for claim, (make, general) in asked}
    return {claim: paired for claim, paired in found.items() if paired is not None}


def claimed(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows the paper speaks of: with the attributes of Table 2, and with random ones (both with NonDP)."""
    rows = tidy(rows)
    rows = rows[(rows["defense.split"] != "least_variance") & rows["defense.protocol"].isin([*PAPER, "nondp"])]
    bare = rows["defense.protocol"] == "nondp"
    return rows[bare | (rows["sensitive"] == "table2")], rows[bare | (rows["sensitive"] == "random")]


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the tests, a line a claim."""
    found = paired_tests(*claimed(rows))
    said = [{"claim": claim, **asdict(paired), "reading": paired.reading} for claim, paired in found.items()]
    return pd.DataFrame(said).rename(columns={"for_it": "for"}) if said else pd.DataFrame()
