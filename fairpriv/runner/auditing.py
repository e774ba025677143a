"""`fairpriv audit`: what each query defense claims and what it really pays."""

from collections.abc import Sequence
from typing import Any

import yaml

from fairpriv.defenses.base import QueryDefense
from fairpriv.errors import BadRequest, unknown
from fairpriv.mechanisms.audit import audit
from fairpriv.metrics.gaps import GAPS
from fairpriv.registry import build, find, names, parameters
from fairpriv.seeds import stream
from fairpriv.validate import choice, integer, number

MOST_PEOPLE = 100_000
DEFAULTS = {"defense": None, "epsilon": 0.9, "n": 100, "m": 10, "metric": "sp", "samples": 20_000, "share": 0.1}


def _settings(words: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read key=value words: (settings of the audit, parameters of the defense)."""
    settings, params = dict(DEFAULTS), {}
    for word in words:
        key, equals, text = word.partition("=")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            raise BadRequest(f"cannot read {word!r}: settings are key=value, e.g. epsilon=1") from None
        value = float(value) if isinstance(value, str) and value in ("inf", "nan") else value
        if not equals or (key not in settings and not key.startswith("defense.")):
            raise unknown("setting", key, [*settings, "defense.PARAMETER"])
        if key.startswith("defense."):
            params[key.removeprefix("defense.")] = value
        else:
            settings[key] = value
    choice("metric", settings["metric"], GAPS)
    number("epsilon", settings["epsilon"], above=0)
    integer("n", settings["n"], at_least=2, at_most=MOST_PEOPLE)
    integer("m", settings["m"], at_least=1, at_most=MOST_PEOPLE)
    integer("samples", settings["samples"], at_least=100, at_most=10_000_000)
    number("share", settings["share"], above=0, below=1)
    return settings, params


def audit_rows(words: Sequence[str]) -> list[dict[str, Any]]:
    """Return one row a defense: claimed ε (and δ), what the worst neighbours show, and a sampled lower bound."""
    settings, params = _settings(words)
    chosen = settings["defense"]
    if chosen is None and params:
        raise BadRequest("defense.PARAMETER needs defense=NAME")
    all_names = [n for n in names("defenses")[0] if issubclass(find("defenses", n), QueryDefense) and n != "none"]
    if chosen is not None and chosen not in all_names:
        raise unknown("query defense", chosen, all_names)
    rows = []
    for name in [chosen] if chosen else all_names:
        share = {"nominal_share": settings["share"]} if "nominal_share" in parameters(find("defenses", name)) else {}
        defense = build("defenses", name, {"epsilon": settings["epsilon"]} | share | params)
        rng = stream("audit", name, {k: v for k, v in settings.items() if k != "defense"})
        found = audit(defense, settings["n"], settings["m"], settings["metric"], samples=settings["samples"], rng=rng)
        rows.append(
            {
                "defense": name,
                "claimed_epsilon": found.claimed,
                "claimed_delta": found.delta,
                "worst_log_ratio": round(found.exact, 6),
                "delta_at_claim": found.exact_delta,
                "sampled_lower": round(found.sampled_lower, 4),
                "worst_sizes": str(found.worst_sizes),
                "verdict": "holds" if found.passed else "VIOLATED",
            }
        )
    return rows
