"""What else an adversary may know: the size of a group, or a rate within it. From Python, or from a YAML file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from fairpriv import validate
from fairpriv.errors import BadRequest, unknown
from fairpriv.metrics.unfairness import as_fraction

OF = ("metric", "everyone")


@dataclass(frozen=True)
class _Share:
    group: int
    at_least: float = 0
    at_most: float = 1

    def __post_init__(self) -> None:
        validate.integer("group", self.group, at_least=0)
        if self.low > self.high:
            raise BadRequest(f"at_most must be >= at_least, got {self.at_least} and {self.at_most}")

    @property
    def low(self) -> Fraction:
        """Return the lower bound, exactly."""
        return as_fraction("at_least", self.at_least)

    @property
    def high(self) -> Fraction:
        """Return the upper bound, exactly."""
        return as_fraction("at_most", self.at_most)


@dataclass(frozen=True)
class Proportion(_Share):
    """The share of a group is within [at_least, at_most].

    Of whom: of the examples the metric looks at (all for SP, those of one label for PE and EO, those of each label for
    EOdds), or of everyone, whatever the metric.
    """

    of: str = "metric"

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.choice("of", self.of, OF)

    def counts(self, n: int) -> tuple[int, int]:
        """Return how many of n examples may be in the group, at least and at most."""
        return int(-((-self.low * n) // 1)), int((self.high * n) // 1)


@dataclass(frozen=True)
class Rate(_Share):
    """The share of positive predictions in a group is within [at_least, at_most]."""


KINDS = {"proportion": Proportion, "rate": Rate}


def parse_constraints(entries: Iterable[Mapping[str, Mapping[str, Any]]]) -> tuple[Proportion | Rate, ...]:
    """Make constraints of plain data: `[{proportion: {group: 1, at_least: 0.6, at_most: 0.7}}, {rate: ...}]`."""
    out = []
    if isinstance(entries, Mapping | str) or not isinstance(entries, Iterable):
        raise BadRequest("constraints must be a list such as [{proportion: {group: 1, at_least: 0.6, at_most: 0.7}}]")
    for entry in entries:
        if not isinstance(entry, Mapping) or len(entry) != 1 or not isinstance(next(iter(entry.values())), Mapping):
            raise BadRequest(f"a constraint must look like {{proportion: {{group: 1, at_most: 0.7}}}}, got {entry!r}")
        (kind, fields), *_ = entry.items()
        if kind not in KINDS:
            raise unknown("constraint", kind, KINDS)
        valid = [field.name for field in dataclass_fields(KINDS[kind])]
        for key in fields:
            if key not in valid:
                raise unknown(f"field of constraint {kind}", key, valid)
        if "group" not in fields:
            raise BadRequest(f"constraint {kind} needs group")
        out.append(KINDS[kind](**fields))
    return tuple(out)


def read_constraints(path: str | Path) -> tuple[Proportion | Rate, ...]:
    """Read a YAML file with the one key `constraints`."""
    import yaml

    try:
        said = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise BadRequest(f"cannot read constraints from {path}: {' '.join(str(error).split())}") from error
    if not isinstance(said, Mapping) or set(said) != {"constraints"}:
        raise BadRequest(f"{path} must hold the one key constraints")
    return parse_constraints(said["constraints"])
