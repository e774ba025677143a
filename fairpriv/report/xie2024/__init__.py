"""What is made of xie2024's rows."""

from fairpriv.report.presenter import Presenter
from fairpriv.report.xie2024.claims import checks
from fairpriv.report.xie2024.figures import figures
from fairpriv.report.xie2024.tables import tables

PRESENTERS = {"information_obfuscation": Presenter(tables, figures, checks)}
