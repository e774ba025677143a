"""Desks of the other kind: public sizes, and a delta."""

import numpy as np

from tests.desk.serving import make_state, served, write_people, write_tokens


def test_public_sizes_and_a_delta(tmp_path):
    state = make_state(tmp_path, "--sizes", "public", "--delta", "1e-6", n=300, epsilon=4)
    _, group = write_people(tmp_path / "people.csv", 300)
    h = np.random.default_rng(0).random((3, 300))
    with served(state, write_tokens(tmp_path, "alice alice-aaaaaaaaaaaaaaaaaaaa\n")) as service:
        client = service.client()
        schema = client.get("/v1/schema")[1]
        assert schema["group_sizes"]["all"] == [int((group == 0).sum()), int((group == 1).sum())]
        assert schema["protects"].startswith("which of two people")
        assert set(schema["defenses"]) == {"conceal_aware", "conceal_exact", "laplace", "gaussian"}
        for defense, cost in (("conceal_aware", 0.5), ("laplace", 1.0), ("gaussian", 1.0)):
            status, said = client.ask(h, "eodds", defense, 0.5)
            assert (status, said["cost"]) == (200, cost)
            assert np.shape(said["answers"]) == (3, 2)
        assert client.get("/v1/budget")[1]["left"] >= 1.5
        # many small answers: epsilon alone would add up to more than 6
        statuses = [client.ask(h, "sp", "laplace", 0.02 + i / 10**6)[0] for i in range(100)]
        assert set(statuses) == {200}
        assert sum(row["cost"] for row in client.get("/v1/ledger")[1]["entries"]) > 4
        assert client.ask(h, "sp", "laplace", 50)[0] == 403
