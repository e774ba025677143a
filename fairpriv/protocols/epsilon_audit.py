"""experiment=epsilon_audit: what every mechanism claims, what its law costs, and what its outputs prove."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fairpriv import validate
from fairpriv.audits import training
from fairpriv.audits.families import auditor
from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.defenses.base import Defense
from fairpriv.errors import BadRequest, FairprivError
from fairpriv.mechanisms.accountant import pld_epsilon
from fairpriv.metrics.bias import METRICS
from fairpriv.protocols.base import Protocol, Result
from fairpriv.registry import find, parameters, register

SHARE = 0.1  # of the smaller group, where a mechanism is told or needs one
CLAIMS = ("ours", "printed")
COINS = ("in", "s")
CANARIES, STEPS = 1000, 20


class ClaimBroken(FairprivError):
    """A mechanism gives away more than it claims."""


def make_defense(cell: Cell) -> Any:
    """Build the cell's defense at its ε, with the declared share where it takes one."""
    takes = parameters(find("defenses", cell.plugins["defense"]["name"]))
    given = {"epsilon": cell.get("epsilon"), "nominal_share": SHARE}
    return cell.plugin("defense", **{key: value for key, value in given.items() if key in takes and value is not None})


def _audited(cell: Cell) -> dict[str, Any]:
    defense, rng = make_defense(cell), cell.rng("audit")
    settings = {"n": cell.get("n", 100), "m": cell.get("m", 10), "metric": cell.get("metric", "sp"), "share": SHARE}
    settings |= {"samples": cell.get("samples", 3000), "coin": cell.get("coin")}
    found = auditor(type(defense))(defense, settings, rng)
    return {
        "claimed": float(found.claimed),
        "claimed_delta": float(found.delta),
        # under delta > 0 the log ratio has no bound: what is accounted is the claim where delta suffices
        "accounted": float(found.claimed if found.delta > 0 else found.exact),
        "delta_needed": float(found.exact_delta[1]),
        "audited": float(found.sampled_lower),
        "as_declared": int(found.follows),
        "confidence": found.confidence,
        "worst": found.worst,
        "verdict": found.verdict,
    }


def _told_about_s(cell: Cell) -> dict[str, Any]:
    """Return what training as printed gives away about the attribute, against the ε that it claims for everything."""
    defense, delta = make_defense(cell), float(cell.plugins["defense"]["delta"])
    scores, coins, n = training.canaries(defense, CANARIES, STEPS, "s", cell.rng("audit"))
    # changing the attribute is one example out and one in: half the multiplier
    claimed = pld_epsilon(defense.sigma / 2, defense.batch / n, STEPS, delta)
    lower = training.guessed(scores, coins, delta, 1e-3)
    return {
        "claimed": claimed,
        "claimed_delta": delta,
        "accounted": float(defense.account(n, STEPS).sensitive),
        "delta_needed": float("nan"),
        "audited": lower,
        "as_declared": 0,
        "confidence": 0.999,
        "worst": f"{CANARIES} canaries, {STEPS} steps; the attribute steers training without noise",
        "verdict": "VIOLATED" if lower > claimed else "unprotected",
    }


@register
@dataclass(frozen=True)
class EpsilonAudit(Protocol):
    """Audits every mechanism that claims an ε through the method that gives its outputs; a broken claim fails its cell.

    `claim` says whose it is: ours must hold; a paper's is recorded as it is found.
    """

    name: ClassVar[str] = "epsilon_audit"
    paper: ClassVar[str] = "all five"
    presented_by: ClassVar[str] = "fairpriv.report.epsilon_audit"
    accepts: ClassVar[Mapping[str, type]] = {"defense": Defense}

    def build(self, cell: Cell, group: str) -> Any:
        """Build the defense at the cell's ε."""
        return make_defense(cell)

    def validate(self, cell: Cell) -> None:
        """Refuse a defense that nothing audits, and parameters out of range."""
        super().validate(cell)
        cls = find("defenses", cell.plugins["defense"]["name"])
        if auditor(cls) is None:
            raise BadRequest(f"{cls.name} is of no family that can be audited")
        validate.choice("claim", cell.get("claim", "ours"), CLAIMS)
        validate.choice("metric", cell.get("metric", "sp"), METRICS)
        validate.integer("n", cell.get("n", 100), at_least=3)
        validate.integer("m", cell.get("m", 10), at_least=1)
        validate.integer("samples", cell.get("samples", 3000), at_least=100)
        if cell.get("coin") is not None:
            validate.choice("coin", cell["coin"], COINS)

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Audit each; raise where a claim of ours is broken."""
        return [self._one(cell) for cell in cells]

    def _one(self, cell: Cell) -> Result:
        printed = cell.get("claim", "ours") == "printed"
        told = printed and cell.get("coin") == "s" and make_defense(cell).debias
        found = _told_about_s(cell) if told else _audited(cell)
        if found["verdict"] == "VIOLATED" and not printed:
            shown = f"its law costs {found['accounted']:.4g}, its outputs prove {found['audited']:.4g}"
            name = cell.plugins["defense"]["name"]
            raise ClaimBroken(f"{name} claims epsilon = {found['claimed']:.4g}; {shown} ({found['worst']})")
        return Result(found)
