"""Which method an option of conf/defense is, and which of its cells stand for the paper's."""

import numpy as np
import pandas as pd

LEARNED_FROM = ("dataset.sample", "defense.epochs")  # how much an encoder of images has learned from
METHODS = {
    "information_obfuscation": "Ours (Con)",
    "information_obfuscation_discrete": "Ours (Dis)",
    "cfair": "CFAIR",
    "laftr": "LAFTR",
    "ppvae": "PPVAE",
    "ffvae": "FFVAE",
    "cfb": "CFB",
    "vfae": "VFAE",
    "raw_data": "Raw data",
}
OURS = tuple(METHODS)[:2]
DATASETS = {
    "adult_full": "Adult",
    "compas_fairml": "COMPAS",
    "compas": "COMPAS (eight features)",
    "hsls": "HSLS (stand-in)",
    "mnist": "Colored-MNIST",
}
TUNED = ("_adult", "_compas", "_hsls")  # options whose setting was chosen on that dataset


def method(option: str) -> str:
    """Return the method of an option: `cfair_adult` is CFAIR as it was tuned on Adult."""
    base = next((option.removesuffix(end) for end in TUNED if option.endswith(end)), option)
    return base if base in METHODS else option


def main_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that stand for the paper's, with the method in place of the option, which is kept as `option`.

    COMPAS with its eight features gives way to the ten of the paper where these were run.
    """
    if "compas_fairml" in set(rows["dataset"]):
        rows = rows[rows["dataset"] != "compas"]
    return rows.assign(option=rows["defense"], defense=rows["defense"].astype(str).map(method))


def table2_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of Table 2: those attacked, our method at ε = 5, the others without noise and at ε = 8."""
    if "accuracy_s" not in rows or "delta_dp" not in rows:
        return rows.iloc[:0]
    some = rows[rows["accuracy_s"].notna() & rows["delta_dp"].notna()]
    ours = some["defense"].astype(str).map(method).isin(OURS)
    return some[(~ours & (np.isinf(some["epsilon"]) | (some["epsilon"] == 8))) | (ours & (some["epsilon"] == 5))]


def tuned_rows(main: pd.DataFrame) -> pd.DataFrame:
    """Return of each dataset and method the cells with its own setting, where there are any (of `main_rows`)."""
    own = main["option"] != main["defense"]
    has_own = own.groupby([main["dataset"], main["defense"]]).transform("any")
    return main[own | ~has_own]


def image_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of Colored-MNIST that learned most: by role and ε, the most images, then the most epochs."""
    some = rows[rows["dataset"].astype(str).str.startswith("mnist")]
    for axis in LEARNED_FROM:
        if axis in some:
            amount = pd.to_numeric(some[axis]).fillna(np.inf)
            some = some[amount == amount.groupby([some["dataset"], some["epsilon"]]).transform("max")]
    return some
