"""Cauchy noise on smooth sensitivity, with a budget that is split at a declared size of the smaller group."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from fairpriv import validate
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.mechanisms.noise import Cauchy, Law
from fairpriv.registry import meaning


def nominal_size(share: float, n: int) -> int:
    """Return the declared size of the smaller group among n people, at least 2."""
    return min(max(2, round(share * n)), n - 1)


@dataclass(frozen=True)
class SmoothCauchy(QueryDefense):
    """What `conceal_tight` and `conceal_exact` share: neighbours use one split, fixed by what is declared."""

    family: ClassVar[type[Law]] = Cauchy
    scale_depends_on_groups: ClassVar[bool] = True

    nominal_share: float = field(
        kw_only=True, metadata=meaning("declared share of the smaller group", above=0, at_most=0.5)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.number("nominal_share", self.nominal_share, above=0, at_most=0.5)

    @abstractmethod
    def split(self, metric: str, n: int, m: int, epsilon: float) -> float:
        """Return what of the budget, or of its exponent, goes to the change of scale between neighbours."""
        raise NotImplementedError
