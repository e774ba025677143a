"""experiment=maad_private: adversarial debiasing of several attributes, with and without privacy (maad2023)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from fairpriv import registry
from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.datasets.encode import one_hot
from fairpriv.datasets.split import stratified_split
from fairpriv.defenses.adversarial.base import DebiasingDefense
from fairpriv.errors import BadRequest, DoesNotFit, unknown
from fairpriv.metrics.odds import intersectional, odds
from fairpriv.protocols.base import Protocol, Result
from fairpriv.registry import register

TEST_SHARE = 0.2  # Section 5
TEXT_LENGTH = 40  # words of a tweet that are read
CURVE = 60  # points of the learning curve that is kept


def binary_attributes(cell: Cell, data: Dataset) -> pd.DataFrame:
    """Return the attributes that the cell names (joined by +) as 0/1 columns, 1 the advantaged group."""
    loader = registry.find("datasets", cell.plugins["dataset"]["name"])
    columns = {}
    names = [data.protected] if cell.get("attributes") is None else str(cell["attributes"]).split("+")
    for name in names:
        if name == data.protected:
            columns[name] = data.group
            continue
        if name not in data.sensitive:
            raise unknown(f"sensitive attribute of {data.name}", name, {data.protected, *data.sensitive})
        column, rule = data.sensitive[name], loader.advantaged.get(name)
        if callable(rule):
            columns[name] = np.asarray(rule(column)).astype(np.int8)
        elif rule is not None:
            columns[name] = column.astype(str).isin(rule).to_numpy().astype(np.int8)
        else:
            raise BadRequest(
                f"attribute {name} of {data.name} is not binary: it has {len(column.cat.categories)} values; "
                f"valid: {', '.join(loader.advantaged) or data.protected}"
            )
    frame = pd.DataFrame(columns)
    for name in frame:
        if frame[name].nunique() < 2:
            raise BadRequest(f"attribute {name} of {data.name} has one group only")
    return frame


def inputs(cell: Cell, data: Dataset) -> tuple[np.ndarray, np.ndarray | None]:
    """Return what the predictor sees, and given word vectors for texts.

    As in AIF360, sensitive attributes are features, unless the dataset's `exclude` names them. Nothing is fitted to the
    data (domains are public, numbers go through a fixed function): the accountant sees all that the model owes to them.
    """
    if {"text", "tokens"} & set(data.features):
        from fairpriv.defenses.adversarial.text import given_ids, tokens, words

        buckets = cell.plugins["defense"].get("words") or 2048
        if "tokens" in data.features:
            return given_ids(data.features["tokens"].tolist(), TEXT_LENGTH, buckets), None
        texts = data.features["text"].tolist()
        given = getattr(cell.plugin("dataset"), "word_vectors", lambda _: None)({w for t in texts for w in words(t)})
        known, vectors = (None, None) if given is None else given
        return tokens(texts, TEXT_LENGTH, buckets, known), vectors
    frame = data.features
    left_out = getattr(cell.plugin("dataset"), "exclude", ())
    if data.protected in data.sensitive and data.protected not in {*frame, *left_out}:
        frame = frame.assign(**{data.protected: data.sensitive[data.protected]})
    numbers = [c for c in frame if not isinstance(frame[c].dtype, pd.CategoricalDtype)]
    frame = frame.assign(**{c: np.sign(frame[c]) * np.log1p(np.abs(frame[c].astype(float))) for c in numbers})
    return one_hot(frame)[0].astype(np.float32), None


def condition(cell: Cell) -> str:
    """Return the condition's name (Section 4.4), or the defense's where it is none of the four.

    Under the public algorithm the four have names of their own: they are no numbers of Algorithm 1.
    """
    params = cell.plugins["defense"]
    if params["name"] != "maad":
        return params["name"]
    private = params["privacy"] != "none"
    names = {(0, 0): "baseline", (1, 0): "dp", (0, 1): "debias", (1, 1): "dp_debias"}
    public = "public_" if params.get("algorithm") == "public" else ""
    return public + names[private, bool(params["debias"])]


def f1(predicted: np.ndarray, label: np.ndarray) -> dict[str, float]:
    """Return micro F1 (with two classes: accuracy), macro F1, and F1 weighted by class."""
    scores, shares = [], []
    for y in (0, 1):
        hit = ((predicted == y) & (label == y)).sum()
        scores.append(2 * hit / max((predicted == y).sum() + (label == y).sum(), 1))
        shares.append((label == y).mean())
    return {
        "micro_f1": float((predicted == label).mean()),
        "macro_f1": float(np.mean(scores)),
        "weighted_f1": float(np.dot(scores, shares)),
    }


def _curve(losses: np.ndarray) -> np.ndarray:
    """Return the losses averaged over equal stretches of training."""
    parts = np.array_split(losses, min(CURVE, len(losses)))
    return np.array([part.mean(axis=0) for part in parts])


@register
@dataclass(frozen=True)
class MaadPrivate(Protocol):
    """Trains a predictor in four conditions and measures F1, equality of odds per attribute, and the ε really spent."""

    name: ClassVar[str] = "maad_private"
    paper: ClassVar[str] = "maad2023, Sections 4 and 5"
    presented_by: ClassVar[str] = "fairpriv.report.maad2023"

    accepts: ClassVar[Mapping[str, type]] = {"defense": DebiasingDefense}

    def validate(self, cell: Cell) -> None:
        """Refuse parameters out of range, and a defense that lacks what it trains with."""
        super().validate(cell)
        getattr(cell.plugin("defense"), "available", lambda: None)()

    def fits(self, cell: Cell, dataset: Dataset) -> None:
        """Refuse attributes that are not there or not binary, and a budget that not even one step keeps."""
        super().fits(cell, dataset)
        binary_attributes(cell, dataset)
        defense, n = cell.plugin("defense"), round((1 - TEST_SHARE) * len(dataset))
        batch, epsilon = getattr(defense, "batch", 1), getattr(defense, "epsilon", None)
        if batch > n:
            raise DoesNotFit(f"defense.batch must be a whole number between 1 and {n}, got {batch}", "defense.batch")
        least = defense.least_epsilon(n)
        if epsilon is not None and least > epsilon:
            raise DoesNotFit(
                f"defense.epsilon must be >= {math.ceil(least * 1000) / 1000:g} on the {n} training rows of dataset "
                f"{dataset.name}, which a single step spends, got {epsilon:g}",
                "defense.epsilon",
            )

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Train and test each cell on its own split."""
        return [self._one(cell, load(cell)) for cell in cells]

    def _one(self, cell: Cell, data: Dataset) -> Result:
        groups = binary_attributes(cell, data)
        x, vectors = inputs(cell, data)
        split = cell.rng("split", "dataset")  # the same in every condition
        train, test = stratified_split(data, [1 - TEST_SHARE, TEST_SHARE], split, by="none")
        rng = cell.rng("training")
        s = groups.to_numpy(np.float32)
        fitted = cell.plugin("defense").fit(x[train], data.label[train].astype(np.float32), s[train], rng, vectors)
        predicted = np.asarray(fitted.decide(x[test], s[test], rng)).astype(np.int8)
        spent = fitted.spent
        metrics: dict[str, Any] = {"condition": condition(cell)} | f1(predicted, data.label[test])
        metrics["positive_share"] = float(predicted.mean())
        for name in groups:
            found = odds(predicted, data.label[test], groups[name].to_numpy()[test], name)
            metrics |= {
                f"aod_{name}": found.average,
                f"eoo_{name}": found.norm,
                f"tpr_gap_{name}": found.tpr,
                f"fpr_gap_{name}": found.fpr,
            }
        worst = intersectional(predicted, data.label[test], {n: groups[n].to_numpy()[test] for n in groups})
        metrics |= {f"intersectional_{k}": v for k, v in worst.items()}
        metrics |= {
            "epsilon_claimed": spent.claimed,
            "epsilon_claimed_rdp": spent.claimed_rdp,
            "epsilon_spent": spent.spent,
            "epsilon_proven": spent.proven,
            "epsilon_sensitive": spent.spent if spent.sensitive is None else spent.sensitive,
            "spent_on": spent.on,
            "steps": fitted.steps,
            "epochs": fitted.steps * cell.plugins["defense"].get("batch", math.nan) / len(train),
            "one_sided_batches": fitted.one_sided,
            "train_loss": float(fitted.losses[-min(500, len(fitted.losses)) :, 0].mean()),
        }
        return Result(metrics, {"losses": _curve(fitted.losses)} if cell.seed == 0 else {})
