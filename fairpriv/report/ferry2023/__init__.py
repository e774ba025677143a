"""What is made of ferry2023's rows."""

from fairpriv.report.ferry2023.claims import checks
from fairpriv.report.ferry2023.figures import figures
from fairpriv.report.ferry2023.tables import tables
from fairpriv.report.presenter import Presenter

PRESENTERS = {"reconstruction_correction": Presenter(tables, figures, checks)}
