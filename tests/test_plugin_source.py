"""What is read off the source of a plug-in is what importing it would say."""

import inspect

import pytest

from fairpriv import plugin_source, registry

UNTOLD = {"ldp_collection", "ldp_independent_hashing", "synthetic_corpus"}  # its choices are computed


@pytest.mark.parametrize("kind", registry.KINDS)
def test_source_and_import_say_the_same(kind):
    ours = [name for name in registry.places(kind) if name not in registry.outside(kind)]
    assert ours
    for name in ours:
        cls = registry.find(kind, name)
        told = plugin_source.read(cls.__module__)
        assert told == plugin_source.Told(cls.name, cls.paper, inspect.getdoc(cls)), name
        params, imported = plugin_source.described(cls.__module__), registry.described(cls)
        if params is None:
            assert name in UNTOLD
        else:
            assert params == imported, name
            assert list(params) == list(imported)


@pytest.mark.parametrize(
    "source",
    [
        "import no_such_package\n@register\nclass A:\n    name: str = 'a'",
        "@register\nclass A:\n    name = 'a' + 'b'",
        "def broken(:",
        "name = 'nothing is registered here'",
    ],
)
def test_what_the_source_does_not_tell_is_none(tmp_path, monkeypatch, source):
    module = f"told_{abs(hash(source))}"
    (tmp_path / f"{module}.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert plugin_source.read(module) is None


@pytest.mark.parametrize(
    "source", ["class A:\n    name: str = 'a'\n    amount: int = 2 ** 3", "class A(Unknown):\n    name: str = 'a'"]
)
def test_parameters_that_the_source_does_not_tell_are_none(tmp_path, monkeypatch, source):
    module = f"untold_{abs(hash(source))}"
    (tmp_path / f"{module}.py").write_text(f"@register\n{source}")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert plugin_source.described(module) is None
