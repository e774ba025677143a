"""What is made of ldp_leakage's rows: what reports tell, and the same against fairness and utility."""

from fairpriv.report.ldp_leakage.figures import figures, figures_beside
from fairpriv.report.ldp_leakage.tables import tables, tables_beside
from fairpriv.report.presenter import Beside, Presenter

PRESENTERS = {"ldp_leakage": Presenter(tables, figures, beside=Beside("ldp_fairness", tables_beside, figures_beside))}
