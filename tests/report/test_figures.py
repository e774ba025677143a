"""What all figures share: colours that survive the palette, and titles that fit."""

import io

import numpy as np
import pytest

from fairpriv.report.figures import COLOURS, canvas, figure_bytes, heading

PIL = pytest.importorskip("PIL.Image")


def test_no_line_takes_the_colour_of_another():
    """Thin lines beside a picture of thousands of colours keep theirs: a palette by area alone would merge them."""
    figure, axes = canvas(columns=2)
    for i, colour in enumerate(COLOURS):
        axes[0, 0].plot([0, 1], [i, i], color=colour, linewidth=2)
    axes[0, 1].imshow(np.random.default_rng(0).random((40, 40, 3)))
    picture = figure_bytes(figure)["png"]
    with PIL.open(io.BytesIO(picture)) as opened:
        pixels = np.asarray(opened.convert("RGB")).reshape(-1, 3).astype(int)
    for colour in COLOURS:
        wanted = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
        assert np.abs(pixels - wanted).max(axis=1).min() <= 2, colour


def test_a_title_is_as_wide_as_its_figure():
    figure, _ = canvas(columns=2)
    heading(figure, "word " * 60 + "\nits own line")
    lines = figure.get_suptitle().split("\n")
    assert lines[-1] == "its own line"
    assert max(map(len, lines)) <= 10 * figure.get_figwidth()
    figure.canvas.draw()
    box = figure._suptitle.get_window_extent()
    assert box.width < figure.bbox.width
    figure_bytes(figure)
