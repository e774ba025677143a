"""Which attack can be tried on which defense: by what the one gives away and the other looks at.

A channel is a way in which something of the protected attribute gets out: answers to bias queries, the predictions of a
released model, or a record a person. A plug-in stands in the matrix by its family, whoever brought it.
"""

from fairpriv.attacks.correction.base import Adversary
from fairpriv.attacks.inference.base import InferenceAttack, LikelihoodAttack
from fairpriv.attacks.reveal.base import Attack
from fairpriv.defenses.adversarial.base import DebiasingDefense
from fairpriv.defenses.collection.base import CollectionDefense
from fairpriv.defenses.fair_learner.base import FairLearner
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.defenses.representation.base import RepresentationDefense

ATTACKED: dict[type, str] = {Attack: "answers", Adversary: "model", InferenceAttack: "records"}
GIVEN: dict[type, tuple[str, ...]] = {
    QueryDefense: ("answers",),
    FairLearner: ("model",),
    DebiasingDefense: ("model",),
    CollectionDefense: ("model", "records"),
    RepresentationDefense: ("model", "records"),
}
WORDS = {
    "answers": "answers to bias queries",
    "model": "a model's predictions on people whose other attributes are known",
    "records": "a record a person",
}


def channel_of(attack: type) -> str:
    """Return the channel that a class of attacks looks at; "" for a family that is not known here."""
    return next((channel for family, channel in ATTACKED.items() if issubclass(attack, family)), "")


def given_by(defense: type) -> tuple[str, ...]:
    """Return the channels that a class of defenses opens."""
    return next((channels for family, channels in GIVEN.items() if issubclass(defense, family)), ())


def why_not(attack: type, defense: type) -> str:
    """Return why an attack makes no sense on a defense; "" where it does."""
    channel, given = channel_of(attack), given_by(defense)
    for what, known in ((attack, channel), (defense, given)):
        if not known:
            return f"{what.name} is of no family that the matrix knows"
    if channel not in given:
        return f"{attack.name} needs {WORDS[channel]}; {defense.name} gives {' and '.join(WORDS[c] for c in given)}"
    if issubclass(attack, LikelihoodAttack) and not issubclass(defense, CollectionDefense):
        return f"{attack.name} needs the law of the records, and that of {defense.name} is learned"
    return ""
