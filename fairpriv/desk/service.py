"""The desk over HTTP: JSON in, JSON out, a token with every question.

Whatever is refused is refused by what is public: the token, the length and the content of the body, and sums of costs.
Only an answer that has been paid for looks at the protected attribute.
"""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic_core import from_json
from starlette.requests import ClientDisconnect

from fairpriv import __version__
from fairpriv.desk import described
from fairpriv.desk.clients import Client, Clients
from fairpriv.desk.private import PrivateDesk, Refused, Unavailable
from fairpriv.desk.writer import Writer
from fairpriv.errors import BadRequest, FairprivError

LARGE = 2**18  # bytes, from which on a body is parsed beside the loop that serves everybody
DRAINED, PATIENCE = 2**28, 10  # bytes and seconds that are spent on a body which is refused
STATUS = {Refused: 403, Unavailable: 503, BadRequest: 422}


class Rejected(FairprivError):
    """A request that is refused before it is read."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _reply(content: Any, status: int = 200, **headers: str) -> Response:
    return Response(json.dumps(content, allow_nan=False), status, headers, "application/json")


def _refuse(_: Request, error: FairprivError) -> Response:
    """Say in one sentence why not."""
    if not isinstance(error, Rejected):
        return _reply({"detail": str(error)}, next(code for kind, code in STATUS.items() if isinstance(error, kind)))
    # the body may not have been read to its end: the connection cannot go on
    headers = {"Connection": "close"} | ({"WWW-Authenticate": "Bearer"} if error.status == 401 else {})
    return _reply({"detail": str(error)}, error.status, **headers)


async def _body(request: Request, limit: int) -> bytes:
    """Read a body of at most `limit` bytes; a longer one is refused by its header or as soon as it is too long.

    What is too long is not kept, but read on for a while: many clients send everything before they look for an answer.
    """
    length = request.headers.get("content-length", "0")
    declared = int(length) if length.isdecimal() else DRAINED + 1
    parts, size = [], 0
    try:
        async with asyncio.timeout(None if declared <= limit else PATIENCE) as patience:
            async for part in request.stream() if declared <= DRAINED else _nothing():
                size += len(part)
                if size <= limit:
                    parts.append(part)
                    continue
                parts.clear()
                if patience.when() is None:
                    patience.reschedule(asyncio.get_running_loop().time() + PATIENCE)
                if size > DRAINED:
                    break
    except ClientDisconnect:
        raise Rejected(400, "the body ended before it was complete") from None
    except TimeoutError:
        size = max(size, limit + 1)
    if max(size, declared) > limit:
        raise Rejected(413, f"the body must have at most {limit} bytes")
    return b"".join(parts)


async def _nothing() -> AsyncIterator[bytes]:
    for part in ():
        yield part


def _parsed(desk: PrivateDesk, body: bytes) -> Any:
    try:
        content = from_json(body, cache_strings=False)
    except ValueError:
        raise BadRequest("the body is not JSON") from None
    return desk.read(content)


def make_app(desk: PrivateDesk, clients: Clients, body_limit: int = 2**26) -> FastAPI:
    """Return the service of a desk; `body_limit` is in bytes."""
    writer = Writer(desk)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        writer.close()
        desk.settle()

    app = FastAPI(
        title="fairpriv desk",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=life,
        description=described.ABOUT,
    )
    app.add_exception_handler(FairprivError, _refuse)

    async def who(request: Request) -> Client:
        client = clients.find(request.headers.get("authorization"))
        if client is None:
            with contextlib.suppress(Rejected):
                await _body(request, 0)
            raise Rejected(401, "a token is needed: Authorization: Bearer TOKEN")
        return client

    @app.post("/v1/answers", **described.ANSWERS)
    async def answers(request: Request) -> Response:
        client = await who(request)
        body = await _body(request, body_limit)
        query = _parsed(desk, body) if len(body) < LARGE else await run_in_threadpool(_parsed, desk, body)
        if query.defense.name == "conceal_aware":
            await run_in_threadpool(desk.prepare, query)
        return _reply((await writer.answer(client, query)).told())

    @app.get("/v1/budget", **described.BUDGET)
    async def budget(request: Request) -> Response:
        return _reply(await run_in_threadpool(desk.budget, await who(request)))

    @app.get("/v1/ledger", **described.LEDGER)
    async def ledger(request: Request) -> Response:
        client = await who(request)
        after, limit = (_whole(request, name, least) for name, least in (("after", 0), ("limit", -1)))
        return _reply({"entries": await run_in_threadpool(desk.ledger, client, after, limit)})

    @app.get("/v1/schema", **described.SCHEMA)
    async def schema(request: Request) -> Response:
        await who(request)
        return _reply(desk.schema() | {"body_limit": body_limit})

    @app.get("/healthz", **described.HEALTH)
    async def health() -> Response:
        if desk.unsafe_exact:
            return _reply({"status": "UNSAFE: exact answers are given, nothing is protected", "unsafe_exact": True})
        return _reply({"status": "ok", "unsafe_exact": False})

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(described.page(app.openapi()), media_type="text/html")

    app.openapi()["components"] = {"securitySchemes": described.SECURITY}  # made once, and kept
    return app


def _whole(request: Request, name: str, least: int) -> int:
    text = request.query_params.get(name, str(least))
    if not re.fullmatch(r"-?\d{1,18}", text) or int(text) < least:
        raise BadRequest(f"{name} must be a whole number >= {max(least, 0)}")
    return int(text)
