"""A query to the desk: what was sent, checked, with what it costs. Nothing here looks at the protected attribute."""

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpriv import validate
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.desk.costs import UNIT, Cost, charge
from fairpriv.desk.state import Declaration, classes_of
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.strategies import choose
from fairpriv.registry import build

PRIVATE = {"secret": ("conceal_exact", "laplace", "gaussian")}
PRIVATE["public"] = ("conceal_aware", *PRIVATE["secret"])
FIELDS = ("metric", "predictions", "defense", "epsilon", "delta")
LEAST_EPSILON, MOST_EPSILON = 1 / UNIT, 10_000
# A product with a weight is never subnormal then: processors take longer for those, and which they are tells groups.
TINY = 2.0**-100


@dataclass(frozen=True, eq=False)
class Query:
    """What a client asks, with its key and its cost."""

    metric: str
    defense: QueryDefense
    h: np.ndarray
    delta: float
    key: str
    cost: Cost


def moves(declared: Declaration, defense: str) -> int:
    """Return how many changes of one person a neighbour is away, in the unit that the defense's proof is about.

    Where sizes are public neighbours are swaps. One is two moves with one set between them, in which both groups have a
    member as there are at least 3 people: the larger group gives first. `conceal_aware` is proved for swaps themselves.
    """
    return 2 if declared.sizes == "public" and defense != "conceal_aware" else 1


def read(body: Any, declared: Declaration, most_rows: int, exact: bool = False) -> Query:
    """Check a query as it was parsed; what is wrong is said in one sentence."""
    if not isinstance(body, dict):
        raise BadRequest("the body must be a JSON object")
    for name in body:
        if name not in FIELDS:
            raise BadRequest(f"{str(name)[:40]!r} is not a field of a query: {', '.join(FIELDS)}")
    for name in ("metric", "predictions", "defense"):
        if name not in body:
            raise BadRequest(f"the query has no {name}")
    metric, name = body["metric"], body["defense"]
    for what, value, choices in (("metric", metric, declared.metrics), ("defense", name, _offered(declared, exact))):
        if not isinstance(value, str) or value not in choices:
            raise BadRequest(
                f"{what} must be one of {', '.join(choices)}, got {str(value)[:40]!r}{_why(value, declared)}"
            )
    h = predictions(body["predictions"], declared.people, most_rows)
    epsilon, delta = _parameters(body, name, declared)
    defense = _defense(name, epsilon, delta, declared)
    cost = Cost()
    if name != "none":
        cost = charge(name, epsilon, delta, len(h), moves(declared, name), declared.budget.order)
    return Query(metric, defense, h, delta, _key(metric, name, epsilon, delta, h), cost)


def prepare(query: Query, label: np.ndarray) -> None:
    """Find out what `conceal_aware` would measure, so that it is at hand when paid for: it follows from the models."""
    for people in classes_of(query.metric, label):
        choose(query.h[:, people])


def _offered(declared: Declaration, exact: bool) -> tuple[str, ...]:
    names = PRIVATE[declared.sizes] if declared.delta else [n for n in PRIVATE[declared.sizes] if n != "gaussian"]
    return (*names, "none") if exact else tuple(names)


def offered(declared: Declaration) -> tuple[str, ...]:
    """Return the defenses whose guarantee fits what the desk promises."""
    return _offered(declared, exact=False)


def _why(value: Any, declared: Declaration) -> str:
    if value == "conceal_aware" and declared.sizes == "secret":
        return ": it protects swaps where group sizes are public, and this desk keeps them secret"
    if value == "gaussian" and not declared.delta:
        return ": it needs a desk that was made with --delta"
    return ""


def _parameters(body: dict[str, Any], defense: str, declared: Declaration) -> tuple[float, float]:
    epsilon, delta = body.get("epsilon"), body.get("delta")
    if defense == "none":
        return math.inf, 0.0
    if epsilon is None:
        raise BadRequest("the query has no epsilon")
    validate.number("epsilon", epsilon, above=0, at_most=MOST_EPSILON)
    if epsilon < LEAST_EPSILON:
        raise BadRequest(f"epsilon must be >= {LEAST_EPSILON:g}, the least that an answer costs, got {epsilon!r}")
    if defense != "gaussian":
        if delta not in (None, 0):
            raise BadRequest(f"delta is for gaussian only, got one for {defense}")
        return float(epsilon), 0.0
    delta = declared.delta / 100 if delta is None else delta
    validate.number("delta", delta, above=0, at_most=declared.delta)
    return float(epsilon), float(delta)


def _defense(name: str, epsilon: float, delta: float, declared: Declaration) -> QueryDefense:
    more: dict[str, Any] = {"conceal_exact": {"nominal_share": declared.minority_share}, "gaussian": {"delta": delta}}
    return build("defenses", name, {"epsilon": epsilon} | more.get(name, {}))


def predictions(rows: Any, people: int, most_rows: int) -> np.ndarray:
    """Return predictions as a matrix, one row per model, one column per person."""
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise BadRequest("predictions must be a list of rows, one per model, each a list of numbers")
    if len(rows) > most_rows:
        raise BadRequest(f"predictions must have at most {most_rows} rows, got {len(rows)}")
    for i, row in enumerate(rows):
        if len(row) != people:
            raise BadRequest(
                f"a row of predictions must have one number for each of {people} people, row {i} has {len(row)}"
            )
    try:
        h = np.array(rows)
    except ValueError:
        h = np.array(None)
    if h.dtype.kind not in "biuf" or h.ndim != 2:
        raise BadRequest("predictions must be numbers")
    h = np.ascontiguousarray(h, dtype=float)
    if not (h.min() >= 0 and h.max() <= 1):  # NaN is neither
        raise BadRequest("predictions must lie in [0, 1]" + (", got NaN" if np.isnan(h).any() else ""))
    h[h < TINY] = 0.0
    return h


def _key(metric: str, defense: str, epsilon: float, delta: float, h: np.ndarray) -> str:
    """Return what names the query: the same one, from whomever, has the same."""
    head = json.dumps([metric, defense, epsilon.hex(), delta.hex(), *h.shape])
    return hashlib.sha256(head.encode() + h.tobytes()).hexdigest()
