"""Conformance: what holds for every registered plug-in, whoever wrote it."""

import dataclasses
import inspect

import numpy as np
import pytest

from fairpriv import config, listing, registry
from fairpriv.cells import GROUPS
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.desk import ComplianceDesk, DeskView
from fairpriv.errors import BadRequest

PLUGINS = [(kind, name) for kind in registry.KINDS for name in registry.names(kind)[0]]
QUERY_DEFENSES = [n for n in registry.names("defenses")[0] if issubclass(registry.find("defenses", n), QueryDefense)]
BIAS_ATTACKS = [n for n in registry.names("attacks")[0] if n.startswith("reveal_")]


@pytest.mark.parametrize("kind", registry.KINDS)
def test_nothing_is_broken(kind):
    names, broken = registry.names(kind)
    assert names
    assert broken == {}


@pytest.mark.parametrize(("kind", "name"), PLUGINS)
def test_a_plugin_is_a_frozen_documented_class_in_the_file_of_its_name(kind, name):
    cls = registry.find(kind, name)
    assert cls.__module__.startswith(f"fairpriv.{kind}.")
    assert cls.__module__.rpartition(".")[2] == name
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen
    assert inspect.getdoc(cls)
    assert isinstance(cls.paper, str)
    with pytest.raises(BadRequest, match="unknown parameter"):
        registry.build(kind, name, {"no_such_parameter": 1})


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, name in PLUGINS if kind in ("attacks", "defenses")])
def test_a_plugin_is_of_the_family_whose_folder_it_is_in(kind, name):
    cls = registry.find(kind, name)
    base = cls.__module__.rpartition(".")[0] + ".base"
    assert base in {above.__module__ for above in cls.__mro__}


@pytest.mark.parametrize("kind", registry.KINDS)
def test_the_list_read_off_the_source_is_what_the_classes_say(kind):
    own = [registry.find(kind, name) for name in registry.names(kind)[0]]
    said = [{"name": cls.name, "paper": cls.paper, "about": registry.summary(cls)} for cls in own]
    assert listing.plugins(kind) == said


NEEDED = {"epsilon": 0.5, "nominal_share": 0.2, "path": "a.csv", "label": "y", "protected": "s"}


def outside(kind, takes):
    """Return values that a parameter does not take, by what it says of itself."""
    if takes and takes[0] not in "<>":
        return ["no such choice"]
    steps = {">=": -1, ">": 0, "<=": 1, "<": 0}
    limits = [(sign, float(number)) for sign, number in (part.split() for part in takes.split(", ") if part)]
    wrap = (lambda v: (v,)) if kind.startswith("tuple") else (lambda v: v)
    return [wrap(int(limit + steps[sign]) if "int" in kind else limit + steps[sign]) for sign, limit in limits]


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, name in PLUGINS if kind != "protocols"])
def test_a_plugin_says_what_each_parameter_is_and_refuses_what_it_does_not_take(kind, name):
    said = registry.described(registry.find(kind, name))
    given = {key: NEEDED[key] for key, one in said.items() if one["default"] is ...}
    registry.build(kind, name, given)
    for key, one in said.items():
        assert one["about"], key
        for value in outside(one["type"], one["takes"]):
            with pytest.raises(BadRequest):
                registry.build(kind, name, given | {key: value})


@pytest.mark.parametrize("group", GROUPS)
def test_every_config_of_a_group_names_a_plugin_and_its_parameters(group):
    config.start()
    for option in config.options(group):
        params = config.option(group, option)
        allowed = registry.parameters(registry.find(GROUPS[group], params["name"]))
        assert set(params) - {"name"} <= set(allowed), option


def desk(defense, seed=5):
    rng = np.random.default_rng(0)
    group = np.ones(60, np.int8)
    group[rng.choice(60, 12, replace=False)] = 0
    label = rng.integers(0, 2, 60)
    return ComplianceDesk(group, label, defense, np.random.default_rng(seed)), rng.random(60)


def query_defense(name):
    extra = {"nominal_share": 0.2} if "nominal_share" in registry.parameters(registry.find("defenses", name)) else {}
    epsilon = float("inf") if name == "none" else 0.5
    return registry.build("defenses", name, {"epsilon": epsilon} | extra)


@pytest.mark.parametrize("name", QUERY_DEFENSES)
def test_query_defense_same_seed_same_answer_and_bad_epsilon_refused(name):
    answers = []
    for _ in range(2):
        compliance, base = desk(query_defense(name))
        answers.append(compliance.view(base).ask(np.tile(base, (5, 1)), "sp"))
    np.testing.assert_array_equal(*answers)
    params = {f.name: getattr(query_defense(name), f.name) for f in dataclasses.fields(query_defense(name))}
    for bad in (0, -1, float("nan")):
        with pytest.raises(BadRequest, match="epsilon must be"):
            registry.build("defenses", name, params | {"epsilon": bad})


@pytest.mark.parametrize("name", BIAS_ATTACKS)
@pytest.mark.parametrize("defense", ["none", "laplace"])
def test_bias_attack_same_seed_same_answer_and_sees_only_its_view(name, defense):
    """Replayed through a view that has no desk behind it, an attack learns exactly the same."""
    attack = registry.build("attacks", name)
    compliance, base = desk(query_defense(defense))
    view = compliance.view(base)
    recorded = []

    def record(h, metric):
        recorded.append((h.copy(), view.ask(h, metric)))
        return recorded[-1][1]

    first = attack.run(dataclasses.replace(view, ask=record), np.random.default_rng(1))
    tape = iter(recorded)

    def replay(h, metric):
        asked, answer = next(tape)
        np.testing.assert_array_equal(h, asked)
        return answer

    blind = DeskView(label=view.label, base=base, ask=replay, law=view.law, sizes=view.sizes)
    again = attack.run(blind, np.random.default_rng(1))
    np.testing.assert_array_equal(first.group, again.group)
    np.testing.assert_array_equal(first.score, again.score)
