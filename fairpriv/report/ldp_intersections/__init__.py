"""What is made of ldp_intersections' rows: the widest gaps between groups of two attributes, with and without LDP."""

from fairpriv.report.ldp_intersections.figures import figures
from fairpriv.report.ldp_intersections.tables import tables
from fairpriv.report.presenter import Presenter

PRESENTERS = {"ldp_intersections": Presenter(tables, figures)}
