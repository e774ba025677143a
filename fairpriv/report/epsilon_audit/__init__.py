"""What is made of the audits."""

from fairpriv.report.epsilon_audit.figures import figures
from fairpriv.report.epsilon_audit.tables import tables
from fairpriv.report.presenter import Presenter

PRESENTERS = {"epsilon_audit": Presenter(tables, figures)}
