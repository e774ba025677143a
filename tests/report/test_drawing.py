"""What pictures show: the right arrays, the right cells, no mark under another."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from fairpriv.report.maad2023.figures import learning
from fairpriv.report.summary import how_many
from fairpriv.report.xie2024.figures import MARK, _side_by_side
from fairpriv.report.xie2024.methods import image_rows


def test_losses_are_those_of_the_condition() -> None:
    points = [(p, d) for p in ("none", "printed", "joint") for d in (False, True)]
    names = {(False, False): "baseline", (True, False): "dp", (False, True): "debias", (True, True): "dp_debias"}
    rows = pd.DataFrame(
        {
            "dataset": "adult_aif360",
            "defense": "maad",
            "condition": [names[p != "none", d] for p, d in points],
            "defense.privacy": [p for p, _ in points],
            "defense.debias": [str(d) for _, d in points],  # as cells.csv is read: words
            "defense.gamma": 0.2,
            "epochs": 4.0,
            "seed": 0,
        }
    )
    asked = set()

    def arrays(**wanted: object) -> dict[str, np.ndarray]:
        asked.add((wanted["defense__privacy"], wanted["defense__debias"]))
        return {"losses": np.ones((4, 2))}

    figure = learning(rows, arrays)
    assert asked == set(points)
    above, below = figure.axes
    assert (len(above.lines), len(below.lines)) == (6, 3)  # without an adversary there is no loss of it
    plt.close(figure)


def test_marks_that_meet_stand_side_by_side() -> None:
    figure, axis = plt.subplots(figsize=(4, 4))
    axis.set(xlim=(0, 1), ylim=(0, 1))
    points = np.array([[0.2, 0.5], [0.2, 0.5], [0.21, 0.5], [0.8, 0.5]])
    offsets = _side_by_side(axis, points)
    width = axis.get_position().width * 4 * 72
    places = np.sort(points[:, 0] * width + offsets)
    assert np.diff(places).min() >= 0.8 * MARK - 1e-9
    assert offsets[3] == 0  # it met nobody
    plt.close(figure)


def test_images_are_of_the_largest_sample_and_the_longest_training() -> None:
    rows = pd.DataFrame(
        {
            "dataset": ["mnist", "mnist", "mnist", "mnist", "adult_full"],
            "epsilon": [500.0, 500.0, 500.0, 5000.0, 5.0],
            "dataset.sample": [1500, 10000, 10000, 1500, np.nan],
            "defense.epochs": [40, 10, 30, 12, 100],
        }
    )
    found = image_rows(rows)
    assert list(found["dataset.sample"]) == [10000, 1500]
    assert list(found["defense.epochs"]) == [30, 12]
    assert len(image_rows(rows.drop(columns=["dataset.sample", "defense.epochs"]))) == 4


def test_how_many_names_the_least_and_the_most() -> None:
    said = ["no seeds", "1 seed", "20 seeds", "3 to 20 seeds"]
    assert [how_many(counts) for counts in ([], [1, 1], [20], [3, 20, 5])] == said
    assert how_many(iter([2, 2]), "split") == "2 splits"
