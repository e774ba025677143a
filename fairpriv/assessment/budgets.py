"""What private answers give away and how far off they are, for every query defense and many ε; which ε to take."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpriv.assessment.people import TOLERATED
from fairpriv.assessment.questions import Attacked
from fairpriv.attacks.reveal.reveal_compressed import RevealCompressed
from fairpriv.attacks.reveal.reveal_single import RevealSingle
from fairpriv.defenses.query.base import QueryDefense, Question
from fairpriv.defenses.query.conceal_aware import ConcealAware
from fairpriv.desk import ComplianceDesk
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.noise import Laplace, Law
from fairpriv.mechanisms.strategies import choose
from fairpriv.metrics.leakage import leakage
from fairpriv.protocols.bias_queries import UNDECLARED_SHARE
from fairpriv.registry import build, find, names, parameters
from fairpriv.seeds import stream

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0)
WORLDS = 600  # times a victim of each group is attacked, where its chances must be found by trying
FEWER = (1, 2, 5)  # questions that are tried where those asked for are too many for ε
MOST_TOGETHER = 100  # questions decoded together: with more, each answer has more noise and decoding takes long
MOST_DRAWS = 30
GUESSES = 1200  # by attacks on everybody at once: of few people, several draws of the noise


def query_defenses(epsilon: float) -> tuple[dict[str, QueryDefense], dict[str, str]]:
    """Return every defense that answers questions with noise, and why some do not at this ε.

    The share of the smaller group that some are tuned to is a constant: taken from the data, it would tell about it.
    """
    found, refused = {}, {}
    for name in names("defenses")[0]:
        cls = find("defenses", name)
        if not issubclass(cls, QueryDefense) or name == "none":
            continue
        share = {"nominal_share": UNDECLARED_SHARE} if "nominal_share" in parameters(cls) else {}
        try:
            found[name] = build("defenses", name, {"epsilon": epsilon} | share)
        except BadRequest as error:
            refused[name] = str(error)
    return found, refused


def ceiling(epsilon: float) -> float:
    """Return the balanced accuracy in percent that no attacker on one person exceeds under pure ε: e^ε / (1 + e^ε).

    A guess that is right with probability p in one group and q in the other has p <= e^ε (1 − q) and q <= e^ε (1 − p).
    """
    return 100 / (1 + math.exp(-epsilon))


def one_victim(defense: QueryDefense, who: Attacked, rng: np.random.Generator, worlds: int) -> float:
    """Return the leakage where the whole budget goes into one question about one person (reveal_single), in percent.

    Everybody of a group is the same to this question. The answer is read at the middle between what members of the two
    groups give, half of 1/N0 + 1/N1 from both, which is best for any symmetric noise: where noise of a law is added,
    the guess is right as often as the noise is no larger. A defense that answers in a way of its own is attacked.
    """
    n0, n1 = who.sizes
    law = single_law(defense, who)
    if law is not None:
        return 100 * float(np.max(law.cdf((1 / n0 + 1 / n1) / 2)))
    return 50 * sum(_hits(defense, who, value, rng, worlds) for value in (0, 1))


def single_law(defense: QueryDefense, who: Attacked) -> Law | None:
    """Return the law of the noise in the answer to one question about one person; None where it is not known.

    `conceal_aware` measures a single question as it stands, with Laplace noise on its one row.
    """
    if type(defense).respond is QueryDefense.respond:
        return defense.law("sp", *who.sizes, 1)
    if type(defense).respond is ConcealAware.respond:
        parts = (strategy := choose(np.eye(1, len(who)))).parts
        if len(parts) == 1 and len(parts[0][1]) == 1:
            ((_, scales, back),) = parts
            return Laplace(float(abs(back[0, 0]) * defense.noise(scales, strategy, *who.sizes)[0]))
    return None


def _hits(defense: QueryDefense, who: Attacked, value: int, rng: np.random.Generator, worlds: int) -> float:
    """Attack one member of a group over and over, each time with a fresh budget; return the share of right guesses."""
    n0, n1 = who.sizes
    victim = int(np.argmax(who.group == value))
    attack, right = RevealSingle(target=victim), 0
    for _ in range(worlds):
        view = ComplianceDesk(who.group, who.label, defense, rng).view(who.base)
        gap = -attack.run(view, rng).score[victim]
        right += int(gap > (1 / n1 - 1 / n0) / 2) == value
    return right / worlds


def everybody(
    defenses: dict[tuple[str, float], QueryDefense], who: Attacked, m: int, seed: int
) -> dict[tuple[str, float], float]:
    """Return the leakage where m random questions are decoded for everybody at once, in percent."""
    draws = min(max(1, round(GUESSES / len(who))), MOST_DRAWS)
    keys = [key for key in defenses for _ in range(draws)]
    attack = RevealCompressed(m=min(m, MOST_TOGETHER, len(who)), queries="binary", decoder="maximum_likelihood")
    views = [
        ComplianceDesk(who.group, who.label, defenses[key], stream("assess", "noise", *key, i, seed)).view(who.base)
        for i, key in enumerate(keys)
    ]
    found = attack.run_many(views, stream("assess", "everybody", m, seed))
    return {
        key: float(np.mean([leakage(r.group, who.group) for k, r in zip(keys, found) if k == key])) for key in defenses
    }


def error_of(defense: QueryDefense, group: np.ndarray, label: np.ndarray, models: np.ndarray) -> float:
    """Return by how much half of the answers to questions for statistical parity are off at least."""
    law = defense.noise_law(Question(models, "sp", group, label))
    return float(np.max(law.ppf(0.75)))


def variants(score: np.ndarray, m: int, rng: np.random.Generator) -> np.ndarray:
    """Return the m models asked about: the model at hand, and retrained ones that differ a little from it."""
    moved = score + rng.uniform(-0.1, 0.1, size=(m, len(score)))
    return np.clip(np.vstack([score[None, :], moved[1:]]), 0.0, 1.0)


def by_epsilon(
    few: Attacked, everyone: Attacked, queries: int, epsilons: tuple[float, ...], seed: int
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return a row for each defense and ε: how far off its answers are, and what each attack gets.

    Parameters
    ----------
    few, everyone : Attacked
        The people attacked all at once, and all there are, whom answers are about and who are attacked one by one.
    queries : int
        Questions within the budget.
    """
    made, refused = {}, {}
    for epsilon in epsilons:
        found, not_here = query_defenses(epsilon)
        made |= {(name, epsilon): defense for name, defense in found.items()}
        refused = not_here | refused  # the least ε that is refused says it best
    models = variants(everyone.base, queries, stream("assess", "models", seed))
    together = everybody(made, few, queries, seed)
    rows = []
    for (name, epsilon), defense in made.items():
        alone = one_victim(defense, everyone, stream("assess", "victim", name, epsilon, seed), WORLDS)
        attacks = {"reveal_single": alone, "reveal_compressed": together[name, epsilon]}
        strongest = max(attacks, key=attacks.get)
        promise = defense.guarantee()
        rows.append(
            {
                "defense": name,
                "epsilon": epsilon,
                "delta": promise.delta,
                "protects": promise.protects,
                "questions": queries,
                "error": min(error_of(defense, everyone.group, everyone.label, models), 1.0),  # a gap is at most 1
                "leakage": attacks[strongest],
                "strongest_attack": strongest,
                "attacks": [{"attack": attack, "leakage": got} for attack, got in attacks.items()],
            }
        )
    return rows, refused


