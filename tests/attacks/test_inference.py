"""Conformance of inference attacks: same seed same guess, and a record that tells all is read."""

import numpy as np
import pytest

from fairpriv.attacks.inference.base import InferenceAttack, Known, Law, RecordsView
from fairpriv.registry import build, find, names

INFERENCE = [n for n in names("attacks")[0] if issubclass(find("attacks", n), InferenceAttack)]


@pytest.mark.parametrize("name", INFERENCE)
def test_same_seed_same_guess_and_what_is_plain_is_read(name):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 400)
    records, nothing = np.eye(2)[group], np.empty((200, 0))
    law = Law(np.where(records[:200] > 0, 0.0, -50.0), np.array([0, 1]))
    view = RecordsView(records[:200], nothing, Known(records[200:], nothing, group[200:], group[200:]), law)
    attack = build("attacks", name)
    one, two = (attack.run(view, np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, group[:200])
