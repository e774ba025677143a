"""What is made of the matrix of attacks and defenses."""

from fairpriv.report.attack_defense_matrix.figures import figures
from fairpriv.report.attack_defense_matrix.tables import tables
from fairpriv.report.presenter import Presenter

PRESENTERS = {"attack_defense_matrix": Presenter(tables, figures)}