@dataclass(frozen=True)
class Advice:
    """Which defense and ε to take: `low` to `high` is the recommended range, None at an end that nothing reaches.

    From `low` on, noise is below what sampling does to the gap anyway; up to `high`, the strongest attacker stays
    within `tolerance` points of guessing. `questions` is how many of those asked for can be answered at `epsilon` with
    noise below sampling.
    """

    defense: str
    epsilon: float
    low: float | None
    high: float | None
    sampling: float
    questions: int
    tolerance: float = TOLERATED

    @property
    def possible(self) -> bool:
        """Tell whether some ε does both."""
        return self.low is not None and self.high is not None and self.low <= self.high


def crossing_point(epsilons: list[float], values: list[float], level: float, rising: bool) -> float | None:
    """Return where a curve crosses a level, on a logarithmic axis of ε between the points; None where it does not.

    Of a rising curve it is the last ε before it first exceeds the level, of a falling one the first from which on it
    stays below.
    """
    above = [v > level for v in values]
    if rising:
        if above[0]:
            return None
        last = above.index(True) - 1 if True in above else len(values) - 1
    else:
        if above[-1]:
            return None
        last = len(values) - 1 - above[::-1].index(True) if True in above else -1
        if last < 0:
            return epsilons[0]
    if last == len(values) - 1:
        return epsilons[-1]
    a, b, x, y = values[last], values[last + 1], math.log(epsilons[last]), math.log(epsilons[last + 1])
    if a == b:
        return epsilons[last]
    return math.exp(x + (y - x) * (level - a) / (b - a))


def advise(
    rows: list[dict[str, Any]],
    everyone: Attacked,
    sampling: float,
    epsilon: float | None,
    seed: int,
    tolerance: float = TOLERATED,
) -> Advice:
    """Choose among the defenses with a pure ε: the least error at the largest ε within the tolerance, or at this ε.

    Whoever attacks here knows how many are in each group, so that what `conceal_aware` promises is as good as any.
    """
    ranges = {}
    for name in sorted({row["defense"] for row in rows if row["delta"] == 0}):
        mine = sorted((r for r in rows if r["defense"] == name), key=lambda r: r["epsilon"])
        at = [r["epsilon"] for r in mine]
        high = crossing_point(at, [r["leakage"] for r in mine], 50 + tolerance, rising=True)
        low = crossing_point(at, [r["error"] for r in mine], sampling, rising=False)
        ranges[name] = (low, high)

    def chosen(name: str) -> float:
        return epsilon if epsilon is not None else rounded_down(ranges[name][1] or min(EPSILONS))

    def error_at(name: str, m: int) -> float:
        models = variants(everyone.base, m, stream("assess", "models", seed))
        return error_of(query_defenses(chosen(name))[0][name], everyone.group, everyone.label, models)

    asked = rows[0]["questions"]
    within = [name for name, (_, high) in ranges.items() if high is not None or epsilon is not None]
    best = min(within or ranges, key=lambda name: (error_at(name, asked), name))
    affordable = [m for m in (*FEWER, asked) if m <= asked and error_at(best, m) <= sampling]
    return Advice(best, chosen(best), *ranges[best], sampling, max(affordable, default=0), tolerance)


def rounded_down(value: float) -> float:
    """Return two significant digits, rounded down."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.floor(value / unit + 1e-9) * unit:.2g}")
