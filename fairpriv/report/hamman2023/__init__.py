"""What is made of hamman2023's rows."""

from fairpriv.report.hamman2023.claims import conceal_checks, reveal_checks
from fairpriv.report.hamman2023.figures import conceal_figures, reveal_figures
from fairpriv.report.hamman2023.tables import conceal_tables, reveal_tables
from fairpriv.report.presenter import Presenter

PRESENTERS = {
    "attribute_conceal": Presenter(conceal_tables, conceal_figures, conceal_checks),
    "attribute_reveal": Presenter(reveal_tables, reveal_figures, reveal_checks),
}
