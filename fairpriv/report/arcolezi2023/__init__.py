"""What is made of arcolezi2023's rows: Figures 2-7 and, with other attributes, 8-13."""

from fairpriv.report.arcolezi2023.claims import checks
from fairpriv.report.arcolezi2023.figures import figures
from fairpriv.report.arcolezi2023.tables import tables
from fairpriv.report.presenter import Presenter

PRESENTERS = {"ldp_fairness": Presenter(tables, figures, checks)}
