import numpy as np
import pandas as pd
import pytest

from fairpriv.assessment import budgets, predictions, questions, study


def people(n: int = 140, seed: int = 0) -> pd.DataFrame:
    """A table of people with every kind of column: ids, names, dates, free text, gaps."""
    rng = np.random.default_rng(seed)
    sex = np.where(rng.random(n) < 0.35, "female", "male")
    frame = pd.DataFrame(
        {
            "person": np.arange(n) + 1000,
            "email": [f"someone{i}@example.org" for i in range(n)],
            "born": (pd.Timestamp("1990-03-01") + pd.to_timedelta(rng.integers(0, 9000, n), "D")).astype(str),
            "remark": [f"met on floor {i} about the job" for i in range(n)],
            "age": rng.integers(18, 70, n).astype(float),
            "height": np.where(sex == "male", 179.5, 166.5) + rng.normal(0, 6, n),
            "job": rng.choice(["clerk", "driver", "nurse"], n),
            "sex": sex,
            "race": rng.choice(["asian", "black", "white"], n, p=[0.2, 0.3, 0.5]),
        }
    )
    frame.loc[3, "age"] = np.nan
    frame["score"] = np.clip(0.3 + 0.2 * (sex == "male") + rng.normal(0, 0.25, n), 0, 1).round(3)
    frame["hired"] = (rng.random(n) < frame["score"]).astype(int)
    return frame


def hasten(patch: pytest.MonkeyPatch) -> None:
    """Make fewer draws and try fewer ε and numbers of questions: tests look at the shape of things."""
    patch.setattr(budgets, "EPSILONS", (0.1, 1.0, 10.0))
    patch.setattr(budgets, "WORLDS", 20)
    patch.setattr(budgets, "GUESSES", 60)
    patch.setattr(study, "WORLDS", 5)
    patch.setattr(questions, "SHARES", (1 / 8, 1 / 2, 1))
    patch.setattr(predictions, "EXPONENTS", (1, 4))


@pytest.fixture
def quick(monkeypatch):
    """An assessment in a second or two."""
    hasten(monkeypatch)
