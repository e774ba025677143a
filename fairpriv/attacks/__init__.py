"""Attacks, one folder per family and one file each; `correct_reconstruction` works on plain arrays."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairpriv.attacks.correction import Correction, correct_reconstruction

__all__ = ["Correction", "correct_reconstruction"]


def __getattr__(name: str) -> Any:
    """Import what is asked for: other attacks need none of the solvers."""
    if name in __all__:
        from fairpriv.attacks import correction

        return getattr(correction, name)
    raise AttributeError(f"module 'fairpriv.attacks' has no attribute {name!r}")
