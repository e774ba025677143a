"""What the service says of itself: the words of its OpenAPI description, and a page of it that needs no network."""

import json
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


NUMBER, WORD, WHOLE = {"type": "number"}, {"type": "string"}, {"type": "integer"}
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
    epsilon=NUMBER | {"exclusiveMinimum": 0, "description": "budget of all rows together", "examples": [0.5]},
    delta=NUMBER | {"description": "gaussian only; a hundredth of the desk's if not given"},
)
ANSWER = _object(
    answers=_numbers("one per row; for equalized odds a pair, label 1 first"),
    intervals=_numbers("[low, high] of each answer"),
    grid={"description": "answers are multiples of this; for equalized odds a pair"},
    level=NUMBER | {"description": "probability with which an interval holds"},
    cost=NUMBER | {"description": "epsilon paid now: 0 for a repeated query"},
    budget_left=NUMBER | {"description": "epsilon that the client can surely still spend"},
    repeated={"type": "boolean", "description": "a stored answer, given before"},
    metric=WORD,
    defense=WORD,
    seq=WHOLE | {"description": "row of the ledger"},
    hash=WORD | {"description": "hash of that row"},
)
ACCOUNT = {"budget": NUMBER, "spent": NUMBER, "left": NUMBER}
ENTRY = _object(
    seq=WHOLE,
    time=WORD,
    client=WORD,
    query=WORD | {"description": "sha256 of the query"},
    metric=WORD,
    defense=WORD,
    epsilon=NUMBER,
    delta=NUMBER,
    rows=WHOLE,
    cost=NUMBER | {"description": "epsilon paid; null for an exact answer of an unsafe desk"},
    answers=_numbers("the client's own rows only, with intervals and grid"),
    answers_sha256=WORD,
    previous=WORD,
    hash=WORD,
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
    _object(client=WORD, share=NUMBER, desk=_object(**ACCOUNT), void=WORD, **ACCOUNT),
    "the client's account and the desk's",
    401,
    openapi_extra=TOKEN,
)
LEDGER = _route(
    "Every answer that was paid for",
    _object(entries={"type": "array", "items": ENTRY}),
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
SCHEMA = _route("What may be asked, and what is promised", _object(), "as declared", 401, openapi_extra=TOKEN)
HEALTH = _route("Is it running", _object(status=WORD, unsafe_exact={"type": "boolean"}), "it is; needs no token")

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "section{border-top:1px solid #ccc;margin-top:1.5rem}code{background:#f3f3f3;padding:.1em .3em;border-radius:3px}"
    "h2 b{color:#0a5c8f}table{border-collapse:collapse}td{padding:.15rem .8rem .15rem 0;vertical-align:top}"
)


def page(openapi: dict[str, Any]) -> str:
    """Return the description as a page of plain HTML."""
    info = openapi["info"]
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])}</title>"
        f"<meta name=viewport content='width=device-width'><style>{STYLE}</style>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])}</p>",
        "<p>The same for programs: <a href=/openapi.json>/openapi.json</a></p>",
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
        kind = field.get("type", "") + ("" if not required or name in required else ", optional")
        rows.append((name, kind, field.get("description", "") + example))
    return _table(rows)


def _table(rows: list[tuple[str, str, str]]) -> str:
    cells = (f"<tr><td><code>{escape(a)}</code><td>{escape(b)}<td>{escape(c)}" for a, b, c in rows)
    return f"<table>{''.join(cells)}</table>"
