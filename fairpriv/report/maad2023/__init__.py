"""What is made of maad2023's rows."""

from fairpriv.report.maad2023.claims import all_checks
from fairpriv.report.maad2023.figures import all_figures
from fairpriv.report.maad2023.tables import all_tables
from fairpriv.report.presenter import Presenter

PRESENTERS = {"maad_private": Presenter(all_tables, all_figures, all_checks)}
