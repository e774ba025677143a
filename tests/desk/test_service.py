"""The service as a client meets it."""

import contextlib
import json
import socket

import numpy as np
import pytest

from tests.desk.serving import TOKENS

N = 60
H = np.random.default_rng(5).random((4, N)).round(3)


def test_an_answer_is_on_its_grid_with_an_interval_and_repeats_for_nothing(service):
    client = service.client()
    status, first = client.ask(H, defense="conceal_exact", epsilon=0.25)
    assert status == 200
    assert first["cost"] == 0.25
    assert np.shape(first["answers"]) == (4,)
    assert all(float(a / first["grid"]).is_integer() for a in first["answers"])
    assert all(low < a < high for a, (low, high) in zip(first["answers"], first["intervals"]))
    again = client.ask(H, defense="conceal_exact", epsilon=0.25)[1]
    assert (again["answers"], again["cost"], again["repeated"]) == (first["answers"], 0.0, True)
    assert again["budget_left"] == first["budget_left"]


def test_another_client_gets_the_stored_answer_too(service):
    asked = {"epsilon": 0.01, "metric": "abs_eo"}
    first = service.client().ask(H, **asked)[1]
    other = service.client(TOKENS["bob"])
    before = other.get("/v1/budget")[1]["left"]
    again = other.ask(H, **asked)[1]
    assert (again["answers"], again["cost"], again["budget_left"]) == (first["answers"], 0.0, before)
    own, others = (c.get("/v1/ledger")[1]["entries"][first["seq"] - 1] for c in (service.client(), other))
    assert own["answers"] == first["answers"]
    assert "answers" not in others  # bob can ask for it if he knows the models, and not read it otherwise
    assert others["answers_sha256"] == own["answers_sha256"]


def test_equalized_odds_has_a_pair_for_every_model(service):
    found = service.client().ask(H, metric="eodds", epsilon=0.01)[1]
    assert np.shape(found["answers"]) == (4, 2)
    assert np.shape(found["intervals"]) == (4, 2, 2)


