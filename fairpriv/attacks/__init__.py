"""Attacks: one file each; `correct_reconstruction` works on plain arrays."""

from fairpriv.attacks.correction import Correction, correct_reconstruction

__all__ = ["Correction", "correct_reconstruction"]
