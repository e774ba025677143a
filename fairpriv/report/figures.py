"""One look for every figure: readable in a talk, safe for colour-blind eyes, PNG and PDF."""

import io
import textwrap
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Okabe & Ito's palette: told apart with any colour vision
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")

STYLE = {
    "figure.dpi": 110,
    "savefig.dpi": 100,  # for a screen; the PDF beside it is for print and for a wall
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "axes.prop_cycle": plt.cycler(color=COLOURS),
    "figure.constrained_layout.use": True,
    "pdf.fonttype": 42,
}
matplotlib.rcParams.update(STYLE)

_EXACT, _AVERAGED = 32, 64  # colours of a PNG that stay as they are, and that stand for all others


def plain_log_ticks(axis: Any, values: Any) -> None:
    """Make the x axis logarithmic with a tick at each of these values, written plainly."""
    axis.set_xscale("log")
    axis.set_xticks(sorted(values), [f"{v:g}" for v in sorted(values)])
    axis.minorticks_off()


def canvas(columns: int = 1, rows: int = 1, width: float = 4.6, height: float = 3.5, **more: Any) -> tuple[Any, Any]:
    """Return (figure, axes) in the house style; axes is always an array."""
    return plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False, **more)


def legend_below(figure: Any, handles: Any, labels: Any = None, columns: int | None = None, **more: Any) -> None:
    """Put one legend below all panels, in as many columns as there is room for unless told."""
    labels = [handle.get_label() for handle in handles] if labels is None else labels
    columns = columns or max(2, min(len(labels), int(figure.get_figwidth() / 1.12)))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, **more)


def heading(figure: Any, text: str, fontsize: float = 12) -> None:
    """Write the title of a figure, in as many lines as its width asks for."""
    width = int(figure.get_figwidth() * 120 / fontsize)  # letters to an inch, half as wide as high
    figure.suptitle(
        "\n".join(textwrap.fill(t, width, break_long_words=False) for t in text.split("\n")), fontsize=fontsize
    )


def figure_bytes(figure: Any) -> dict[str, bytes]:
    """Return a figure as PNG and PDF and close it; no dates inside, so that the same figure is the same file."""
    out = {}
    for kind, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, metadata=metadata)
        out[kind] = buffer.getvalue()
    plt.close(figure)
    return out | {"png": _with_palette(out["png"])}


def _with_palette(png: bytes) -> bytes:
    """Return a picture in at most 96 colours: less than half the size, and no eye tells; results are committed.

    Its 32 commonest colours stay as they are, so that no line takes the colour of another; the others, which smooth the
    edges of lines and letters, are averages of their neighbours.
    """
    from PIL import Image

    with Image.open(io.BytesIO(png)) as opened:
        pixels = np.asarray(opened.convert("RGB")).astype(int)
    codes, places, counts = np.unique(pixels @ (1 << 16, 1 << 8, 1), return_inverse=True, return_counts=True)
    colours = np.stack([codes >> 16 & 255, codes >> 8 & 255, codes & 255], axis=1)
    order = np.argsort(-counts, kind="stable")
    palette, rest = colours[order[:_EXACT]], colours[order[_EXACT:]]
    if len(rest):
        few = Image.fromarray(rest[None].astype(np.uint8)).quantize(_AVERAGED, Image.Quantize.FASTOCTREE)
        palette = np.concatenate([palette, np.reshape(few.getpalette(), (-1, 3))[:_AVERAGED]])
    nearest = np.concatenate(
        [((part[:, None] - palette) ** 2).sum(axis=2).argmin(axis=1) for part in np.array_split(colours, 64)]
    )
    image = Image.fromarray(nearest[places].reshape(pixels.shape[:2]).astype(np.uint8)).convert("P")
    image.putpalette(palette.astype(np.uint8).tobytes())
    buffer = io.BytesIO()
    image.save(buffer, "png", optimize=True)
    return buffer.getvalue()
