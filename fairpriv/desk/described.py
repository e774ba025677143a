"""What the service says of itself: the words of its OpenAPI description, and a page of it that needs no network."""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

ABOUT = (
    "Answers how biased models are on people whose protected attribute stays here. Every answer has noise and a cost; "
    "the costs of all clients together stay within the budget. All of /v1 needs the header Authorization: Bearer TOKEN."
)


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties} | ({"required": list(required)} if required else {})


def _json(schema: dict[str, Any], about: str) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _numbers(about: str) -> dict[str, Any]:
    return {"type": "array", "items": {}, "description": about}


def _said(kind: dict[str, Any], about: str) -> dict[str, Any]:
    return kind | {"description": about}


NUMBER, WORD, WHOLE, TRUTH = ({"type": kind} for kind in ("number", "string", "integer", "boolean"))
WORDS = {"type": "array", "items": WORD}
SECURITY = {"token": {"type": "http", "scheme": "bearer"}}
METRICS = (
    ("sp", "", "selection rate of group 1 (the privileged one) minus that of group 0"),
    ("eo", "", "the same among people whose true label is the favourable one"),
    ("eodds", "", "a pair: the same among those with the favourable label, and among the others"),
    ("abs_sp, abs_eo, abs_eodds", "", "without the sign"),
)
EXAMPLE = """curl -H "Authorization: Bearer $(cat tokens)" localhost:8600/v1/answers --data '{
  "metric": "sp", "defense": "conceal_exact", "epsilon": 0.5,
  "predictions": [[0, 1, 1, 0.25, ...], [1, 1, 0, 0.5, ...]]}'"""
REFUSAL = _object(("detail",), detail=WORD)
QUERY = _object(
    ("metric", "predictions", "defense", "epsilon"),
    metric=WORD | {"description": "one of those in /v1/schema", "examples": ["sp"]},
    predictions={
        "type": "array",
        "items": {"type": "array", "items": NUMBER | {"minimum": 0, "maximum": 1}},
        "description": "one row per model, one number per person, in the order of the desk's file",
    },
    defense=WORD | {"description": "one of those in /v1/schema", "examples": ["conceal_exact"]},
    epsilon=NUMBER | {"minimum": 1e-9, "maximum": 10_000, "examples": [0.5]},
    delta=NUMBER | {"description": "gaussian only; a hundredth of the desk's if not given"},
)
ANSWER = _object(
    answers=_numbers("one per row; for equalized odds a pair, label 1 first"),
    intervals=_numbers("[low, high] of each answer"),
    grid={"description": "answers are multiples of this; for equalized odds a pair"},
    level=NUMBER | {"description": "probability with which an interval holds"},
    cost={"type": ["number", "null"], "description": "epsilon paid now: 0 for a repeated query; null if exact"},
    budget_left=NUMBER | {"description": "epsilon that the client can surely still spend"},
    repeated={"type": "boolean", "description": "a stored answer, given before"},
    metric=_said(WORD, "as asked"),
    defense=_said(WORD, "as asked"),
    seq=WHOLE | {"description": "row of the ledger"},
    hash=WORD | {"description": "hash of that row"},
)
ACCOUNT = {
    "budget": _said(NUMBER, "epsilon that may be spent"),
    "spent": _said(NUMBER, "epsilon that was spent"),
    "left": _said(NUMBER, "epsilon that can surely still be spent"),
}
ENTRY = _object(
    seq=_said(WHOLE, "1, 2, 3 and so on; a gap is a missing row"),
    time=_said(WORD, "when, in UTC"),
    client=_said(WORD, "who asked"),
    query=WORD | {"description": "sha256 of the query"},
    metric=_said(WORD, "as asked"),
    defense=_said(WORD, "as asked"),
    epsilon={"type": ["number", "null"], "description": "as asked; null for an exact answer"},
    delta=_said(NUMBER, "of gaussian"),
    rows=_said(WHOLE, "models asked about"),
    cost={"type": ["number", "null"], "description": "epsilon paid; null for an exact answer of an unsafe desk"},
    cost_epsilon=_said(WHOLE, "the same in billionths, as it is added up"),
    cost_delta=_said(WHOLE, "delta paid, in units of its own"),
    cost_rdp=_said(WHOLE, "Rényi divergence paid, in billionths; 0 for a desk without delta"),
    exact=_said(TRUTH, "an exact answer of an unsafe desk"),
    answers=_numbers("the client's own rows only, with intervals and grid"),
    answers_sha256=_said(WORD, "of the answers as stored"),
    previous=_said(WORD, "hash of the row before"),
    hash=_said(WORD, "sha256 of this row and of the hash before"),
)
PROMISE = _object(
    people=_said(WHOLE, "people in the table: the length of a row of predictions"),
    positives=_said(WHOLE, "of them with the favourable label"),
    label=_said(WORD, "column of the true outcome"),
    protected=_said(WORD, "column of the protected attribute"),
    privileged=_said(WORDS, "its values that make group 1"),
    metrics=_said(WORDS, "what may be asked"),
    defenses=_said(_object(), "ways of answering, with what each costs"),
    epsilon=_said(NUMBER, "budget of the desk"),
    delta=_said(NUMBER, "budget of the desk; 0: epsilon alone"),
    sizes=_said(WORD, "whether group sizes are secret or public"),
    group_sizes={"type": ["object", "null"], "description": "of group 0 and group 1, where they are public"},
    minority_share=_said(NUMBER, "declared share of the smaller group"),
    protects=_said(WORD, "what is protected, and against whom"),
    assumes=_said(WORD, "what the promise rests on"),
    interval=_said(WORD, "when intervals hold"),
    composition=_said(WORD, "how costs add up"),
    repeats=_said(WORD, "what the same query gets"),
    most_rows=_said(WHOLE, "models in a query"),
    body_limit=_said(WHOLE, "bytes in a body"),
    unsafe_exact=_said(TRUTH, "whether exact answers are given, and nothing is protected"),
)


