"""experiment=information_obfuscation: fair representations under local differential privacy (xie2024, Section 6)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.datasets.encode import ordinal, standardise
from fairpriv.defenses.representation.base import RepresentationDefense, Sample
from fairpriv.errors import BadRequest, unknown
from fairpriv.metrics.gaps import fairness_gap
from fairpriv.protocols.base import Protocol, Result
from fairpriv.registry import register

MINE_OF = ("none", "s", "both")
MINE_DRAW = ("fresh", "fixed", "both")
SCORED_ON = ("test", "validation")
POINT = ("dataset", "defense", "beta", "epsilon")


def make_defense(cell: Cell) -> RepresentationDefense:
    """Build the cell's method at its ε, and at its β where that is an axis."""
    beta = {} if cell.get("beta") is None else {"beta": cell["beta"]}
    return cell.plugin("defense", epsilon=cell.get("epsilon", float("inf")), **beta)


def _scaled(cell: Cell, data: Dataset, train: np.ndarray, scored: np.ndarray) -> Sequence[np.ndarray]:
    """Standardise every column by the training part, or all of them by the mean and deviation of one (`scale_by`)."""
    if (name := cell.get("scale_by")) is None:
        return standardise(train, scored)
    one = train[:, list(data.features).index(name)]
    return [(part - one.mean()) / one.std() for part in (train, scored)]


