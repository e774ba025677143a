"""What an audit found, and the verdict that follows: holds, VIOLATED or unchecked."""

import math
from dataclasses import dataclass

ROUNDING = 1e-9  # relative; what floats may do to a log density ratio


@dataclass(frozen=True)
class Audit:
    """What was claimed and what was found.

    Attributes
    ----------
    claimed, delta : float
        The claim.
    exact : float
        The worst log ratio of the law that is declared, over the neighbours searched; nan where it was not worked out.
    exact_delta : tuple of float
        Bounds from below and above on the delta that law needs at the claimed epsilon; nan where not worked out.
    sampled_lower : float
        A lower bound on epsilon from outputs alone, wrong with probability at most 1 - confidence.
    follows : bool
        Whether outputs have the declared law: a test that errs with probability at most 1 - confidence. Where they do
        not, `exact` is about something else.
    confidence : float
        Of both, together.
    worst : str
        The neighbours that are worst.
    """

    claimed: float
    delta: float
    exact: float
    exact_delta: tuple[float, float]
    sampled_lower: float
    follows: bool
    confidence: float
    worst: str

    @property
    def verdict(self) -> str:
        """Return `VIOLATED` where anything contradicts the claim, `holds` where all was checked, else `unchecked`."""
        if self.sampled_lower > self.claimed:
            return "VIOLATED"
        if self.delta > 0:
            low, high = self.exact_delta
            broken, kept = low > self.delta * (1 + ROUNDING), high <= self.delta * (1 + ROUNDING)
        else:
            kept = self.exact <= self.claimed * (1 + ROUNDING)
            broken = not kept and not math.isnan(self.exact)
        if broken:
            return "VIOLATED"
        return "holds" if kept and self.follows else "unchecked"
