"""Decoders: from a prediction matrix and the answers to it, back to the protected attribute."""

from fairpriv.attacks.reveal.recovery.decode import DECODERS, Knowledge, decide, decode, measurements
from fairpriv.attacks.reveal.recovery.sensing import Sensing

__all__ = ["DECODERS", "Knowledge", "Sensing", "decide", "decode", "measurements"]
