"""The whole assessment of one table, in the order in which it is told."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from fairpriv import cvxpy_quiet, validate  # noqa: F401
from fairpriv.assessment import budgets, fairness, predictions, questions, summaries
from fairpriv.assessment.budgets import Advice
from fairpriv.assessment.groups import Comparison, comparisons
from fairpriv.assessment.people import People, Settings, read
from fairpriv.assessment.questions import Attacked, attacked
from fairpriv.assessment.small import SMALL, Told
from fairpriv.defenses.query.none import NoDefense
from fairpriv.errors import BadRequest
from fairpriv.seeds import stream

QUERIES = 10  # answered within the budget where nothing is said
FEW = 1000  # people attacked all at once with noise; of more, a sample
WORLDS = 400  # times a victim of each group of a comparison is attacked, where chances must be found by trying
MOST_COMPARED = 24  # comparisons that are attacked


@dataclass(frozen=True, eq=False)
class Study:
    """What was found; every list is one of rows that are aggregates."""

    people: People
    settings: Settings
    queries: int
    main: Comparison
    attacked: int
    by_questions: list[dict[str, Any]]
    absolute: dict[str, Any]
    by_epsilon: list[dict[str, Any]]
    refused: dict[str, str]
    advice: Advice
    by_comparison: list[dict[str, Any]]
    fairness: list[dict[str, Any]]
    inference: list[dict[str, Any]]
    summary: list[dict[str, Any]]
    summary_leaks: dict[str, Any]
    notes: tuple[str, ...]

    def exact(self) -> dict[str, Any]:
        """Return the row of exact answers that the headline is about: as many as asked for, or the fewest that do."""
        if self.settings.queries is None:
            return questions.fewest(self.by_questions)
        asked = min(self.queries, self.attacked)
        return next(
            r
            for r in self.by_questions
            if r["answers"] == "exact" and r["questions"] == asked and r["people"] == self.attacked
        )

    def at_advice(self, defense: str | None = None) -> dict[str, Any]:
        """Return the row of a defense (the recommended one) at the ε of the advice."""
        name = defense or self.advice.defense
        return next(r for r in self.by_epsilon if r["defense"] == name and r["epsilon"] == self.advice.epsilon)


def study(frame: pd.DataFrame, settings: Settings, name: str, say: Callable[[str], None] = lambda _: None) -> Study:
    """Assess a table; `say` hears what is being done."""
    with threadpool_limits(1):  # small matrices: threads would wait for each other
        say("reading the table" + ("" if settings.prediction else " and training a model"))
        people = read(frame, settings, name)
        compared, notes, may = comparisons(people.attributes, settings.privileged)
        if not compared:
            raise BadRequest(
                f"{name}: no group of {' or '.join(settings.protected)} has {SMALL} people with {SMALL} others to be "
                "held against"
            )
        if settings.queries is not None:  # that many tell everything, and more tell no more
            validate.integer("queries", settings.queries, at_least=1, at_most=len(people))
        main = compared[0]
        queries = settings.queries or min(QUERIES, len(people) - 1)
        seed = settings.seed
        who, few, fewer = (attacked(people, main, seed, most) for most in (questions.MOST, FEW, questions.CURVE))
        everyone = Attacked(main.group, people.label, people.score)
        say("attacking private answers")
        rows, refused, advice = _budgets(people, few, everyone, queries, settings)
        best = budgets.query_defenses(advice.epsilon)[0][advice.defense]
        say(f"attacking exact answers to up to {len(who):,} questions")
        by_questions = questions.by_questions(who, fewer, settings.queries, best, seed)
        say("comparing groups")
        by_comparison = [_compared(people, c, best, seed) for c in compared[:MOST_COMPARED]]
        rng = stream("assess", "intervals", seed)
        models = budgets.variants(people.score, queries, stream("assess", "models", seed))
        measured = [
            row for c in compared for row in fairness.measures(c, people.label, people.decision, rng, best, models)
        ]
        say("guessing groups from decisions")
        inferred = predictions.inference(people, main, seed)
        notes = [*people.notes, *notes, *_sampled(people, who, few, fewer, compared)]
        return Study(
            people, settings, queries, main, len(who), by_questions, questions.absolute_gaps(who, seed), rows, refused,
            advice, by_comparison, measured, inferred, summaries.rates(people.decision, people.attributes, may),
            _summary_leaks(people, main, inferred, may), tuple(notes),
        )  # fmt: skip


def _budgets(
    people: People, few: Attacked, everyone: Attacked, queries: int, settings: Settings
) -> tuple[list[dict[str, Any]], dict[str, str], Advice]:
    """Return the rows by ε, what refused, and the advice; the rows at its ε are among them."""
    seed = settings.seed
    given = () if settings.epsilon is None else (settings.epsilon,)
    grid = tuple(sorted({*budgets.EPSILONS, *given}))
    rows, refused = budgets.by_epsilon(few, everyone, queries, grid, seed)
    rng = stream("assess", "sampling", seed)
    sampling = fairness.sampling_deviation(people.label, people.decision, everyone.group, rng)
    advice = budgets.advise(rows, everyone, sampling, settings.epsilon, seed, settings.tolerance)
    if advice.epsilon not in grid:
        rows += budgets.by_epsilon(few, everyone, queries, (advice.epsilon,), seed)[0]
    rows = sorted(rows, key=lambda row: (row["defense"], row["epsilon"]))
    return rows, refused, advice


def _compared(people: People, comparison: Comparison, best: Any, seed: int) -> dict[str, Any]:
    """Return what exact answers, one a person, and private ones give away about one comparison."""
    who = attacked(people, comparison, seed)
    noise, rng = stream("assess", "noise", comparison.name, seed), stream("assess", "compared", comparison.name, seed)
    attack = questions.attack_with(len(who), len(who))
    found = who.run(attack, NoDefense(), noise, rng)
    everyone = Attacked(comparison.group, people.label, people.score)
    n0, n1 = comparison.sizes
    return {
        "attribute": comparison.attribute,
        "kind": comparison.kind,
        "group": comparison.looked_at,
        "reference": comparison.reference,
        "people_in_group": n0,
        "people_in_reference": n1,
        "questions": found.queries,
        "exact": questions.score(found, who),
        "private": {
            "epsilon": best.epsilon,
            "defense": best.name,
            "leakage": budgets.one_victim(best, everyone, noise, WORLDS),
            "by_law": budgets.single_law(best, everyone) is not None,  # else by trying
        },
    }


def _summary_leaks(people: People, main: Comparison, inferred: list[dict[str, Any]], may: Told) -> dict[str, Any]:
    corrected = [row for row in inferred if "corrected by the table" in row["attack"]]
    plain = [row for row in inferred if row["attack"].startswith("adversary") and "corrected" not in row["attack"]]
    return {
        "table_and_decision": summaries.given_away(people.decision, main.group),
        "two_tables": summaries.differencing(people.decision, main.group),
        "cells": summaries.small_cells(people.attributes, people.decision),
        "subtraction": {"small": may.small, "follow": may.subtracted, "left_out": may.of - len(may.categories)},
        "without_table": max(plain, key=lambda r: r["leakage_of_all_people"], default=None),
        "with_table": max(corrected, key=lambda r: r["leakage_of_all_people"], default=None),
    }


def _sampled(people: People, who: Attacked, few: Attacked, fewer: Attacked, compared: list[Comparison]) -> list[str]:
    notes = []
    for n, what in (
        (len(who), "exact answers are attacked for"),
        (len(few), "private answers are attacked all at once for"),
        (len(fewer), "the curve over the number of questions is drawn for"),
        (min(len(people), predictions.MOST), "groups are guessed from decisions for"),
    ):
        if n < len(people):
            notes.append(f"{what} a random {n:,} of the {len(people):,} people, with the shares of the groups kept")
    if len(compared) > MOST_COMPARED:
        notes.append(
            f"the first {MOST_COMPARED} of {len(compared)} comparisons are attacked; all have fairness metrics"
        )
    return notes
