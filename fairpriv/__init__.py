"""fairpriv: the reference bench for fairness and privacy."""

__version__ = "0.1.0"
