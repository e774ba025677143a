"""The game of hamman2023: developers ask a compliance desk how biased their models are and guess who is in which group.

Both of the paper's experiments play it; they differ in what is varied and shown.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.attacks.reveal.base import Attack
from fairpriv.audits import queries
from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.datasets.split import draw_test_set, stratified_split
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.defenses.query.candidates import Candidate
from fairpriv.desk import ComplianceDesk
from fairpriv.errors import DoesNotFit
from fairpriv.metrics.leakage import leakage, number_recovered, sp_error
from fairpriv.models.base import Model
from fairpriv.protocols.base import Protocol, Result
from fairpriv.registry import find, parameters

# Where nothing is declared about the groups. A constant, so it says nothing about the data.
UNDECLARED_SHARE = 0.1
# What the noise in the answers depends on: not on how they are decoded.
NOISE = ("dataset", "n", "n0", "m", "attack.queries", "attack.metric", "defense", "epsilon", "candidate")


@dataclass(frozen=True, eq=False)
class TestSet:
    """The test set of one game: labels, protected attribute, and the base model's outputs on it."""

    __test__ = False  # not a class of tests

    label: np.ndarray
    group: np.ndarray
    base: np.ndarray


def cross_fitted(data: Dataset, model: Model, rng: np.random.Generator, folds: int = 5) -> np.ndarray:
    """Predict every row by a model that has not seen it (where the whole dataset is the test set)."""
    out = np.empty(len(data))
    for rows in stratified_split(data, [1 / folds] * folds, rng):
        train = np.setdiff1d(np.arange(len(data)), rows)
        out[rows] = model.fit(data.features.iloc[train], data.label[train], rng)(data.features.iloc[rows])
    return out


def make_test_set(cell: Cell, load: Callable[[Cell], Dataset]) -> TestSet:
    """Draw the test set with N0 as the cell says (or take all rows) and train the base model on the rest.

    The model never sees the protected attribute. Random binary queries need no model.
    """
    data = load(cell)
    rng = cell.rng("test set", "dataset", "n", "n0", "model")
    needs_model = cell.plugins["attack"].get("queries") != "binary"
    model = cell.plugin("model") if needs_model else None
    if cell.get("n") is None or (cell["n"] == len(data) and cell.get("n0") in (None, int((data.group == 0).sum()))):
        base = cross_fitted(data, model, rng) if model else np.zeros(len(data))
        return TestSet(data.label, data.group, base)
    share = float((data.group == 0).mean())
    test, train = draw_test_set(data, cell["n"], cell.get("n0", max(1, round(share * cell["n"]))), rng)
    base = np.zeros(len(test))
    if model:
        base = model.fit(data.features.iloc[train], data.label[train], rng)(data.features.iloc[test])
    return TestSet(data.label[test], data.group[test], base)


def make_defense(cell: Cell) -> Any:
    """Build the cell's defense at its ε; a declared share of the smaller group is passed on where one is wanted.

    Where the cell names a candidate law, answers have that noise: what the printed numbers might have come from.
    """
    if cell.get("candidate") is not None:
        return Candidate(epsilon=cell["epsilon"], law_name=cell["candidate"])
    params = cell.plugins["defense"]
    extra = {"epsilon": cell.get("epsilon", float("inf"))}
    if "nominal_share" in params and params["nominal_share"] is None:
        share = cell.plugins["dataset"].get("minority_share") or UNDECLARED_SHARE
        if cell.get("n0") is not None and cell.get("n") is not None:
            share = cell["n0"] / cell["n"]  # fixed by the design of the study, not read off the data
        extra["nominal_share"] = min(share, 1 - share)
    return cell.plugin("defense", **extra)


def make_attack(cell: Cell) -> Any:
    """Build the cell's attack with its number of queries, where it has one to choose."""
    chooses = "m" in parameters(find("attacks", cell.plugins["attack"]["name"]))
    return cell.plugin("attack", **({"m": cell["m"]} if chooses and cell.get("m") is not None else {}))


def _score(cell: Cell, test: TestSet, desk: ComplianceDesk, found: Any, defense: Any) -> Result:
    """Score one game: what was learned, how far the answers were off, how good the queried models are."""
    metric = cell.plugins["attack"].get("metric", "sp")
    asked = max(desk.asked, key=lambda a: len(a.truth))  # not the one query that estimates group sizes
    people = test.label == 1 if metric.endswith("eo") else np.ones(len(test.label), bool)
    law = desk.view(test.base).law(asked.h, asked.metric)
    error = sp_error(asked.answers, asked.truth, (0.0, 1.0) if asked.metric.startswith("abs_") else (-1.0, 1.0))
    accuracy = 100 * ((asked.h >= 0.5) == test.label).mean(axis=1)
    leaked = leakage(found.group[people], test.group[people])
    metrics = {
        "leakage": leaked,
        "leakage_up_to_swap": max(leaked, 100 - leaked),  # what a partition without names gives away (Theorem 3)
        "recovered": number_recovered(found.group, test.group),
        "queries": found.queries,
        "sp_error": error["clipped_mean"],
        "sp_error_median": error["median"],
        "sp_error_raw": error["raw_mean"],
        "sp_error_signed": error["signed_mean"],
        "noise_scale": float(np.max(law.scale)),
        "base_accuracy": 100 * float(((test.base >= 0.5) == test.label).mean()),
        "model_accuracy": float(accuracy.mean()),
        "model_accuracy_sd": float(accuracy.std(ddof=1)) if len(accuracy) > 1 else 0.0,
    }
    if cell.get("audit") and cell.seed == 0:  # the law is the same for every seed
        metrics |= _audited(cell, defense)
    arrays = {}
    if cell.seed == 0 and len(test.group) <= 2000 and metric == "sp":
        n0 = (test.group == 0).sum()
        unit = 1 / n0 + 1 / (len(test.group) - n0)
        arrays = {
            "s_true": np.where(test.group == 0, unit, 0.0),
            "s_found": np.asarray(found.score, float),
            "gaps": asked.truth,
            "answers": asked.answers,
        }
    return Result(metrics, arrays)


