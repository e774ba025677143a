"""Laws of noise that hamman2023's printed errors might have come from. For forensics only: nothing here claims an ε.

The paper's tables do not follow from its Algorithm 3. What they might follow from is searched for among laws of scale
constant × f(m) × sensitivity / ε. A candidate is named by its four parts, e.g. `cauchy-6-m-smooth`, Algorithm 3 itself.
"""

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

from fairpriv import validate
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.noise import Cauchy, Laplace, Law
from fairpriv.mechanisms.smooth_sensitivity import global_sensitivity, local_sensitivity, smooth_sensitivity

FAMILIES: dict[str, type[Law]] = {"cauchy": Cauchy, "laplace": Laplace}
CONSTANTS = ("6", "3", "2", "1", "0.5")
QUERIES = ("m", "sqrt_m", "1")
SENSITIVITIES = ("smooth", "smooth_wide", "local", "global")  # of one answer; beta = epsilon/6m, epsilon/m
NAMES = tuple("-".join(parts) for parts in itertools.product(FAMILIES, CONSTANTS, QUERIES, SENSITIVITIES))


def candidate_scale(name: str, n0: int, n1: int, m: int, epsilon: float) -> float:
    """Return the scale of a candidate's noise on statistical parity."""
    _, constant, queries, sensitivity = name.split("-")
    if sensitivity == "global":
        per_answer = global_sensitivity("sp", n0 + n1)
    elif sensitivity == "local":
        per_answer = local_sensitivity("sp", n0, n1)
    else:
        per_answer = smooth_sensitivity("sp", n0, n1, epsilon / (m if sensitivity == "smooth_wide" else 6 * m))
    return float(constant) * {"m": m, "sqrt_m": math.sqrt(m), "1": 1}[queries] * per_answer / epsilon


@dataclass(frozen=True)
class Candidate(QueryDefense):
    """Answers with a candidate's noise; not registered, as it is no defense to choose."""

    name: ClassVar[str] = "candidate"
    law_name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.choice("candidate", self.law_name, NAMES)

    @property
    def family(self) -> type[Law]:  # type: ignore[override]
        """Return the family of its noise."""
        return FAMILIES[self.law_name.split("-")[0]]

    def noise_scale(self, metric: str, n0: int, n1: int, m: int, epsilon: float) -> float:
        """Return the candidate's scale, of whatever privacy."""
        if metric != "sp":
            raise BadRequest(f"candidates are for sp only, got {metric}")
        return candidate_scale(self.law_name, n0, n1, m, epsilon)
