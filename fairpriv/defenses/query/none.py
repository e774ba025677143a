"""No defense."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.defenses.query.base import QueryDefense
from fairpriv.errors import BadRequest
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class NoDefense(QueryDefense):
    """Exact answers, epsilon = infinity: what the attacks are measured against."""

    name: ClassVar[str] = "none"
    paper: ClassVar[str] = "hamman2023, Section 3"

    later: ClassVar[tuple[str, ...]] = ("epsilon", "bounding")  # answers are exact, whatever these say

    epsilon: float = float("inf")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon != float("inf"):
            raise BadRequest(f"epsilon must be inf for defense none, whose answers are exact, got {self.epsilon!r}")
