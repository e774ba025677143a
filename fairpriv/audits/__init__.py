"""Audits: what a mechanism really costs, measured through the very method that gives its answers."""

from fairpriv.audits.result import Audit

__all__ = ["Audit"]