def _route(summary: str, answer: dict[str, Any], about: str, *codes: int, **more: Any) -> dict[str, Any]:
    why = {
        401: "no token, or none that is known",
        403: "the budget does not allow it, and why",
        413: "the body is too long",
        422: "what is wrong with the query, in one sentence",
        503: "the ledger could not be written: nothing was spent",
    }
    responses = {200: _json(answer, about)} | {code: _json(REFUSAL, why[code]) for code in codes}
    return {"summary": summary, "responses": responses} | more


TOKEN = {"security": [{"token": []}]}
ANSWERS = _route(
    "Ask how biased models are",
    ANSWER,
    "the answers, which are in the ledger by now",
    *(401, 403, 413, 422, 503),
    openapi_extra=TOKEN | {"requestBody": {"required": True} | _json(QUERY, "the query")},
)
BUDGET = _route(
    "What is left",
    _object(
        client=_said(WORD, "who asks"),
        share=_said(NUMBER, "its share of the desk's budget"),
        **ACCOUNT,
        desk=_said(_object(**ACCOUNT), "budget, spent and left of all clients together"),
        void={"type": ["string", "null"], "description": "says so if exact answers were ever given"},
    ),
    "the client's account and the desk's",
    401,
    openapi_extra=TOKEN,
)
LEDGER = _route(
    "Every answer that was paid for",
    _object(entries={"type": "array", "items": ENTRY, "description": "one for each answer; what is in it:"}),
    "rows in order, of all clients",
    *(401, 422),
    openapi_extra=TOKEN
    | {
        "parameters": [
            {"name": "after", "in": "query", "schema": WHOLE, "description": "rows after this one"},
            {"name": "limit", "in": "query", "schema": WHOLE, "description": "so many at most"},
        ]
    },
)
SCHEMA = _route("What may be asked, and what is promised", PROMISE, "as declared", 401, openapi_extra=TOKEN)
HEALTH = _route(
    "Is it running",
    _object(status=_said(WORD, "ok"), unsafe_exact=_said(TRUTH, "whether exact answers are given")),
    "it is; needs no token",
)

