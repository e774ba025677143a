"""A changed plug-in reruns what it touches, and nothing else."""

import subprocess
import sys

from fairpriv.runner.source import source_sha256


def test_source_reaches_through_imports_but_not_into_the_runner():
    from fairpriv.runner import source

    closure = source._closure("fairpriv.defenses.conceal")
    assert {"fairpriv.mechanisms.smooth_sensitivity", "fairpriv.mechanisms.noise"} <= closure
    assert not any(name.startswith(("fairpriv.runner", "fairpriv.report")) for name in closure)
    assert "fairpriv.defenses.gaussian" not in closure


def sums_after(tmp_path, text):
    (tmp_path / "plug.py").write_text(text)
    code = "from fairpriv.runner.source import source_sha256; print(source_sha256('plug'))"
    return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout


def test_code_changes_count_and_words_do_not(tmp_path):
    first = sums_after(tmp_path, '"""Doc."""\n\n\ndef f(x):\n    return x + 1\n')
    words = sums_after(tmp_path, '"""Other words."""\n# a comment\ndef f(x):\n    """Add one."""\n    return (x + 1)\n')
    other = sums_after(tmp_path, '"""Doc."""\n\n\ndef f(x):\n    return x + 2\n')
    assert first == words != other


def test_sum_is_stable_within_a_process():
    assert source_sha256("fairpriv.seeds") == source_sha256("fairpriv.seeds")
