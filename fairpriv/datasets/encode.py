"""Features as numbers: one-hot and ordinal codes over full domains, standardisation by the training part."""

import numpy as np
import pandas as pd


def one_hot(frame: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
    """Return a float matrix and its column names; a categorical gives one 0/1 column per value of its full domain.

    The columns depend on the domains alone, never on which values the rows happen to hold.
    """
    blocks, names = [], []
    for column in frame:
        values = frame[column]
        if isinstance(values.dtype, pd.CategoricalDtype):
            categories = values.cat.categories
            blocks.append(values.cat.codes.to_numpy()[:, None] == np.arange(len(categories)))
            names += [f"{column}={value}" for value in categories]
        else:
            blocks.append(values.to_numpy(float)[:, None])
            names.append(str(column))
    return np.hstack([np.empty((len(frame), 0)), *blocks]), names


def ordinal(frame: pd.DataFrame) -> np.ndarray:
    """Return a float matrix with one column a feature; a categorical gives the position in its domain."""
    columns = [c.cat.codes if isinstance(c.dtype, pd.CategoricalDtype) else c for _, c in frame.items()]
    return np.column_stack([np.empty((len(frame), 0)), *(np.asarray(c, float) for c in columns)])


def standardise(train: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
    """Shift and scale every matrix by the mean and deviation of `train` (a constant column is only shifted)."""
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    scale = np.where(deviation > 0, deviation, 1.0)
    return tuple((matrix - mean) / scale for matrix in (train, *others))
