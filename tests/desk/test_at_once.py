"""Many clients at once, kill -9 in the middle, restarts: never overspent, never an answer lost that was sent."""

import http.client
import json
import threading
from collections import Counter

import numpy as np

from tests.desk.serving import TOKENS, make_state, run, served, write_tokens

N, CLIENTS, COST = 30, 200, 0.01


def _ask_all(service, queries, sent, seen, kill_after=None) -> None:
    """Let 200 threads, each with a connection of its own, ask one query after the other."""
    names = list(TOKENS.values())
    start = threading.Barrier(CLIENTS)

    def one(i: int) -> None:
        client = service.client(names[i % 2])
        start.wait()
        for h in queries[i]:
            try:
                status, said = client.ask([h], epsilon=COST)
            except (OSError, http.client.HTTPException):
                return  # killed
            seen[status] += 1
            if status == 200:
                sent.append((said["seq"], said["hash"], json.dumps(said["answers"]), said["cost"]))
                if kill_after is not None and len(sent) == kill_after:
                    service.kill()

    threads = [threading.Thread(target=one, args=(i,)) for i in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _entries(service) -> dict[int, dict]:
    rows = {}
    for token in TOKENS.values():  # each sees the answers of its own rows
        for row in service.client(token).get("/v1/ledger")[1]["entries"]:
            rows[row["seq"]] = rows.get(row["seq"], {}) | row
    return rows


def test_200_clients_kill_and_restart(tmp_path):
    budget = 6.0
    state, tokens = make_state(tmp_path, n=N, epsilon=budget), write_tokens(tmp_path)
    rng = np.random.default_rng(0)
    queries = [rng.random((4, N)).round(4).tolist() for _ in range(CLIENTS)]  # 800 queries, of which 600 can be paid
    sent, seen = [], Counter()
    for kill_after in (100, 200):
        with served(state, tokens) as service:
            _ask_all(service, queries, sent, seen, kill_after)
        assert run("ledger", "--state", state, "--verify").returncode == 0
    with served(state, tokens) as service:
        _ask_all(service, queries, sent, seen)
        rows = _entries(service)
        left = service.client().get("/v1/budget")[1]
    assert seen[403] > 0
    assert set(seen) == {200, 403}
    assert sum(row["cost"] for row in rows.values()) <= budget + 1e-9
    assert len(rows) == round(budget / COST)  # all of it was spent, and no more
    assert left["desk"]["left"] == 0
    assert sorted(rows) == list(range(1, len(rows) + 1))
    for seq, hash_, answers, _ in sent:
        assert rows[seq]["hash"] == hash_
        assert json.dumps(rows[seq]["answers"]) == answers
    paid = Counter(seq for seq, _, _, cost in sent if cost > 0)
    assert max(paid.values()) == 1  # each is paid for once, however often it is sent
    assert len({row["query"] for row in rows.values()}) == len(rows)
    print(f"{len(sent)} answers sent to {CLIENTS} clients over 3 starts, {len(rows)} paid for, {seen[403]} refused")


def test_two_services_of_one_file_share_one_budget(tmp_path):
    state, tokens = make_state(tmp_path, n=N, epsilon=1), write_tokens(tmp_path)
    rng = np.random.default_rng(1)
    seen, sent = Counter(), []
    with served(state, tokens) as first, served(state, tokens) as second:
        threads = [
            threading.Thread(target=_some, args=(s, rng.random((20, 1, N)).tolist(), i, seen, sent))
            for i, s in enumerate([first, second] * 10)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rows = first.client().get("/v1/ledger")[1]["entries"]
    assert len(rows) == seen[200] == 100
    assert seen[403] == 300
    assert sorted(sent) == list(range(1, 101))


def _some(service, queries, i, seen, sent) -> None:
    client = service.client(list(TOKENS.values())[i % 3 == 0])
    for h in queries:
        status, said = client.ask(h, epsilon=COST)
        seen[status] += 1
        if status == 200:
            sent.append(said["seq"])


def test_the_same_query_from_all_at_once_is_paid_for_once(tmp_path):
    state, tokens = make_state(tmp_path, n=N, epsilon=1), write_tokens(tmp_path)
    sent, seen = [], Counter()
    with served(state, tokens) as service:
        _ask_all(service, [[[0.5] * N]] * CLIENTS, sent, seen)
    assert seen == {200: CLIENTS}
    assert len({answer[:3] for answer in sent}) == 1
    assert sum(cost for *_, cost in sent) == COST
