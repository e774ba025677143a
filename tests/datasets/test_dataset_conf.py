"""Every file of conf/dataset names its loader's options, all of them, with the loader's defaults."""

from pathlib import Path

import pytest

from fairpriv import config as conf
from fairpriv import registry

CONF = Path(__file__).parents[2] / "conf" / "dataset"
NAMES = sorted(path.stem for path in CONF.glob("*.yaml"))


def resolved(name):
    conf.start()
    return dict(conf.option("dataset", name))


@pytest.mark.parametrize("name", NAMES)
def test_config_has_every_option(name):
    config = resolved(name)
    loader = config.pop("name")
    options = registry.parameters(registry.find("datasets", loader))
    assert set(config) == set(options)
    if loader != "csv":
        registry.build("datasets", loader, config)
    if name == loader:
        plain = {key: tuple(v) if isinstance(v, list) else v for key, v in config.items() if v != "???"}
        declared = {"minority_share"}  # a statistic of the config, not of the code
        assert plain == {k: v for k, v in options.items() if v is not ...} | {k: plain[k] for k in declared}


def test_every_dataset_has_a_config():
    known, broken = registry.names("datasets")
    assert not broken
    assert {n for n in known if registry.find("datasets", n).__module__.startswith("fairpriv.")} <= set(NAMES)
