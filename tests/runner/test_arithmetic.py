"""Workers here give the recorded bytes, and other bytes are noticed."""

import json

import pytest

from fairpriv.runner import arithmetic, pin


def test_the_recorded_bytes_come_out_here():
    """The record was made on one processor and came out the same on two emulated ones, Haswell and EPYC."""
    if pin.why_not():
        pytest.skip(pin.why_not())
    right, told = arithmetic.check()
    if right is None:
        pytest.skip(told)
    assert right, told


def test_other_bytes_and_other_packages_are_told(monkeypatch, tmp_path):
    record = json.loads(arithmetic._RECORD.read_text(encoding="utf-8"))
    names = [f"{package} {arithmetic.version(package)}" for package in arithmetic.PACKAGES.values()]
    changed = {name: record.get(name, {}) for name in names}
    changed[names[0]] = {**changed[names[0]], "sums": "0"}
    monkeypatch.setattr(arithmetic, "_RECORD", tmp_path / "record.json")
    arithmetic._RECORD.write_text(json.dumps(changed), encoding="utf-8")
    right, told = arithmetic.check()
    assert right is False
    assert f"{names[0]}: sums" in told
    arithmetic._RECORD.write_text("{}", encoding="utf-8")
    right, told = arithmetic.check()
    assert right is None
    assert all(name in told for name in names)
