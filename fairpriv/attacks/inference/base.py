"""What an inference attack is: it sees one record a person, and guesses each person's group."""

from dataclasses import dataclass

import numpy as np

from fairpriv.attacks.base import AnyAttack
from fairpriv.errors import BadRequest


@dataclass(frozen=True, eq=False)
class Law:
    """The public law behind the records of the protected attribute.

    Attributes
    ----------
    log_likelihood : array of shape (n, k)
        log Pr[record | value] of every person's record.
    group : array of 0 and 1, length k
        The group that each value belongs to.
    """

    log_likelihood: np.ndarray
    group: np.ndarray


@dataclass(frozen=True, eq=False)
class Known:
    """People whose group the adversary knows; it can make their records itself, as mechanisms are public."""

    records: np.ndarray
    others: np.ndarray
    value: np.ndarray  # of the protected attribute, 0 .. k-1
    group: np.ndarray


@dataclass(frozen=True, eq=False)
class RecordsView:
    """What the adversary sees of the targets: everything but the protected attribute.

    Attributes
    ----------
    records : array of shape (n, d)
        What each person gives away.
    others : array of shape (n, e)
        What else is known of them (e may be 0).
    known : Known
        The same of people whose group it knows.
    law : Law or None
        The law of the records, where it is public.
    """

    records: np.ndarray
    others: np.ndarray
    known: Known
    law: Law | None = None

    def __len__(self) -> int:
        """Return the number of targets."""
        return len(self.records)


@dataclass(frozen=True)
class InferenceAttack(AnyAttack):
    """Guesses the group of each person from their record: `run(view, rng)` returns 0 or 1 a person."""

    def run(self, view: RecordsView, rng: np.random.Generator) -> np.ndarray:
        """Guess."""
        raise NotImplementedError


@dataclass(frozen=True)
class LikelihoodAttack(InferenceAttack):
    """An inference attack by the law of the records."""

    def law_of(self, view: RecordsView) -> Law:
        """Return the law of the records, or refuse."""
        if view.law is None:
            raise BadRequest(f"{self.name} needs the law of what people give away, which is not public here")
        return view.law