def test_a_client_cannot_take_more_than_its_share(service):
    client = service.client(TOKENS["bob"])
    status, said = client.ask(H, epsilon=2.6)
    assert status == 403
    assert said["detail"] == "the budget is not enough: the answer costs 2.6, bob has 2.5 left"
    assert client.get("/v1/budget")[1]["spent"] == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"predictions": [[0.5] * (N - 1)]}, "one number for each of 60 people, row 0 has 59"),
        ({"predictions": [[0.5] * N, [0.5]]}, "row 1 has 1"),
        ({"predictions": [[float("nan")] + [0.5] * (N - 1)]}, "must lie in [0, 1], got NaN"),
        ({"predictions": [[1.5] + [0.5] * (N - 1)]}, "must lie in [0, 1]"),
        ({"predictions": [[-1] + [0] * (N - 1)]}, "must lie in [0, 1]"),
        ({"predictions": [[0] * N] * 101}, "at most 100 rows, got 101"),
        ({"predictions": []}, "list of rows"),
        ({"predictions": [0.5] * N}, "list of rows"),
        ({"predictions": [["0.5"] * N]}, "must be numbers"),
        ({"predictions": [[None] * N]}, "must be numbers"),
        ({"predictions": [[10**400] * N]}, "must"),
        ({"predictions": [[[1]] * N]}, "must be numbers"),
        ({"metric": "dp"}, "metric must be one of sp, abs_sp"),
        ({"metric": ["sp"]}, "metric must be one of"),
        ({"defense": "none"}, "defense must be one of conceal_exact, laplace, got 'none'"),
        ({"defense": "conceal_aware"}, "this desk keeps them secret"),
        ({"defense": "gaussian"}, "needs a desk that was made with --delta"),
        ({"epsilon": 0}, "epsilon must be > 0"),
        ({"epsilon": -1}, "epsilon must be > 0"),
        ({"epsilon": "1"}, "epsilon must be a number"),
        ({"epsilon": float("inf")}, "epsilon must be <= 10000"),
        ({"epsilon": float("nan")}, "epsilon must be a number"),
        ({"epsilon": 10**400}, "within what a float can hold"),
        ({"epsilon": 5e-324}, "epsilon must be >= 1e-09, the least that an answer costs"),
        ({"epsilon": None}, "no epsilon"),
        ({"delta": 0.1}, "delta is for gaussian only"),
        ({"sigma": 1}, "'sigma' is not a field"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(service, change, said):
    query = {"metric": "sp", "predictions": [[0.5] * N], "defense": "laplace", "epsilon": 0.1} | change
    status, told = service.client().send("POST", "/v1/answers", json.dumps(query).encode())
    assert status == 422
    assert said in told["detail"]
    assert "\n" not in told["detail"]
    assert len(told["detail"]) < 250


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_no_query(service, body):
    assert service.client().send("POST", "/v1/answers", body)[0] == 422


@pytest.mark.parametrize("text", ["9" * 5000, "9" * 30, "-1", "a", "1.5", ""])
def test_a_place_in_the_ledger_is_a_whole_number(service, text):
    status, told = service.client().get(f"/v1/ledger?after={text}")
    assert (status, told) == (422, {"detail": "after must be a whole number >= 0"})


def test_without_a_token_nothing_is_told(service):
    for token in (None, "", "wrong", TOKENS["alice"][:-1], TOKENS["alice"] + "x"):
        for path in ("/v1/budget", "/v1/ledger", "/v1/schema"):
            assert service.client(token).get(path)[0] == 401
        assert service.client(token).ask(H)[0] == 401
    client = service.client(None)
    client.headers = {"Authorization": f"Basic {TOKENS['alice']}"}
    assert client.get("/v1/budget")[0] == 401
    assert service.client(None).get("/healthz") == (200, {"status": "ok", "unsafe_exact": False})


def _raw(port: int, head: str, body: bytes) -> bytes:
    """Send a request as it stands and return what comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        line.sendall(head.encode())
        with contextlib.suppress(ConnectionError):  # it may be answered before it is sent
            line.sendall(body)
        return line.recv(65536)


def test_a_body_over_the_limit_is_refused_by_its_header_and_by_its_length(service):
    head = f"POST /v1/answers HTTP/1.1\r\nHost: desk\r\nAuthorization: Bearer {TOKENS['alice']}\r\n"
    assert _raw(service.port, head + f"Content-Length: {2**22}\r\n\r\n", b"1" * 2**22).startswith(b"HTTP/1.1 413")
    assert _raw(service.port, head + f"Content-Length: {2**40}\r\n\r\n", b"").startswith(b"HTTP/1.1 413")
    chunk = b"%x\r\n" % 2**16 + b"1" * 2**16 + b"\r\n"
    assert _raw(service.port, head + "Transfer-Encoding: chunked\r\n\r\n", chunk * 17 + b"0\r\n\r\n").startswith(
        b"HTTP/1.1 413"
    )
    for length in (2**20 + 1, 2**25):
        status, said = service.client().send("POST", "/v1/answers", b"1" * length)
        assert (status, said["detail"]) == (413, "the body must have at most 1048576 bytes")
    assert service.client(None).send("POST", "/v1/answers", b"1" * 2**25)[0] == 401


def test_schema_says_what_is_promised(service):
    schema = service.client().get("/v1/schema")[1]
    assert schema["sizes"] == "secret"
    assert schema["group_sizes"] is None
    assert schema["protects"].startswith("the protected attribute of any one person")
    assert schema["defenses"] == {"conceal_exact": "costs 1 × epsilon", "laplace": "costs 1 × epsilon"}
    assert schema["privileged"] == ["M"]


def test_the_page_needs_no_network(service):
    client = service.client(None)
    client.http.request("GET", "/docs")
    page = client.http.getresponse().read().decode()
    assert "/v1/answers" in page
    assert "http://" not in page
    assert "https://" not in page
    described = client.get("/openapi.json")[1]
    assert set(described["paths"]) == {"/v1/answers", "/v1/budget", "/v1/ledger", "/v1/schema", "/healthz"}
    schemes = described["components"]["securitySchemes"]
    used = {
        name
        for path in described["paths"].values()
        for verb in path.values()
        for s in verb.get("security", ())
        for name in s
    }
    assert used == set(schemes) == {"token"}
    assert "prefers-color-scheme:dark" in page


def test_the_description_names_what_is_sent(service):
    paths, client = service.client(None).get("/openapi.json")[1]["paths"], service.client()
    client.ask(H, epsilon=0.001)
    sent = {"/v1/answers": client.ask(H, epsilon=0.001)[1]}
    sent |= {path: client.get(path)[1] for path in ("/v1/budget", "/v1/schema", "/v1/ledger", "/healthz")}
    for path, answer in sent.items():
        (verb,) = paths[path].values()
        fields = verb["responses"]["200"]["content"]["application/json"]["schema"]["properties"]
        assert set(fields) == set(answer), path
        assert all("description" in field for field in fields.values()), path
    entry = paths["/v1/ledger"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]["properties"]
    rows = sent["/v1/ledger"]["entries"]
    assert set(entry["entries"]["items"]["properties"]) | {"intervals", "grid"} == {k for row in rows for k in row}


def test_nothing_but_its_start_is_logged(service):
    log = (service.folder / "log").read_text()
    assert len(log.splitlines()) == 1, log
    assert not any(token in log for token in TOKENS.values())
