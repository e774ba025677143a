"""experiment=ldp_leakage: what LDP reports tell about each person's attributes, alone and with what else is known."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import train_test_split

from fairpriv.attacks.values.base import KnownValues, ValueAttack, posterior
from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.datasets.encode import ordinal
from fairpriv.defenses.collection.base import CollectionDefense
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.budget import Ledger
from fairpriv.mechanisms.ldp import PROTOCOLS
from fairpriv.mechanisms.ldp.base import LDPProtocol
from fairpriv.mechanisms.ldp.seen import seen_likelihood
from fairpriv.mechanisms.ldp.vulnerability import bayes_vulnerability, most_any
from fairpriv.protocols.base import Protocol, Result
from fairpriv.protocols.one_hot_table import OneHotTable, check_discrete, sensitive_attributes
from fairpriv.registry import register
from fairpriv.validate import number

TARGETS = 10_000  # people attacked, at most: their number is the uncertainty of an accuracy, half a point
PROTECTED = "protected"  # the attribute of that role, whatever its name


def make_defense(cell: Cell) -> Any:
    """Build the cell's collection at its ε."""
    return cell.plugin("defense", epsilon=cell["epsilon"])


@dataclass(frozen=True, eq=False)
class People:
    """The targets' values and other attributes, and people whose values the adversary knows.

    As in the paper the server tests on true values: the fifth of the people it tests on is known to it. It attacks
    people it trains on, of whom it has reports, the other attributes and the label.
    """

    values: Mapping[str, np.ndarray]
    sizes: Mapping[str, int]
    others: np.ndarray
    known_values: Mapping[str, np.ndarray]
    known_others: np.ndarray


