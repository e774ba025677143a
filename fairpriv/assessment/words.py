"""The assessment in plain words: the headline, what the attacker is taken to be, and what is taken for granted."""

from fairpriv.assessment.budgets import ceiling, rounded_down
from fairpriv.assessment.study import Study
from fairpriv.registry import find, summary

WAYS = {  # of answering, in plain words; a plug-in from elsewhere speaks for itself
    "conceal": "noise fitted to the sizes of the groups, as first published (Attribute-Conceal)",
    "conceal_aware": "noise fitted to the questions and to the sizes of the groups",
    "conceal_exact": "as conceal, with the least noise that keeps its promise",
    "conceal_laplace": "milder noise fitted to the sizes; the promise may fail with probability δ",
    "conceal_tight": "as conceal, with at least 5 times less noise",
    "gaussian": "mild noise for the worst case; the promise may fail with probability δ",
    "laplace": "noise for the worst case, whatever the sizes",
}


def number(value: float, digits: int = 2) -> str:
    """Return a number as one would say it: 0.013, 1.2, 250."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{float(f'{value:.{digits}g}'):g}"


def percent(value: float) -> str:
    """Return a percentage; 100 and 0 only where they are exact."""
    return f"{value:.0f} %" if value in (0, 50, 100) else f"{min(max(value, 0.1), 99.9):.1f} %"


def at_most(value: float) -> str:
    """Return a bound with two digits, never more than it is."""
    return number(rounded_down(value))


def way(defense: str) -> str:
    """Return how a defense answers."""
    return WAYS.get(defense) or summary(find("defenses", defense)).rstrip(".")


def people(count: int) -> str:
    """Return a number of people or questions."""
    return f"{count:,}"


def asked(count: int) -> str:
    """Return a number of questions."""
    return "1 question" if count == 1 else f"{count:,} questions"


def off(error: float) -> str:
    """Return how far off answers are, in words where a number would mean nothing."""
    if error >= 1:
        return "off by 1 or more, and say nothing"
    return "off by less than 0.0001" if error < 1e-4 else f"off by about {number(error)}"


def headline(found: Study) -> list[str]:
    """Return the answer: what exact answers reveal, and what private ones do."""
    exact, private, advice = found.exact(), found.at_advice(), found.advice
    what = found.main.attribute
    about = "" if exact["people"] == len(found.people) else f" in a sample of {people(exact['people'])} of the people"
    whom = "people" if not about else "sample"
    points = max(private["leakage"] - 50, 0)
    lines = [
        f"Exact answers to {asked(exact['questions'])} about bias{about} would reveal the {what} of "
        f"{percent(exact['leakage_of_all_people'])} of the {whom} "
        f"({percent(exact['leakage_of_smaller_group'])} in the smaller group).",
        f"With ε = {number(advice.epsilon)} the strongest attacker we know stays within {number(points)} points of "
        f"guessing; the answers to {asked(found.queries)} are then {off(private['error'])}.",
    ]
    if exact["leakage"] < 100:
        lines.insert(1, f"One question for each of the {people(found.attacked)} people would reveal the {what} of all.")
    return lines


def advice(found: Study) -> str:
    """Return what to do about ε, and why."""
    told = found.advice
    if told.high is None:
        return (
            f"No ε that was tried keeps the strongest attacker within {told.tolerance:g} points of guessing with "
            f"{told.defense}: take less than 0.1, or do not answer."
        )
    within = f"the strongest attacker stays within {told.tolerance:g} points of guessing"
    if told.possible:
        return (
            f"Recommended: {told.defense} with ε from {number(told.low)} to {at_most(told.high)}. Up to there "
            f"{within}; from there on the noise is smaller than what another sample of people would change anyway "
            f"({number(told.sampling)})."
        )
    room = (
        f" Up to {asked(told.questions)} at ε = {number(told.epsilon)} would stay below that." if told.questions else ""
    )
    return (
        f"Recommended: {told.defense} with ε of at most {at_most(told.high)}, where {within}. "
        f"{people(found.queries)} answers are then blurred more by noise than by which people happened to be in the "
        f"table ({number(told.sampling)}): ask fewer questions, or about more people.{room}"
    )


def picture_by_epsilon(found: Study) -> str:
    """Return what is seen in the picture of leakage and error."""
    told = found.advice
    shaded = "" if told.high is None else "The shaded range of ε is the recommended one; "
    line = f"{'the' if shaded else 'The'} vertical line is ε = {number(told.epsilon)}."
    return (
        "Above: what the strongest attacker we know gets. Below: how far off answers are. A line for each way of "
        f"answering; further right, more is told. {shaded}{line} Dotted above: the {50 + told.tolerance:g} % that are "
        "tolerated, and the most that any attacker can get at an ε (e^ε/(1 + e^ε), by conceal_aware; where the sizes "
        "of both groups are known, by the others at twice the ε). Dotted below: what another sample of people would "
        "change."
    )


def picture_by_questions(found: Study) -> str:
    """Return what is seen in the picture over the number of questions."""
    few = min(row["people"] for row in found.by_questions)
    draws = max(row["draws"] for row in found.by_questions)
    whom = "" if few == len(found.people) else f", about a random {people(few)} of the people"
    return (
        f"What the strongest attacker on everybody at once gets, by how many questions are answered{whom}. With one "
        f"question a person, exact answers tell everything. Private answers: the mean over {draws} draws of the noise; "
        "all of them together cost the one ε."
    )


def glossary(found: Study) -> list[tuple[str, str]]:
    """Return what a reader must know who has never heard of any of this."""
    error = found.at_advice()["error"]
    low, high = (max(min(0.2 + sign * error, 1.0), -1.0) for sign in (-1, 1))
    span = f"{number(low)} to {number(high)}".replace("-", "−")
    return [
        (
            "a question about bias",
            "“How much more often does this model select one group than the other?” Whoever checks models for bias "
            "asks it again for each version of a model. One answer looks harmless; many, compared with each other, "
            "tell who is in which group.",
        ),
        (
            "points of guessing",
            "Leakage is the share of right guesses, averaged over the two groups: 50 % is tossing a coin, 100 % is "
            "knowing. To stay within 3 points of guessing is 53 % at most.",
        ),
        (
            "ε (epsilon)",
            "How much all answers together may tell about one person. Random noise is added to each answer: the "
            "smaller ε, the more noise, and the less anybody learns. 0.1 is strict; 10 hides next to nothing.",
        ),
        (
            "off by about",
            "Half of the answers are off by less than that, half by more: a true gap of 0.2 would typically be told "
            f"as {span}."
            if error < 1
            else "Half of the answers are off by 1 or more: they say nothing.",
        ),
        (
            "within how many points?",
            f"That {found.advice.tolerance:g} points above guessing are tolerable is a choice of this tool, not of a "
            "law: tolerance=POINTS asks for another.",
        ),
    ]


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
        "conceal_aware is made for groups whose sizes are known; all other ways protect one person, against one who "
        "does not know the sizes; where those are published, a swap of two people at twice ε.",
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
            "An attacker who also knows features and outcomes guesses right for "
            f"{percent(before['leakage_of_all_people'])} of the people without the table, and for "
            f"{percent(after['leakage_of_all_people'])} with it; averaged over the two groups, "
            f"{percent(before['leakage'])} and {percent(after['leakage'])}."
        )
    lines.append(
        f"Two exact tables, before and after one person leaves, give that person's {what} away: "
        f"{percent(leaks['two_tables']['leakage'])}."
    )
    if cells["small"] or cells["all_alike"]:
        lines.append(
            f"Categories of the finest table: {cells['categories']}; of fewer than 5 people: {cells['small']}; in "
            f"which all people have the same decision: {cells['all_alike']}. There, whoever knows somebody's category "
            "knows their decision."
        )
    if (less := leaks["subtraction"])["follow"]:
        lines.append(
            f"Of all categories, also of single attributes and of some of them together, {less['small']} hold fewer "
            f"than 5 people. To leave out only these would not hide them: the numbers of {less['follow']} follow from "
            f"the others by subtraction. Here {less['left_out']} are left out, so that none follows."
        )
    return lines
