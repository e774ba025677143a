"""What a defense lets out beside answers: a model's predictions and, where each person gives one, records."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpriv.attacks.inference.base import Known, Law, RecordsView
from fairpriv.cells import Cell
from fairpriv.datasets.encode import ordinal, standardise
from fairpriv.defenses.adversarial.base import DebiasingDefense
from fairpriv.defenses.collection.base import CollectionDefense
from fairpriv.defenses.fair_learner.base import FairLearner
from fairpriv.defenses.representation.base import RepresentationDefense, Sample
from fairpriv.mechanisms.ldp import PROTOCOLS
from fairpriv.mechanisms.ldp.seen import seen_likelihood
from fairpriv.protocols.maad_private import inputs
from fairpriv.protocols.matrix.people import People
from fairpriv.protocols.one_hot_table import OneHotTable, sensitive_attributes

FAIRNESS, TOLERANCE = "SP", 0.02  # what a fair learner is asked for, where it can be asked


@dataclass(frozen=True, eq=False)
class Released:
    """Predictions 0 or 1 on the three parts, the ε promised for the protected attribute (inf: none), and records."""

    train: np.ndarray
    test: np.ndarray
    known: np.ndarray
    epsilon: float
    records: RecordsView | None = None


def fair_model(cell: Cell, defense: FairLearner, people: People, rng: np.random.Generator, kept: dict) -> Released:
    """Train a fair learner on the training part."""
    data, rows = people.data, people.train
    metric = FAIRNESS if defense.takes_metric else None
    tolerance = TOLERANCE if defense.takes_tolerance else None
    group = data.group.astype(int)
    model = defense.fit(data.features.iloc[rows], data.label[rows], group[rows], metric, tolerance, rng)
    said = [model(data.features.iloc[part], group[part], rng) for part in (rows, people.test, people.known)]
    return Released(*said, getattr(defense, "epsilon", math.inf))


def debiased_model(
    cell: Cell, defense: DebiasingDefense, people: People, rng: np.random.Generator, kept: dict
) -> Released:
    """Train a predictor against an adversary."""
    data, rows = people.data, people.train
    x, s = inputs(cell, data)[0], data.group.astype(np.float32)[:, None]
    fitted = defense.fit(x[rows], data.label[rows].astype(np.float32), s[rows], rng, None)
    parts = (rows, people.test, people.known)
    said = [np.asarray(fitted.decide(x[part], s[part], rng)).astype(int) for part in parts]
    spent = fitted.spent
    return Released(*said, spent.proven if spent.sensitive is None else spent.sensitive)


def collected_model(
    cell: Cell, defense: CollectionDefense, people: People, rng: np.random.Generator, kept: dict
) -> Released:
    """Collect sensitive attributes of the training part, and train the cell's model on what was reported."""
    data = people.data
    chosen = sensitive_attributes(data, "table2", cell.seed)
    table = OneHotTable.of(data, chosen)
    train, test, known = (table.take(rows) for rows in (people.train, people.test, people.known))
    sizes = table.sizes(chosen)
    known_reports, _ = defense.collect(known.codes(chosen), sizes, rng)  # the adversary's own, on people it knows
    reports, ledger = defense.collect(train.codes(chosen), sizes, rng)
    train.replace(reports)
    model = cell.plugin("model").fit(train.frame, data.label[people.train], rng)
    said = [(model(part.frame) > 0.5).astype(int) for part in (train, test, known)]
    value = table.codes(chosen)[data.protected]
    spent = ledger.entries.get(data.protected, math.inf)
    others = np.column_stack(
        [ordinal(data.features.drop(columns=[c for c in chosen if c in data.features])), data.label]
    )
    view = RecordsView(
        np.hstack([reports[a] for a in chosen]),
        others[people.train],
        Known(np.hstack([known_reports[a] for a in chosen]), others[people.known], value[people.known], _group(people)),
        _law(defense, spent, reports[data.protected], value, data.group),
    )
    return Released(*said, spent, view)


def _group(people: People) -> np.ndarray:
    return people.data.group[people.known].astype(int)


def _law(
    defense: CollectionDefense, epsilon: float, seen: np.ndarray, value: np.ndarray, group: np.ndarray
) -> Law | None:
    """Return the law of the reports on the protected attribute, where the defense's protocol is a known one."""
    groups = np.zeros(seen.shape[1], int)
    groups[value] = group  # every value is of one group
    if math.isinf(epsilon):
        return Law(np.where(seen, 0.0, -1e9), groups)
    protocol = PROTOCOLS.get(getattr(defense, "protocol", None))
    if protocol is None:
        return None
    return Law(seen_likelihood(protocol(seen.shape[1], epsilon), seen), groups)


def represented_model(
    cell: Cell, defense: RepresentationDefense, people: People, rng: np.random.Generator, kept: dict
) -> Released:
    """Learn a representation on the training part; everybody then gives theirs away, and others learn from it.

    An encoder that knows nothing of its randomizer is trained once for every ε (`kept`).
    """
    from fairpriv.defenses.representation.downstream import classify

    data, parts = people.data, (people.train, people.test, people.known)
    x = standardise(*(people.x[rows] for rows in parts))
    samples = [Sample(m, data.label[r].astype(np.int64), data.group[r].astype(np.int64)) for m, r in zip(x, parts)]
    key = defense.epsilon if defense.learns_with_randomizer else math.inf
    if key not in kept:
        draw = cell.rng("encoder", "dataset", "defense", *(["epsilon"] if defense.learns_with_randomizer else []))
        params = defense.fit(samples[0], draw)
        kept[key] = params, [defense.encode(params, sample, draw) for sample in samples]
    params, encoded = kept[key]
    z = [defense.randomize(part, rng) for part in encoded]
    shown = [defense.released(part) for part in z]
    if defense.predict(params, z[0]) is None:
        everyone = classify(shown[0], samples[0].u, np.vstack(shown), rng, rate=defense.rate)
        scores = np.split(everyone, np.cumsum([len(part) for part in shown])[:-1])
    else:
        scores = [defense.predict(params, part) for part in z]
    said = [np.argmax(score, axis=1) for score in scores]
    nothing = [np.empty((len(rows), 0)) for rows in parts]  # X is what a representation is to hide
    known = Known(shown[2], nothing[2], _group(people), _group(people))
    return Released(*said, defense.epsilon, RecordsView(shown[0], nothing[0], known))


RELEASES: Mapping[type, Callable[..., Released]] = {
    FairLearner: fair_model,
    DebiasingDefense: debiased_model,
    CollectionDefense: collected_model,
    RepresentationDefense: represented_model,
}


def release(cell: Cell, defense: Any, people: People, rng: np.random.Generator, kept: dict) -> Released:
    """Return what a defense lets out, by its family."""
    made = next(make for family, make in RELEASES.items() if isinstance(defense, family))
    return made(cell, defense, people, rng, kept)
