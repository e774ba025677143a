"""Attacks that ask about one person, or about everyone in turn."""

from dataclasses import dataclass

import numpy as np

from fairpriv import validate
from fairpriv.attacks.reveal.base import Attack
from fairpriv.errors import BadRequest
from fairpriv.registry import param


@dataclass(frozen=True)
class TargetedAttack(Attack):
    """An attack on a target; `targets` says who that is."""

    target: int | None = param(None, "index of the targeted person; null: everyone", at_least=0)

    def __post_init__(self) -> None:
        """Check the target; that the test set has it is checked when it is there."""
        if self.target is not None:
            validate.integer("target", self.target, at_least=0)

    def targets(self, n: int) -> np.ndarray:
        """Return the targeted people among n: one index, or everyone."""
        if self.target is None:
            return np.arange(n)
        if self.target >= n:
            raise BadRequest(f"target must be <= {n - 1} (the test set has {n} people), got {self.target}")
        return np.array([self.target])
