"""Attribute-Reveal through the service: everybody with exact answers, nobody beyond the ledger's epsilon otherwise."""

import math

import numpy as np
import pytest
from scipy import stats

from fairpriv.attacks.reveal.reveal_double import RevealDouble
from fairpriv.attacks.reveal.reveal_linear import RevealLinear
from fairpriv.attacks.reveal.reveal_single import RevealSingle
from fairpriv.desk import DeskView
from tests.desk.serving import make_state, served, write_people, write_tokens

N = 120
ATTACKS = (RevealSingle(), RevealDouble(), RevealLinear())


def _view(service, label: np.ndarray, **asked) -> DeskView:
    """What a developer has: the service, and nothing else."""
    client = service.client()

    def ask(h: np.ndarray, metric: str) -> np.ndarray:
        status, said = client.ask(h, metric, **asked)
        assert status == 200, said
        return np.array(said["answers"])

    return DeskView(label=label, base=label.astype(float), ask=ask, law=None, sizes=None)


def test_exact_answers_reveal_everybody(tmp_path):
    state, tokens = make_state(tmp_path, n=N), write_tokens(tmp_path)
    label, group = write_people(tmp_path / "people.csv", N)
    with served(state, tokens, "--unsafe-exact") as service:
        assert service.client(None).get("/healthz")[1]["unsafe_exact"] is True
        for attack in ATTACKS:
            found = attack.run(_view(service, label, defense="none", epsilon=None), np.random.default_rng(0))
            assert (found.group == group).all()
        assert "nothing is protected" in service.client().get("/v1/budget")[1]["void"]
        assert [row["cost"] for row in service.client().get("/v1/ledger")[1]["entries"]] == [None] * 3
    assert "NOTHING IS PROTECTED" in (tmp_path / "log").read_text()
    with served(state, tokens) as service:  # that it happened is not forgotten
        assert "nothing is protected" in service.client().get("/v1/budget")[1]["void"]
        assert service.client().ask(np.zeros((1, N)), defense="none", epsilon=None)[0] == 422


@pytest.mark.parametrize("defense", ["laplace", "conceal_exact"])
def test_nobody_is_revealed_beyond_the_ledgers_epsilon(tmp_path, defense):
    """Given everything else, a guess is right with probability at most e^ε / (1 + e^ε), as groups are coin flips.

    The number of right guesses is thus at most binomial, whatever the attack does; a false alarm happens once in 10^6.
    """
    state = make_state(tmp_path, n=N, epsilon=1.0, seed=7)
    tokens = write_tokens(tmp_path, "alice alice-aaaaaaaaaaaaaaaaaaaa\n")
    label, group = write_people(tmp_path / "people.csv", N, seed=7)
    with served(state, tokens) as service:
        for attack in ATTACKS:
            before = service.client().get("/v1/budget")[1]["spent"]
            view = _view(service, label, defense=defense, epsilon=0.3)
            guesses = attack.run(view, np.random.default_rng(0)).group
            spent = sum(row["cost"] for row in service.client().get("/v1/ledger")[1]["entries"])
            assert spent == pytest.approx(before + 0.3)
            right = int((guesses[4:] == group[4:]).sum())  # the first four were set, not drawn
            assert right <= stats.binom.ppf(1 - 1e-6, N - 4, 1 / (1 + math.exp(-spent)))
        status, _ = service.client().ask(np.eye(N), defense=defense, epsilon=0.3)
        assert status == 200  # the stored answer to the first attack's query
        assert service.client().ask(1 - np.eye(N), defense=defense, epsilon=0.3)[0] == 403
