"""fairpriv: the reference bench for fairness and privacy."""

from typing import Any

__version__ = "0.1.0"
__all__ = ["ComplianceDesk", "assess"]


def __getattr__(name: str) -> Any:
    """Import public names when they are asked for, as some bring much with them."""
    if name == "ComplianceDesk":
        from fairpriv.desk import ComplianceDesk

        return ComplianceDesk
    if name == "assess":
        from fairpriv.assessment import assess

        return assess
    raise AttributeError(f"module 'fairpriv' has no attribute {name!r}")
