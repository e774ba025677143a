"""`fairpriv audit`: what each mechanism claims and what it really pays, through the method that gives its outputs."""

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from fairpriv import cvxpy_quiet  # noqa: F401
from fairpriv.audits import Audit
from fairpriv.audits.families import auditor
from fairpriv.errors import BadRequest, unknown
from fairpriv.mechanisms.ldp import PROTOCOLS
from fairpriv.metrics.bias import METRICS
from fairpriv.registry import build, find, names, parameters
from fairpriv.seeds import stream
from fairpriv.validate import choice, integer, number

MOST_PEOPLE = 100_000
DEFAULTS = {"defense": None, "epsilon": 0.9, "n": 100, "m": 10, "metric": "sp", "samples": 3000, "share": 0.1}


def _settings(words: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read key=value words: (settings of the audit, parameters of the defense)."""
    settings, params = dict(DEFAULTS), {}
    for word in words:
        key, equals, text = word.partition("=")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            raise BadRequest(f"cannot read {word!r}: settings are key=value, e.g. epsilon=1") from None
        value = _number_like(value)
        if not equals or (key not in settings and not key.startswith("defense.")):
            raise unknown("setting", key, [*settings, "defense.PARAMETER"])
        if key.startswith("defense."):
            params[key.removeprefix("defense.")] = value
        else:
            settings[key] = value
    choice("metric", settings["metric"], METRICS)
    number("epsilon", settings["epsilon"], above=0)
    integer("n", settings["n"], at_least=2, at_most=MOST_PEOPLE)
    integer("m", settings["m"], at_least=1, at_most=MOST_PEOPLE)
    integer("samples", settings["samples"], at_least=100, at_most=10_000_000)
    number("share", settings["share"], above=0, below=1)
    return settings, params


def _number_like(value: Any) -> Any:
    """Return a number that YAML leaves as text (inf, 1e-3) as a number, anything else as it is."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _variants(name: str, params: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return what a defense is audited as, where one name stands for several mechanisms.

    Training spends what its steps make it spend: they are few here, at much noise, and `epsilon` only caps them.
    """
    if name == "ldp_collection" and not {"protocol", "split"} & set(params):
        for protocol in PROTOCOLS:
            for split in ("uniform", "k_based"):
                yield f"{name} {protocol} {split}", {"protocol": protocol, "split": split}
    elif name == "information_obfuscation" and "representation" not in params:
        for representation in ("continuous", "discrete"):
            yield f"{name} {representation}", {"representation": representation}
    elif name == "maad" and not params:
        steps = {"privacy": "joint", "sigma": 2.0, "batch": 250, "epsilon": 50.0, "epochs": 1, "delta": 1e-8}
        yield "maad (presence)", steps | {"debias": False}
        yield "maad (attribute s)", steps | {"gamma": 5.0, "criterion": "demographic_parity"}
    else:
        yield name, {}


def audit_rows(words: Sequence[str]) -> list[dict[str, Any]]:
    """Return one row per mechanism: claimed ε (and δ), what its law costs, what its outputs prove, and the verdict."""
    settings, params = _settings(words)
    chosen = settings["defense"]
    if chosen is None and params:
        raise BadRequest("defense.PARAMETER needs defense=NAME")
    audits = {name: auditor(find("defenses", name)) for name in names("defenses")[0] if name != "none"}
    known = {name: audit for name, audit in audits.items() if audit}
    if chosen is not None and chosen not in known:
        raise unknown("audited defense", chosen, known)
    rows = []
    for name in [chosen] if chosen else known:
        cls = find("defenses", name)
        share = {"nominal_share": settings["share"]} if "nominal_share" in parameters(cls) else {}
        for label, variant in _variants(name, params):
            try:
                defense = build("defenses", name, {"epsilon": settings["epsilon"]} | share | variant | params)
            except BadRequest as error:
                if chosen:
                    raise
                rows.append(_not_audited(label, settings["epsilon"], str(error)))
                continue
            rng = stream("audit", label, {k: v for k, v in settings.items() if k != "defense"})
            rows.append(_row(label, known[name](defense, settings, rng)))
    return rows


def _not_audited(label: str, epsilon: float, why: str) -> dict[str, Any]:
    """Return the row of a defense that is not defined at this ε."""
    empty = dict.fromkeys(("claimed_delta", "worst_log_ratio", "delta_at_claim", "sampled_lower", "as_declared"))
    return {"defense": label, "claimed_epsilon": epsilon, **empty, "worst": why, "verdict": "unchecked"}


def _row(label: str, found: Audit) -> dict[str, Any]:
    return {
        "defense": label,
        "claimed_epsilon": found.claimed,
        "claimed_delta": found.delta,
        "worst_log_ratio": round(found.exact, 6),
        "delta_at_claim": found.exact_delta[1],
        "sampled_lower": round(found.sampled_lower, 4),
        "as_declared": found.follows,
        "worst": found.worst,
        "verdict": found.verdict,
    }
