"""conf/{dataset,attack,defense,model}/: one small file an option, which says only what differs from its class."""

import pytest
import yaml

from fairpriv import config, registry
from fairpriv.cells import GROUPS
from fairpriv.seeds import canonical
from tests.conftest import ROOT

OPTIONS = [(group, path.stem) for group in GROUPS for path in sorted((ROOT / "conf" / group).glob("*.yaml"))]


@pytest.fixture(autouse=True, scope="module")
def hydra():
    config.start()


def said(group, name):
    """Return what a file says, and what it would be without saying it: as the file it builds on, or as the class."""
    own = yaml.safe_load((ROOT / "conf" / group / f"{name}.yaml").read_text(encoding="utf-8"))
    if "defaults" in own:
        (above, last) = own.pop("defaults")
        assert last == "_self_"
        return own, config.option(group, above)
    return own, registry.parameters(registry.find(GROUPS[group], own["name"]))


@pytest.mark.parametrize(("group", "name"), OPTIONS)
def test_a_file_says_nothing_that_is_so_without_it(group, name):
    own, otherwise = said(group, name)
    own.pop("name", None)
    same = [
        key for key, value in own.items() if otherwise[key] is not ... and canonical(otherwise[key]) == canonical(value)
    ]
    assert same == []


@pytest.mark.parametrize(("group", "name"), OPTIONS)
def test_an_option_has_every_parameter_of_its_class(group, name):
    option = dict(config.option(group, name))
    known = registry.parameters(registry.find(GROUPS[group], option.pop("name")))
    assert set(option) <= set(known)
    assert {key for key, default in known.items() if default is not ...} <= set(option)


@pytest.mark.parametrize("group", GROUPS)
def test_every_plugin_of_ours_has_a_file_of_its_name(group):
    assert set(registry.names(GROUPS[group])[0]) <= set(config.options(group))


def test_a_parameter_that_a_file_does_not_name_is_set_like_any_other():
    plan = config.plan(["experiment=attribute_conceal", "profile=smoke", "defense=laplace", "defense.bounding=clip"])
    assert {cell.plugins["defense"]["bounding"] for cell in plan.cells} == {"clip"}
    assert {cell.plugins["attack"]["width"] for cell in plan.cells} == {0.1}  # as the class has it
    assert plan.config["attack"]["width"] == 0.1
