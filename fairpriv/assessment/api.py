"""`fairpriv.assess`: the assessment from Python."""

import hashlib
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.assessment import output, words
from fairpriv.assessment.people import TOLERATED, Settings
from fairpriv.assessment.study import Study, study
from fairpriv.errors import BadRequest


@dataclass(frozen=True, eq=False)
class Assessment:
    """What was found.

    Attributes
    ----------
    study : Study
        Every number, as rows.
    source : dict
        The name of the table and its sha256.
    seconds : float
        How long it took.
    """

    study: Study
    source: dict[str, Any]
    seconds: float
    command: tuple[str, ...] = ("fairpriv.assess",)

    @property
    def headline(self) -> list[str]:
        """Return the answer in plain words."""
        return words.headline(self.study)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data; leakages are in percent, under keys that say leakage."""
        return output.record(self.study)

    def write(self, folder: str | Path) -> Path:
        """Write page.html, assess.json, the CSVs and manifest.json into a folder."""
        about = output.manifest(self.study, self.source, list(self.command), self.seconds)
        return output.write(self.study, Path(folder), about)


def _names(values: str | Sequence[str] | None, known: Collection[str]) -> tuple[str, ...]:
    """Return names given as one, as several, or as text with commas; a known one may have commas of its own."""
    if values is None:
        return ()
    if isinstance(values, str) and values in known:
        return (values,)
    return (
        tuple(v.strip() for v in values.split(",") if v.strip()) if isinstance(values, str) else tuple(map(str, values))
    )


def _plain(value: Any) -> Any:
    """Return numpy's numbers as Python's: JSON knows no others."""
    return value.item() if isinstance(value, np.generic) else value


def assess(
    frame: pd.DataFrame,
    *,
    label: str,
    protected: str | Sequence[str],
    prediction: str | None = None,
    positive: Any = None,
    privileged: Any = None,
    queries: int | None = None,
    epsilon: float | None = None,
    seed: int = 0,
    tolerance: float = TOLERATED,
    name: str = "table",
    say: Callable[[str], None] = lambda _: None,
) -> Assessment:
    """Assess what answers about bias would reveal in a table, and how far private answers help.

    Parameters
    ----------
    frame : DataFrame
        One row a person.
    label : str
        Column of the true outcome; two values, or more with `positive`.
    protected : str or sequence of str
        Column(s) of protected attributes; each value is held against the rest, and intersections are looked at.
    prediction : str, optional
        Column of the model's decisions or scores; without one, a model is trained here.
    positive : optional
        The favourable value of the label; of 1/0, true/false, yes/no, good/bad and >50K/<=50K the first goes without
        saying.
    privileged : optional
        Value(s) of the advantaged groups; the largest groups if not given.
    queries : int, optional
        How many questions are answered within the budget; 10 if not given.
    epsilon : float, optional
        The budget; the recommended one if not given.
    seed : int
        Of every random draw: the same seed gives the same numbers.
    tolerance : float
        Points above guessing that the recommendation allows the strongest attacker: 5 is our number, no law's.
    name : str
        What the table is called on the page.
    say : callable
        Hears, in a few words, what is being done.

    Returns
    -------
    Assessment
        `headline` says it in words, `as_dict()` gives every number, `write(folder)` makes the page.

    Examples
    --------
    >>> import numpy as np, pandas as pd, fairpriv
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], 200, p=[0.3, 0.7]), "score": rng.random(200)})
    >>> people["hired"] = (rng.random(200) < people["score"]).astype(int)
    >>> found = fairpriv.assess(people, label="hired", protected="sex", prediction="score")
    >>> print(found.headline[0].split(" (")[0])
    Exact answers to 100 questions about bias would reveal the sex of 100 % of the people
    """
    if not isinstance(frame, pd.DataFrame):
        raise BadRequest(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
    columns = _names(protected, set(map(str, frame.columns)))
    groups = {text for name in columns if name in frame for text in frame[name].astype(str).unique()}
    settings = Settings(
        label=str(label),
        protected=columns,
        prediction=prediction,
        positive=None if positive is None else str(positive),
        privileged=_names([privileged] if isinstance(privileged, int | float | bool) else privileged, groups),
        queries=_plain(queries),
        epsilon=_plain(epsilon),
        seed=_plain(seed),
        tolerance=_plain(tolerance),
    )
    began = time.monotonic()
    found = study(frame, settings, name, say)
    content = pd.util.hash_pandas_object(frame.astype(str), index=False).to_numpy().tobytes()
    source = {"name": name, "sha256": hashlib.sha256(content).hexdigest()}
    return Assessment(found, source, time.monotonic() - began)
