"""What answers to bias questions give away, by how many are asked: up to one for each person, where all is known."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpriv.assessment.groups import Comparison
from fairpriv.assessment.people import People, some_of
from fairpriv.attacks.reveal.base import Attack, Recovery
from fairpriv.attacks.reveal.reveal_compressed import RevealCompressed
from fairpriv.attacks.reveal.reveal_linear import RevealLinear
from fairpriv.attacks.reveal.reveal_partition import RevealPartition
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.defenses.query.none import NoDefense
from fairpriv.desk import ComplianceDesk
from fairpriv.metrics.leakage import leakage
from fairpriv.seeds import stream

MOST = 2000  # people attacked; of more, a sample
CURVE = 400  # people of the curve over the number of questions: in between, decoding takes long
DRAWS = 10  # of the noise of private answers: of one, on few people, the leakage would be chance
SHARES = (1 / 60, 1 / 20, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 5 / 8, 1)  # questions tried, as a share of the number of people


@dataclass(frozen=True, eq=False)
class Attacked:
    """The people who are attacked: their groups (for scoring and for the desk), labels and the model's scores."""

    group: np.ndarray
    label: np.ndarray
    base: np.ndarray

    def __len__(self) -> int:
        """Return how many they are."""
        return len(self.group)

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the group sizes, which an attacker is taken to know."""
        return int((self.group == 0).sum()), int((self.group == 1).sum())

    @property
    def smaller(self) -> np.ndarray:
        """Return who is in the smaller group."""
        n0, n1 = self.sizes
        return self.group == (0 if n0 <= n1 else 1)

    def run(self, attack: Attack, defense: QueryDefense, noise: np.random.Generator, rng: Any) -> Recovery:
        """Attack a desk that answers through a defense."""
        return attack.run(ComplianceDesk(self.group, self.label, defense, noise).view(self.base), rng)


def attacked(people: People, comparison: Comparison, seed: int, most: int = MOST) -> Attacked:
    """Draw the people who are attacked."""
    rows = some_of(comparison.group, most, stream("assess", "attacked", comparison.name, seed))
    return Attacked(comparison.group[rows], people.label[rows], people.score[rows])


def attack_with(m: int, n: int) -> Attack:
    """Return the strongest attack with m questions about n people: from n on, a linear system tells everything."""
    if m >= n:
        return RevealLinear()
    return RevealCompressed(m=m, queries="binary", decoder="maximum_likelihood")


def score(found: Recovery, who: Attacked) -> dict[str, float]:
    """Return what an attack got, in percent: balanced over the groups, of everybody, and of the smaller group."""
    right = found.group == who.group
    return {
        "leakage": leakage(found.group, who.group),
        "leakage_of_all_people": 100 * float(right.mean()),
        "leakage_of_smaller_group": 100 * float(right[who.smaller].mean()),
    }


def asked(who: Attacked, m: int, defense: QueryDefense, seed: int) -> dict[str, Any]:
    """Ask m questions about these people and return what the answers give away, on average over the noise."""
    attack = attack_with(m, len(who))
    draws = 1 if defense.name == "none" else DRAWS
    noises = [stream("assess", "noise", m, defense.name, i, seed) for i in range(draws)]
    views = [ComplianceDesk(who.group, who.label, defense, noise).view(who.base) for noise in noises]
    found = attack.run_many(views, stream("assess", "questions", m, defense.name, seed))
    scores = [score(recovery, who) for recovery in found]
    return {
        "people": len(who),
        "questions": found[0].queries,
        "questions_per_person": found[0].queries / len(who),
        "answers": "exact" if defense.name == "none" else "private",
        "defense": defense.name,
        "epsilon": defense.epsilon,
        "attack": attack.name,
        "draws": draws,
    } | {key: float(np.mean([got[key] for got in scores])) for key in scores[0]}


def by_questions(who: Attacked, few: Attacked, queries: int | None, private: QueryDefense, seed: int) -> list[dict]:
    """Return a row a number of questions and way of answering: exactly, and through a defense at its ε.

    The curve is about `few` people. Then everybody in `who` is attacked: with as many questions as asked for, with the
    share of questions that was enough for the few, and with one a person.
    """
    numbers = sorted({max(1, round(share * len(few))) for share in SHARES})
    rows = [asked(few, m, defense, seed) for m in numbers for defense in (NoDefense(), private)]
    if len(who) > len(few):
        enough = round(fewest(rows)["questions_per_person"] * len(who))
        rows += [asked(who, m, NoDefense(), seed) for m in sorted({enough, len(who)})]
    if queries is not None and not any(r["questions"] == queries and r["people"] == len(who) for r in rows):
        rows.append(asked(who, min(queries, len(who)), NoDefense(), seed))
    return rows


def absolute_gaps(who: Attacked, seed: int) -> dict[str, Any]:
    """Return what absolute gaps give away: the two groups, without saying which is which (hamman2023, Theorem 3)."""
    attack = RevealPartition()
    found = who.run(attack, NoDefense(), stream("assess", "noise", seed), stream("assess", "absolute", seed))
    got = leakage(found.group, who.group)
    return {"questions": found.queries, "attack": attack.name, "leakage_up_to_names": max(got, 100 - got)}


def fewest(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the row of the fewest exact answers that reveal the most, of those about the most people."""
    people = max(row["people"] for row in rows)
    exact = [row for row in rows if row["answers"] == "exact" and row["people"] == people]
    most = max(row["leakage"] for row in exact)
    return min((row for row in exact if row["leakage"] == most), key=lambda row: row["questions"])
