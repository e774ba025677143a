"""The tolerance of Table V depends on how categories are coded, which ferry2023 does not print: on the real Adult."""

import numpy as np
import pandas as pd
import pytest

from fairpriv import config
from fairpriv.attacks.correction.base import estimate_constraint
from fairpriv.defenses.fair_learner.correlation_remover import CorrelationRemoverLearner
from fairpriv.errors import DataUnavailable
from fairpriv.protocols.reconstruction_correction import AttackSet, split
from fairpriv.runner.work import load

SEEDS, ORDERS = 5, 8
PRINTED = 0.023


def in_order(frame, rng):
    """Code each categorical in a random order; in the stored, alphabetical one without rng."""
    columns = [c for c in frame if isinstance(frame[c].dtype, pd.CategoricalDtype)]
    orders = {c: list(rng.permutation(frame[c].cat.categories)) if rng else None for c in columns}
    return lambda part: part.assign(**{c: part[c].cat.reorder_categories(o) for c, o in orders.items() if o})


def estimated(parts, seed, coded):
    """Return the tolerance that the adversary infers."""
    train, known = ((coded(data.features), data.label, group) for data, group in (parts.train, parts.known))
    rng = np.random.default_rng(seed)
    model = CorrelationRemoverLearner().fit(*train, None, None, rng)
    return float(estimate_constraint(AttackSet(*known, model(known[0], known[2], rng)))[1])


@pytest.mark.slow
def test_the_order_of_the_codes_moves_the_estimated_tolerance():
    config.start()
    asked = ["dataset=adult", "defense=correlation_remover", "attack=adversary_xyh", f"seeds={SEEDS}"]
    cells = config.plan(["experiment=reconstruction_correction", "sensitive=binary", *asked]).cells
    try:
        splits = [split(cell, load) for cell in cells]
    except DataUnavailable as error:
        pytest.skip(error.brief)
    features = splits[0].train[0].features
    found = []
    for order in range(-1, ORDERS):  # the first: alphabetical
        coded = in_order(features, np.random.default_rng(order) if order >= 0 else None)
        found.append(np.mean([estimated(parts, seed, coded) for seed, parts in enumerate(splits)]))
    tolerance = np.array(found)
    assert tolerance.max() - tolerance.min() > 0.005  # by the order of the codes alone
    assert (np.abs(tolerance - PRINTED) < 0.01).any()  # within Table V's tolerance with some of them