def _audited(cell: Cell, defense: Any) -> dict[str, float]:
    """Return what the law of the answers costs in its worst case, and what answers alone prove of it."""
    found = queries.audit(defense, cell["n"], cell["m"], samples=1000, rng=cell.rng("audit"))
    return {"epsilon_accounted": float(found.exact), "epsilon_audited": float(found.sampled_lower)}


def play(cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
    """Play one game a cell. Cells with the same queries are attacked together; no result depends on its companions."""
    tests: dict[Any, TestSet] = {}
    rounds: dict[Any, list[int]] = defaultdict(list)
    for i, cell in enumerate(cells):
        # perturbed queries are made from the test set, random binary ones are the same for every N0
        n0 = None if cell.plugins["attack"].get("queries") == "binary" else cell.get("n0")
        attack = tuple(sorted((k, str(v)) for k, v in cell.plugins["attack"].items()))
        rounds[(n0, cell.get("m"), attack)].append(i)
    results: list[Result | None] = [None] * len(cells)
    for members in rounds.values():
        desks = []
        for i in members:
            cell = cells[i]
            key = (cell.get("n0"), cell.plugins["attack"].get("queries"))
            if key not in tests:
                tests[key] = make_test_set(cell, load)
            test, defense = tests[key], make_defense(cell)
            noise = cell.rng("noise", *NOISE)
            publish = cell.plugins["attack"].get("group_sizes", "known") == "known"
            desks.append(
                (cell, test, ComplianceDesk(test.group, test.label, defense, noise, publish_sizes=publish), defense)
            )
        first = cells[members[0]]
        found = make_attack(first).run_many(
            [desk.view(test.base) for _, test, desk, _ in desks],
            first.rng("queries", "dataset", "n", "m", "attack.queries", "attack.metric"),
        )
        for i, (cell, test, desk, defense), recovery in zip(members, desks, found):
            results[i] = _score(cell, test, desk, recovery, defense)
    return results  # type: ignore[return-value]


@dataclass(frozen=True)
class BiasQueries(Protocol):
    """What both experiments accept and ask of a cell and of its dataset, and the game they play."""

    accepts: ClassVar[Mapping[str, type]] = {"attack": Attack, "defense": QueryDefense, "model": Model}
    later: ClassVar[Mapping[str, Any]] = {"candidate": None, "audit": False}

    def build(self, cell: Cell, group: str) -> Any:
        """Build a plug-in: the defense at the cell's ε, the attack with its number of queries."""
        makers = {"defense": make_defense, "attack": make_attack}
        return makers[group](cell) if group in makers else cell.plugin(group)

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Play the game of each cell."""
        return play(cells, load)

    def validate(self, cell: Cell) -> None:
        """Refuse a wrong family, parameters out of range, and sizes that contradict each other."""
        if "epsilon" in cell.axes:
            validate.number("epsilon", cell["epsilon"], above=0)
        n, n0, m = (cell.get(axis) for axis in ("n", "n0", "m"))
        if n is not None:
            validate.integer("n", n, at_least=2)
        if n0 is not None:
            validate.integer("n0", n0, at_least=1, at_most=None if n is None else n - 1)
        if m is not None:
            validate.integer("m", m, at_least=1)
        super().validate(cell)
        if n is not None:
            _check_queries(cell, n)

    def fits(self, cell: Cell, dataset: Dataset) -> None:
        """Refuse a test set that the dataset cannot give, and more queries than it has people."""
        super().fits(cell, dataset)
        sizes = [int((dataset.group == g).sum()) for g in (0, 1)]
        n, n0 = cell.get("n", len(dataset)), cell.get("n0")
        if n > len(dataset):
            raise DoesNotFit(f"n must be a whole number between 2 and {len(dataset)}, got {n}", "n")
        _check_queries(cell, n)
        if n == len(dataset) and n0 in (None, sizes[0]):
            return  # everybody is in the test set
        share = sizes[0] / len(dataset)
        wanted = max(1, round(share * n)) if n0 is None else n0
        least, most = max(1, n - sizes[1]), min(sizes[0], n - 1)
        if not least <= wanted <= most:
            raise DoesNotFit(
                f"n0 must be a whole number between {least} and {most} for n = {n} of dataset {dataset.name} "
                f"({sizes[0]} of {len(dataset)} rows are in group 0), got {wanted}",
                "n" if n0 is None else "n0",
            )
        if len(dataset) - n < self.least_rows:
            raise DoesNotFit(
                f"n must be a whole number between 2 and {len(dataset) - self.least_rows}, so that some of the "
                f"{len(dataset)} rows are left to train on, or null for all, got {n}",
                "n",
            )


def _check_queries(cell: Cell, n: int) -> None:
    """Refuse more models than people, where the attack has a number to choose: n models determine everyone."""
    m = getattr(make_attack(cell), "m", None)
    if isinstance(m, int) and m > n:
        raise DoesNotFit(f"m must be a whole number between 1 and n = {n}, got {m}", "m")