def split(cell: Cell, data: Dataset) -> tuple[Sample, Sample]:
    """Return the training part and the part to score: the official split, else 70 : 30 at random.

    scored_on=validation: a quarter of the training part is scored, and the test part left out of everything. U is the
    label and S the group, except for Colored-MNIST, where both have more than two values.
    """
    u, s, x = data.label, data.group, ordinal(data.features)
    several = {"digit", "colour"} <= set(data.sensitive)
    if several:
        kept = "digit" if data.protected == "colour" else "colour"
        u, s = (data.sensitive[c].cat.codes.to_numpy() for c in (kept, data.protected))
    train = data.train
    if train is None or train.all() or not train.any():
        order = cell.rng("split", "dataset").permutation(len(data))
        train = np.isin(np.arange(len(data)), order[: int(0.7 * len(data))])
    scored, name = ~train, "test"
    if cell.get("scored_on", "test") == "validation":
        order = cell.rng("validation", "dataset").permutation(np.flatnonzero(train))
        scored, name = np.isin(np.arange(len(data)), order[: len(order) // 4]), "validation"
        train = train & ~scored
    parts = [x[train], x[scored]]
    parts = parts if several else _scaled(cell, data, *parts)  # pixels stay in [0, 1]
    out = []
    for part_name, part, rows in zip(("training", name), parts, (train, scored)):
        for what, values in (("U", u[rows]), ("S", s[rows])):
            if len(np.unique(values)) < 2:
                raise BadRequest(f"dataset {data.name}: {what} is constant in the {part_name} part")
        out.append(Sample(part, u[rows].astype(np.int64), s[rows].astype(np.int64)))
    return out[0], out[1]


def _mine(cell: Cell, role: str, z: Any, y: np.ndarray) -> np.ndarray:
    """Run MINE between z and a class; what it is told is in the config (Appendix A.2.3)."""
    from fairpriv.metrics.mine import mine

    rng = cell.rng(role, *POINT)  # the same whether it stops or not
    several = y if y.max() < 2 else np.eye(y.max() + 1)[y]
    batch = cell.get("mine_batch", int(np.clip(len(y) // 4, 2, 1024)))
    settle = cell.get("mine_settle", False)
    return mine(z, several, rng, iterations=cell.get("mine_iterations", 50_000), settle=settle, batch=batch)


def _mutual_information(cell: Cell, fresh: Any, fixed: np.ndarray, test: Sample) -> dict[str, float]:
    """Estimate I(S;Z), and I(U;Z) where asked for, by MINE on the test part.

    Noise is drawn anew in every batch, or once for all rows: the latter under names with `_fixed`. Where nothing is
    random the two are the same, and MINE runs once.
    """
    from fairpriv.metrics.mine import estimate, settled

    out: dict[str, float] = {}
    wanted = {"none": (), "s": ("s",), "both": ("s", "u")}[cell.get("mine_of", "none")]
    drawn = cell.get("mine_draw", "fresh")
    traces: dict[str, np.ndarray] = {}
    for name in wanted:
        for draw in ("fresh", "fixed") if drawn == "both" else (drawn,):
            once = draw == "fixed" and callable(fresh)
            role = f"mine {name} fixed" if once else f"mine {name}"
            if role not in traces:
                traces[role] = _mine(cell, role, fixed if once else fresh, getattr(test, name))
            trace, mark = traces[role], "_fixed" if draw == "fixed" else ""
            found, i = estimate(trace), f"i_{name}z{mark}"
            out |= {i: found, f"{i}_bits": found / np.log(2)}
            out |= {f"mine_iterations_used_{name}{mark}": len(trace), f"mine_settled_{name}{mark}": int(settled(trace))}
            out |= {f"{i}_at_{round(100 * share)}": estimate(trace, share) for share in (0.1, 0.2, 0.5)}
    return out


def _attacks(cell: Cell, z: Sequence[np.ndarray], train: Sample, test: Sample) -> dict[str, float | str]:
    """Let a random forest (Table 2) and the strongest of three attackers guess S."""
    from fairpriv.defenses.representation.downstream import random_forest_accuracy, strongest_attack
    from fairpriv.metrics.leakage import leakage

    rng = cell.rng("attack", *POINT)
    forest = random_forest_accuracy(z[0], train.s, z[1], test.s, rng)
    name, guessed = strongest_attack(z[0], train.s, z[1], rng)
    return {
        "accuracy_s": forest,
        "attacker": name,
        "attack_accuracy": float((guessed == test.s).mean()),
        "attack_balanced": leakage(guessed, test.s) / 100,
    }


def _bounds(cell: Cell, defense: RepresentationDefense, encoded: np.ndarray, test: Sample) -> dict[str, float]:
    """Return Lemma 2 and Theorem 1 on the test part, from the randomizer's own law."""
    known = defense.information(encoded, test.s, cell.rng("information", *POINT))
    if known is None:
        return {}
    epsilon = cell["epsilon"]
    tiny = 1e-9
    return {
        "i_xz": known.xz,
        "i_xz_given_s": known.xz_given_s,
        "i_sz_known": known.sz,
        "worst_log_ratio": known.worst,
        "lemma2": int(known.xz <= epsilon + tiny and known.worst <= epsilon + tiny),
        "theorem1": int(known.sz <= epsilon - known.xz_given_s + tiny),
    }


def _scores(cell: Cell, defense: RepresentationDefense, params: Any, z: Sequence[np.ndarray], train: Sample) -> Any:
    """Return the scores of U on the test part: the method's own classifier, or one trained on its representations."""
    from fairpriv.defenses.representation.downstream import classify

    own = defense.predict(params, z[1])
    if own is not None:
        return own
    rng = cell.rng("downstream", *POINT)
    shown = [defense.released(part) for part in z]
    return classify(shown[0], train.u, shown[1], rng, rate=defense.rate)


def evaluate(
    cell: Cell, defense: RepresentationDefense, params: Any, encoded: Sequence[np.ndarray], parts: Sequence[Sample]
) -> Result:
    """Randomize the encoded rows and measure utility, fairness, leakage and the bounds."""
    train, test = parts
    rng = cell.rng("randomizer", *POINT)
    z = [defense.randomize(part, rng) for part in encoded]
    guessed = np.argmax(_scores(cell, defense, params, z, train), axis=1)
    metrics: dict[str, Any] = {
        "n_train": len(train),
        "n_test": len(test),
        "attributes": train.x.shape[1],
        "p_u": float((test.u == 1).mean()),
        "majority_u": float(np.bincount(test.u).max() / len(test)),
        "majority_s": float(np.bincount(test.s).max() / len(test)),
        "accuracy": float((guessed == test.u).mean()),
    }
    if test.u.max() < 2 and test.s.max() < 2:
        h = (guessed == 1).astype(float)[None]
        metrics["delta_dp"] = float(fairness_gap("abs_sp", h, test.s, test.u)[0])  # (59)
        metrics["delta_eo"] = float(fairness_gap("abs_eodds", h, test.s, test.u).max())  # (60)
    metrics |= _bounds(cell, defense, encoded[1], test)
    shown = [defense.released(part) for part in z]
    metrics |= _mutual_information(cell, defense.fresh(params, encoded[1], test), shown[1], test)
    if cell.get("attacks", False):
        metrics |= _attacks(cell, shown, train, test)
    arrays = {}
    if cell.seed == 0 and test.x.shape[1] == 300:  # images, for Figure 4
        first = [np.flatnonzero(test.u * (test.s.max() + 1) + test.s == c)[:1] for c in range(30)]
        rows = np.concatenate(first)[:30]
        arrays = {"x": test.x[rows], "z": z[1][rows], "u": test.u[rows], "s": test.s[rows], "guess": guessed[rows]}
    return Result(metrics, arrays)


@register
@dataclass(frozen=True)
class InformationObfuscationProtocol(Protocol):
    """Learns representations with and without LDP; measures utility, fairness, leakage (Tables 1-2, Figures 4-6)."""

    name: ClassVar[str] = "information_obfuscation"
    paper: ClassVar[str] = "xie2024, Section 6"
    presented_by: ClassVar[str] = "fairpriv.report.xie2024"
    shared: ClassVar[tuple[str, ...]] = (
        "epsilon",
        *("mine_of", "mine_iterations", "mine_settle", "mine_draw", "attacks"),
    )
    later: ClassVar[Mapping[str, Any]] = {"mine_draw": "fresh", "scale_by": None}

    accepts: ClassVar[Mapping[str, type]] = {"defense": RepresentationDefense}

    def build(self, cell: Cell, group: str) -> Any:
        """Build the method at the cell's ε and β."""
        return make_defense(cell)

    def validate(self, cell: Cell) -> None:
        """Refuse a wrong family and parameters out of range."""
        if "epsilon" in cell.axes:
            validate.number("epsilon", cell["epsilon"], at_least=0)
        super().validate(cell)
        validate.choice("mine_of", cell.get("mine_of", "none"), MINE_OF)
        validate.integer("mine_iterations", cell.get("mine_iterations", 50_000), at_least=1000)
        validate.choice("mine_settle", cell.get("mine_settle", False), (True, False))
        validate.choice("attacks", cell.get("attacks", False), (True, False))
        validate.choice("mine_draw", cell.get("mine_draw", "fresh"), MINE_DRAW)
        validate.choice("scored_on", cell.get("scored_on", "test"), SCORED_ON)
        validate.integer("mine_batch", cell.get("mine_batch", 1024), at_least=2)

    def fits(self, cell: Cell, dataset: Dataset) -> None:
        """Refuse a dataset that is too small, or has no such column to scale by."""
        super().fits(cell, dataset)
        if cell.get("scale_by") not in (None, *dataset.features):
            raise unknown(f"feature of {dataset.name} in scale_by", cell["scale_by"], dataset.features)

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Train each encoder once and evaluate every cell; an encoder that knows no randomizer serves all ε."""
        data = load(cells[0])
        parts = split(cells[0], data)
        trained: dict[float, tuple[Any, list[np.ndarray]]] = {}
        results = []
        for cell in cells:
            defense = make_defense(cell)
            key = defense.epsilon if defense.learns_with_randomizer else float("inf")
            if key not in trained:
                axes = POINT if defense.learns_with_randomizer else POINT[:-1]
                rng = cell.rng("train", *axes)
                params = defense.fit(parts[0], rng)
                trained[key] = params, [defense.encode(params, part, rng) for part in parts]
            result = evaluate(cell, defense, *trained[key], parts)
            note = "; ".join(data.notes)
            results.append(replace(result, metrics=dict(result.metrics) | {"note": note}) if note else result)
        return results
