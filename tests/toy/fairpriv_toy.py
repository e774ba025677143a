"""Plug-ins as another package would bring them: a protocol with cells that are quick, slow, failing or deadly."""

import os
import time
from dataclasses import dataclass
from typing import ClassVar

from fairpriv.attacks.reveal.base import Attack
from fairpriv.errors import DataUnavailable
from fairpriv.protocols.base import Protocol, Result
from fairpriv.registry import register
from fairpriv.validate import number


@register
@dataclass(frozen=True)
class ToyAttack(Attack):
    """An attack that guesses."""

    name: ClassVar[str] = "toy_attack"

    strength: float = 1.0

    def __post_init__(self):
        number("strength", self.strength, above=0)


@register
@dataclass(frozen=True)
class Toy(Protocol):
    """Draws a number; `x` is multiplied in, `behaviour` says how the cell behaves."""

    name: ClassVar[str] = "toy"
    presented_by: ClassVar[str] = "fairpriv_toy_report"
    shared: ClassVar[tuple[str, ...]] = ("x",)

    def validate(self, cell):
        super().validate(cell)
        number("x", cell["x"], above=0)
        if cell["behaviour"] == "lacks" and cell["x"] == 2:
            raise DataUnavailable("x=2 needs a package (abacus is not installed): pip install abacus", "needs abacus")

    def run(self, cells, load):
        results = []
        for cell in cells:
            behaviour = cell["behaviour"]
            if behaviour == "slow":
                time.sleep(0.15)
            elif behaviour == "fails" and cell["x"] == 2:
                raise ValueError("two is not to my liking")
            elif behaviour == "dies" and cell.seed == 1:
                os._exit(9)
            draw = cell.rng("draw").standard_normal()
            common = cell.rng("common", "behaviour").standard_normal()
            results.append(Result({"draw": draw * cell["x"], "common": common}, {"series": cell.rng("s").random(3)}))
        return results