def gather(data: Dataset, seed: int, rng: np.random.Generator) -> People:
    """Split as ldp_fairness does, and draw the targets."""
    chosen = sensitive_attributes(data, "table2", seed)
    table = OneHotTable.of(data, chosen)
    train, known = train_test_split(np.arange(len(data)), test_size=0.2, stratify=data.label, random_state=seed)
    targets = np.sort(rng.permutation(train)[:TARGETS])
    hidden = [c for c in chosen if c in data.features]
    others = np.column_stack([ordinal(data.features.drop(columns=hidden)), data.label])
    values = table.codes(chosen)
    return People(
        {a: v[targets] for a, v in values.items()},
        table.sizes(chosen),
        others[targets],
        {a: v[known] for a, v in values.items()},
        others[known],
    )


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of one attribute before any report: plain shares, and what other attributes say of each target."""

    name: str
    value: np.ndarray
    shares: np.ndarray
    beliefs: np.ndarray


def learn(people: People, name: str, attack: ValueAttack, rng: np.random.Generator) -> Known:
    """Let the attack learn one attribute from the known people."""
    known = KnownValues(people.known_others, people.known_values[name], people.sizes[name])
    return Known(name, people.values[name], known.shares, attack.fit(known, rng)(people.others))


def accuracy(log_posterior: np.ndarray, value: np.ndarray) -> float:
    """Return how often the most probable value is right."""
    return float((log_posterior.argmax(axis=1) == value).mean())


def balanced(log_posterior: np.ndarray, value: np.ndarray, shares: np.ndarray) -> float:
    """Return the mean over values of how often the guess is right that weighs all values alike."""
    hits = (log_posterior - np.log(shares)).argmax(axis=1) == value
    counts = np.bincount(value, minlength=len(shares))
    found = np.bincount(value, weights=hits, minlength=len(shares))
    return float((found[counts > 0] / counts[counts > 0]).mean())


def gained_bits(log_posterior: np.ndarray, value: np.ndarray, shares: np.ndarray) -> float:
    """Return by how many bits the truth became more probable than by the shares, on average (negative: misled)."""
    at = np.arange(len(value))
    return float((log_posterior[at, value] - np.log(shares)[value]).mean() / math.log(2))


def calibration_error(beliefs: np.ndarray, value: np.ndarray, bins: int = 10) -> float:
    """Return the mean distance between how sure the guesses are and how often they are right, over ten bins."""
    sure, hits = beliefs.max(axis=1), beliefs.argmax(axis=1) == value
    at = np.minimum((sure * bins).astype(int), bins - 1)
    apart = [abs(sure[at == b].sum() - hits[at == b].sum()) for b in range(bins)]
    return float(sum(apart) / len(value))


def measured(known: Known, protocol: LDPProtocol, seen: np.ndarray) -> dict[str, Any]:
    """Return what the adversary gets from reports, from other attributes, and from both."""
    told = seen_likelihood(protocol, seen)
    plain = np.broadcast_to(known.shares, (len(known.value), protocol.k))
    views = {
        "reports": posterior(plain, told),
        "features": posterior(known.beliefs),
        "both": posterior(known.beliefs, told),
    }
    guess = float((known.value == known.shares.argmax()).mean())
    out: dict[str, Any] = {"k": protocol.k, "epsilon_attribute": protocol.epsilon, "guess": guess}
    for name, view in views.items():
        out[f"acc_{name}"] = accuracy(view, known.value)
        out[f"adv_{name}"] = out[f"acc_{name}"] - guess
        out[f"bal_{name}"] = balanced(view, known.value, known.shares)
        out[f"bits_{name}"] = gained_bits(view, known.value, known.shares)
    true = np.bincount(known.value, minlength=protocol.k) / len(known.value)
    formula = {"acc_closed_form": bayes_vulnerability(protocol, true), "bal_closed_form": bayes_vulnerability(protocol)}
    out |= {name: math.nan if value is None else value for name, value in formula.items()}
    out["bal_most"] = most_any(protocol.k, protocol.epsilon)
    return out | {"calibration": calibration_error(known.beliefs, known.value), "targets": len(known.value)}


@register
@dataclass(frozen=True)
class LdpLeakage(Protocol):
    """Guesses each sensitive attribute of people from their LDP reports, by Bayes' rule."""

    name: ClassVar[str] = "ldp_leakage"
    paper: ClassVar[str] = "on arcolezi2023, Section 4"
    presented_by: ClassVar[str] = "fairpriv.report.ldp_leakage"
    shared: ClassVar[tuple[str, ...]] = ("attribute", "defense", "defense.protocol", "defense.split", "epsilon")
    accepts: ClassVar[Mapping[str, type]] = {"defense": CollectionDefense, "attack": ValueAttack}

    def build(self, cell: Cell, group: str) -> Any:
        """Build a plug-in: the defense at the cell's ε."""
        return make_defense(cell) if group == "defense" else cell.plugin(group)

    def validate(self, cell: Cell) -> None:
        """Refuse a wrong family, and a defense whose reports have no law that is known."""
        number("epsilon", cell.get("epsilon"), above=0)
        super().validate(cell)
        if getattr(make_defense(cell), "protocol", None) not in PROTOCOLS:
            name = cell.plugins["defense"]["name"]
            raise BadRequest(
                f"ldp_leakage needs the law of the reports: defense.protocol of {name} must be one of "
                f"{', '.join(PROTOCOLS)}"
            )

    def fits(self, cell: Cell, dataset: Dataset) -> None:
        """Refuse an attribute that is not collected, or is not discrete."""
        super().fits(cell, dataset)
        chosen = sensitive_attributes(dataset, "table2", cell.seed)
        for attribute in chosen:
            if attribute != dataset.protected:
                check_discrete(dataset, attribute)
        if cell["attribute"] not in (PROTECTED, *chosen):
            raise BadRequest(f"attribute must be one of {', '.join((PROTECTED, *chosen))}, got {cell['attribute']}")

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Draw the people and learn each attribute once, collect once a defense and ε, then attack."""
        first = cells[0]
        data = load(first)
        people = gather(data, first.seed, first.rng("targets", "dataset"))
        known: dict[str, Known] = {}
        collected: dict[str, tuple[dict[str, np.ndarray], Ledger]] = {}
        results = []
        for cell in cells:
            name = data.protected if cell["attribute"] == PROTECTED else cell["attribute"]
            if name not in known:
                draw = cell.rng(f"learn {name}", "dataset", "attack")
                known[name] = learn(people, name, cell.plugin("attack"), draw)
            defense = make_defense(cell)
            if repr(defense) not in collected:
                collected = {}  # one at a time in memory: cells of a defense and ε follow each other, or collect again
                draw = cell.rng("collect", "dataset", "defense", "epsilon")
                collected[repr(defense)] = defense.collect(people.values, people.sizes, draw)
            reports, ledger = collected[repr(defense)]
            protocol = PROTOCOLS[defense.protocol](people.sizes[name], ledger.entries[name])
            results.append(Result(measured(known[name], protocol, reports[name]) | {"attribute_name": name}))
        return results
