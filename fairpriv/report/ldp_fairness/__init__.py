"""Tables, figures and checks of experiment=ldp_fairness. Beside the protocol, so that redrawing reruns no cell."""

from fairpriv.report.ldp_fairness.checks import checks
from fairpriv.report.ldp_fairness.figures import figures
from fairpriv.report.ldp_fairness.tables import tables

__all__ = ["checks", "figures", "tables"]
