"""What is made of the toy's rows, as another package would bring it."""

import os

import pandas as pd

from fairpriv.report.presenter import Presenter


def tables(rows):
    return {"mean": rows.groupby("x", as_index=False)["draw"].mean()}


def figures(rows, arrays):
    from fairpriv.report.figures import canvas

    if "undrawable" in set(rows["behaviour"]):
        raise ValueError("no picture of this")
    if "TOY_DRAWS" not in os.environ:  # matplotlib takes longer than all the rest of a toy run
        return {}
    figure, axes = canvas()
    axes[0, 0].plot(pd.Series(arrays(x=rows["x"].iloc[0])["series"]))
    return {"series": figure}


PRESENTERS = {"toy": Presenter(tables, figures)}
