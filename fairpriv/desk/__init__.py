"""The compliance desk: in memory for studies (`ComplianceDesk`), and with a budget, a ledger and a service."""

from fairpriv.desk.compliance import Asked, ComplianceDesk, DeskView

__all__ = ["Asked", "ComplianceDesk", "DeskView"]