STYLE = (
    ":root{color-scheme:light dark;--soft:#eef0f2;--line:#ccc;--verb:#0a5c8f}"
    "@media(prefers-color-scheme:dark){:root{--soft:#262b30;--line:#444;--verb:#7cb7f5}}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "section{border-top:1px solid var(--line);margin-top:1.5rem}h2 b{color:var(--verb)}"
    "code,pre{background:var(--soft);padding:.1em .3em;border-radius:3px;overflow-wrap:anywhere}"
    "pre{padding:.8rem;white-space:pre-wrap}td{padding:.15rem .8rem .15rem 0;vertical-align:top}"
    "table{border-collapse:collapse}table table{margin:.3rem 0}a{color:var(--verb)}"
    "@media(max-width:40rem){td{display:block;padding:0}td:first-child{margin-top:.5rem}}"
)


def page(openapi: dict[str, Any]) -> str:
    """Return the description as a page of plain HTML."""
    info = openapi["info"]
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])}</title>"
        f"<meta name=viewport content='width=device-width'><link rel=icon href='data:,'><style>{STYLE}</style>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])}</p>",
        f"<p>The same for programs: <a href=/openapi.json>/openapi.json</a></p><pre>{escape(EXAMPLE)}</pre>"
        "<p>Each row is a model: its decision or score for every person, in the order of the desk's file.</p>"
        f"<h3>Metrics</h3>{_table(METRICS)}",
    ]
    for path, methods in openapi["paths"].items():
        parts += [_section(method, path, route) for method, route in methods.items()]
    return "".join(parts)


def _section(method: str, path: str, route: dict[str, Any]) -> str:
    parts = [f"<section><h2><b>{method.upper()}</b> {escape(path)}</h2><p>{escape(route['summary'])}</p>"]
    if "parameters" in route:
        rows = [(p["name"], p["schema"].get("type", ""), p.get("description", "")) for p in route["parameters"]]
        parts.append(f"<h3>Parameters</h3>{_table(rows)}")
    if "requestBody" in route:
        parts.append(f"<h3>Body</h3>{_fields(route['requestBody'])}")
    answers = {str(code): answer for code, answer in route["responses"].items()}
    parts.append(f"<h3>200: {escape(answers['200']['description'])}</h3>{_fields(answers['200'])}")
    refusals = [(code, "", answer["description"]) for code, answer in answers.items() if code != "200"]
    parts.append(f"<h3>Refused, with a sentence as <code>detail</code></h3>{_table(refusals)}" if refusals else "")
    return "".join(parts) + "</section>"


def _fields(content: dict[str, Any]) -> str:
    schema = content.get("content", {}).get("application/json", {}).get("schema", {})
    required = schema.get("required", ())
    rows = []
    for name, field in schema.get("properties", {}).items():
        example = f", as {json.dumps(field['examples'][0])}" if "examples" in field else ""
        kind = _kind(field) + ("" if not required or name in required else ", optional")
        rows.append((name, kind, field.get("description", "") + example))
        rows += [(f"… {k}", _kind(v), v["description"]) for k, v in _inner(field).items()]
    return _table(rows)


def _kind(field: dict[str, Any]) -> str:
    kinds = field.get("type", "")
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _inner(field: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of what an array holds, where it is objects."""
    return field.get("items", {}).get("properties", {})


def _table(rows: Sequence[tuple[str, str, str]]) -> str:
    cells = (f"<tr><td><code>{escape(a)}</code><td>{escape(b)}<td>{escape(c)}" for a, b, c in rows)
    return f"<table>{''.join(cells)}</table>"
