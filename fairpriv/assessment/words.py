"""The assessment in plain words: the headline, what the attacker is taken to be, and what is taken for granted."""

from fairpriv.assessment.budgets import TOLERATED, ceiling
from fairpriv.assessment.study import Study


def number(value: float, digits: int = 2) -> str:
    """Return a number as one would say it: 0.013, 1.2, 250."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{float(f'{value:.{digits}g}'):g}"


def percent(value: float) -> str:
    """Return a percentage; 100 and 0 only where they are exact."""
    return f"{value:.0f} %" if value in (0, 50, 100) else f"{min(max(value, 0.1), 99.9):.1f} %"


def people(count: int) -> str:
    """Return a number of people or questions."""
    return f"{count:,}"


def headline(found: Study) -> list[str]:
    """Return the answer: what exact answers reveal, and what private ones do."""
    exact, private, advice = found.exact(), found.at_advice(), found.advice
    what = found.main.attribute
    about = "" if exact["people"] == len(found.people) else f" in a sample of {people(exact['people'])} of the people"
    whom = "people" if not about else "sample"
    points = max(private["leakage"] - 50, 0)
    lines = [
        f"Exact answers to {people(exact['questions'])} questions about bias{about} would reveal the {what} of "
        f"{percent(exact['leakage_of_all_people'])} of the {whom} "
        f"({percent(exact['leakage_of_smaller_group'])} in the smaller group).",
        f"With ε = {number(advice.epsilon)} the strongest attacker we know stays within {number(points)} points of "
        f"guessing; the answers to {people(found.queries)} questions are then off by about {number(private['error'])}.",
    ]
    if exact["leakage"] < 100:
        lines.insert(1, f"One question for each of the {people(found.attacked)} people would reveal the {what} of all.")
    return lines


def advice(found: Study) -> str:
    """Return what to do about ε, and why."""
    told = found.advice
    if told.high is None:
        return (
            f"No ε that was tried keeps the strongest attacker within {TOLERATED:g} points of guessing with "
            f"{told.defense}: take less than 0.1, or do not answer."
        )
    within = f"the strongest attacker stays within {TOLERATED:g} points of guessing"
    if told.possible:
        return (
            f"Recommended: {told.defense} with ε from {number(told.low)} to {number(told.high)}. Up to there {within}; "
            "from there on the noise is smaller than what another sample of people would change anyway "
            f"({number(told.sampling)})."
        )
    few = f"{told.questions:,} question{'' if told.questions == 1 else 's'}"
    room = f" Up to {few} at ε = {number(told.epsilon)} would stay below that." if told.questions else ""
    return (
        f"Recommended: {told.defense} with ε of at most {number(told.high)}, where {within}. "
        f"{people(found.queries)} answers are then blurred more by noise than by which people happened to be in the "
        f"table ({number(told.sampling)}): ask fewer questions, or about more people.{room}"
    )


def threat_model(found: Study) -> list[str]:
    """Return who is taken to attack, with what."""
    what = found.main.attribute
    return [
        "The attacker asks how biased models are (the gap in selection rates between groups) and may choose the "
        "models: any prediction for each person, realistic or not.",
        f"The attacker knows who is in the table, everybody's features and outcome, how many are in each group, how "
        f"answers are made and how large the noise is; not the {what} of anyone.",
        "The worst case is shown: the whole budget is spent on one question about one person (reveal_single). "
        "Attacks on everybody at once (reveal_compressed, reveal_linear) are shown beside it.",
        "Leakage is the share of right guesses, averaged over the two groups: 50 % is guessing, 100 % is knowing.",
        "Who guesses from decisions is taken to know the groups of half of the people, and attacks the other half.",
    ]


def assumptions(found: Study) -> list[str]:
    """Return what the numbers rest on."""
    advice = found.advice
    row = found.at_advice()
    lines = [
        f"ε is spent by all {people(found.queries)} answers together. Every further batch spends it again, and budgets "
        "add up.",
        f"{advice.defense} protects {row['protects']}. Where that is all the attacker does not know, no attack tells "
        f"the two groups apart with more than {percent(ceiling(advice.epsilon))} (balanced) at "
        f"ε = {number(advice.epsilon)}: a theorem. The attacks measured here are those we know.",
        "conceal_aware protects which of two people is in which group, where the sizes of the groups are known. The "
        "others protect one person, against one who does not know the sizes; where those are published, a swap of two "
        "people at twice ε.",
        "“Off by about” is the median error of an answer about the model at hand and variants of it.",
        "Attacks are seeded, so that this page can be made again; the noise of a desk in use never is.",
        "Intervals are 95 %; those for sampling take the people for a random sample of those the model will meet.",
    ]
    if found.people.trained:
        lines.insert(
            0, "The decisions are those of a model that was trained here, not of yours: give prediction=COLUMN."
        )
    return lines


def summary_leaks(found: Study) -> list[str]:
    """Return what a published table of rates gives away."""
    leaks, what = found.summary_leaks, found.main.attribute
    alone, cells = leaks["table_and_decision"], leaks["cells"]
    lines = [
        f"The table and a person's decision alone: the {what} is guessed with {percent(alone['leakage'])} "
        f"(50 % is guessing)."
    ]
    if alone["certain"]:
        lines.append(
            f"For {people(alone['certain'])} of {people(alone['people'])} people it follows with certainty, as all "
            "who got their decision are in one group."
        )
    before, after = leaks["without_table"], leaks["with_table"]
    if before and after:
        lines.append(
            f"An attacker who also knows features and outcomes gets {percent(before['leakage'])} without the table, "
            f"and {percent(after['leakage'])} with it."
        )
    lines.append(
        f"Two exact tables, before and after one person leaves, give that person's {what} away: "
        f"{percent(leaks['two_tables']['leakage'])}."
    )
    if cells["small"] or cells["all_alike"]:
        lines.append(
            f"Of the {cells['categories']} categories of the finest table, {cells['small']} hold fewer than 5 people, "
            f"and in {cells['all_alike']} all people have the same decision: whoever knows somebody's category knows "
            "their decision."
        )
    return lines
