"""Colored-MNIST: averaging, colours, counts of the original files."""

import numpy as np
import pytest

from fairpriv.datasets.mnist import Mnist, downsample
from fairpriv.errors import BadRequest


def test_downsample_averages_by_area():
    matrix = downsample(28, 10)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    np.testing.assert_allclose(matrix.sum(axis=0), 10 / 28)  # every pixel counts the same
    fine = np.random.default_rng(0).random(28)
    np.testing.assert_allclose(matrix @ fine, np.repeat(fine, 10).reshape(10, 28).mean(axis=1))


def test_options_refused():
    with pytest.raises(BadRequest, match="protected must be one of colour, digit"):
        Mnist(protected="size")
    with pytest.raises(BadRequest, match="colour_seed must be >= 0"):
        Mnist(colour_seed=-1)


@pytest.mark.data
@pytest.mark.slow
def test_counts_and_colours(load):
    data = load("mnist")
    assert data.features.shape == (70_000, 300)
    assert data.train.sum() == 60_000
    digits = np.bincount(data.sensitive["digit"].cat.codes[data.train])
    assert digits.tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]  # LeCun's training part
    pixels = data.features.to_numpy().reshape(-1, 3, 100)
    lit = pixels.sum(axis=2) > 0
    assert (lit.sum(axis=1) == 1).all()
    assert np.array_equal(lit.argmax(axis=1), data.sensitive["colour"].cat.codes)
    assert pixels.min() >= 0
    assert pixels.max() <= 1
    shares = np.bincount(data.sensitive["colour"].cat.codes) / 70_000
    np.testing.assert_allclose(shares, 1 / 3, atol=0.01)
    other = load("mnist", protected="digit")
    assert np.array_equal(other.features.to_numpy(), data.features.to_numpy())
    assert np.array_equal(other.group, data.label)
