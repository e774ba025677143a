"""Who may ask: names, shares of the budget, and tokens, of which only sums are kept."""

import hashlib
import hmac
import os
import re
import secrets
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from fairpriv.errors import BadRequest

ONLY = "client"  # the name of the one client of a file that names none
SHORT = 16  # characters, below which a token could be guessed


@dataclass(frozen=True)
class Client:
    """One who may ask, with its share of the budget."""

    name: str
    share: float = 1.0


class Clients:
    """The clients of a token file, found by their token."""

    def __init__(self, tokens: dict[str, Client]) -> None:
        self._known = [(_sum(token), client) for token, client in tokens.items()]
        self.names = [client.name for client in tokens.values()]
        self.guessable = [client.name for token, client in tokens.items() if len(token) < SHORT]

    def find(self, authorization: str | None) -> Client | None:
        """Return whose token an Authorization header brings; every token is compared, and in the same time."""
        kind, _, token = (authorization or "").partition(" ")
        given, found = _sum(token.strip()), None
        for known, client in self._known:
            if hmac.compare_digest(known, given):
                found = client
        return found if kind.lower() == "bearer" else None


def _sum(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def read_clients(path: Path) -> Clients:
    """Read a token file: one client per line, `NAME TOKEN [SHARE]`, or one line with a token alone.

    Clients without a share divide what the others leave. Lines that start with # are comments.
    """
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not text'}") from error
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if len(lines) == 1 and len(lines[0]) == 1:
        lines = [[ONLY, *lines[0]]]
    if not lines:
        raise BadRequest(f"{path} has no token: one client per line, NAME TOKEN [SHARE]")
    return Clients(_checked(path, lines))


def _checked(path: Path, lines: list[list[str]]) -> dict[str, Client]:
    """Return clients by token; a message never holds a token."""
    names = [line[0] for line in lines]
    for line in lines:
        if len(line) not in (2, 3) or not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", line[0]):
            raise BadRequest(f"{path}: each line must be NAME TOKEN [SHARE], NAME of letters, digits and . _ -")
    if len(set(names)) < len(names) or len({line[1] for line in lines}) < len(lines):
        raise BadRequest(f"{path}: every client needs a name and a token of its own")
    given = {line[0]: _share(path, line[0], line[2]) for line in lines if len(line) == 3}
    left = 1 - sum(given.values(), Decimal(0))
    if left < 0 or (left == 0 and len(given) < len(lines)):
        raise BadRequest(f"{path}: the shares add up to {1 - left}, and must leave something for everybody within 1")
    rest = left / max(1, len(lines) - len(given))
    return {line[1]: Client(line[0], float(given.get(line[0], rest))) for line in lines}


def _share(path: Path, name: str, text: str) -> Decimal:
    try:
        share = Decimal(text)
    except InvalidOperation:
        share = Decimal(0)
    if not (share.is_finite() and 0 < share <= 1):
        raise BadRequest(f"{path}: the share of {name} must be in (0, 1], got {text!r}")
    return share


def make_token_file(path: Path) -> None:
    """Write a file with one fresh token, readable by its owner only; one that is there is left alone."""
    try:
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except OSError as error:
        raise BadRequest(f"{path} cannot be made: {error.strerror}") from error
    with os.fdopen(file, "w") as out:
        out.write(secrets.token_urlsafe(32) + "\n")
