"""Completion, in the shells themselves: a line is typed with a tab in it, and what became of it is looked at."""

import contextlib
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairpriv.cli import COMMANDS, main
from fairpriv.cli.completion import SHELLS
from fairpriv.cli.completion.words import POSITIONALS, candidates, flags

START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source <(fairpriv completion bash)"),
    "zsh": (
        ["zsh", "-f", "-i"],
        "bindkey -e; autoload -U compinit; compinit -u -D; source <(fairpriv completion zsh)",
    ),
    "fish": (["fish", "--no-config", "--private"], "fairpriv completion fish | source"),
}


class Terminal:
    """A shell on a terminal of its own."""

    def __init__(self, shell: str, folder: Path) -> None:
        (folder / "bin").mkdir()
        command = folder / "bin/fairpriv"
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m fairpriv "$@"\n')
        command.chmod(0o755)
        words, setup = START[shell]
        env = os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "TERM": "dumb", "HOME": str(folder)}
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, env)
        self.run(setup)

    def wait_for(self, text: str, seconds: float = 60) -> str:
        said, deadline = "", time.time() + seconds
        while text not in said:
            assert time.time() < deadline, f"no {text!r} in {said!r}"
            if select.select([self.end], [], [], 0.2)[0]:
                said += os.read(self.end, 65536).decode(errors="replace")
        return said

    def type(self, text: str) -> None:
        os.write(self.end, text.encode())

    def run(self, line: str) -> str:
        # the mark that is waited for is put together by the shell: what is typed does not hold it
        self.type(f"{line}; echo 'rea''dy'\n")
        return self.wait_for("ready")

    def completed(self, text: str) -> str:
        """Type a line and a tab; return what the line is then: it is made an argument of echo."""
        self.type(text + "\t")
        time.sleep(2.0)
        self.type("\x01echo 'li''ne:' \x05 'en''d'\n")
        said = self.wait_for("line:")
        said += self.wait_for("end") if "end" not in said.split("line:")[-1] else ""
        return re.search(r"line: (.*?) *end", said.replace("\r", ""), re.DOTALL)[1]

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self.end, b"\x15exit\n")
        os.close(self.end)
        os.waitpid(self.pid, 0)


@pytest.fixture
def terminal(request, tmp_path):
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    opened = Terminal(request.param, tmp_path)
    yield opened
    opened.close()


# JAX, where another test imported it, warns at any fork; the child is replaced by a shell at once
@pytest.mark.filterwarnings("ignore:.*fork.*")
@pytest.mark.parametrize("terminal", SHELLS, indirect=True)
def test_a_tab_completes_in_the_shell_itself(terminal):
    assert terminal.completed("fairpriv ver") == "fairpriv verify"
    assert terminal.completed("fairpriv run experiment=attribute_c") == "fairpriv run experiment=attribute_conceal"
    assert terminal.completed("fairpriv run defense=conceal,lapl") == "fairpriv run defense=conceal,laplace"
    assert terminal.completed("fairpriv run exper") == "fairpriv run experiment="
    (Path(f"/proc/{terminal.pid}/cwd").resolve() / "people.csv").touch()
    assert terminal.completed("fairpriv assess peop") == "fairpriv assess people.csv"


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("run experiment=ldp_fairness_", ["experiment=ldp_fairness_appendix"]),
        ("run experiment=attribute_conceal eps", ["epsilon="]),
        ("run profile=", ["profile=paper", "profile=quick", "profile=smoke"]),
        ("run dataset=csv dataset.pro", ["dataset.protected="]),
        ("run reuse=s", ["reuse=same", "reuse=strict"]),
        ("audit defense=conceal_t", ["defense=conceal_tight"]),
        ("assess people.csv prot", ["protected="]),
        ("show hamm", ["hamman2023"]),
        ("verify attribute_r", ["attribute_reveal"]),
        ("reproduce --profile s", ["smoke"]),
        ("data fetch ger", ["german"]),
        ("desk se", ["serve"]),
        ("desk serve --tok", ["--token-file"]),
        ("completion z", ["zsh"]),
        ("nonsense x", []),
        ("verify --results-dir res", []),
    ],
)
def test_what_may_stand_next(typed, found):
    assert candidates(typed.split(" "), COMMANDS) == found


def test_plugins_of_other_packages_are_offered(shell):
    assert shell("completion", "words", "run", "attack=toy_a").stdout == "attack=toy_attack\n"


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != "desk"])
def test_flags_are_those_of_the_help(capsys, command):
    with contextlib.suppress(SystemExit):
        main([command, "--help"])
    said = capsys.readouterr().out
    listed = re.findall(r"^  (-\S+?)(?: \S+)?(?:, (--\S+).*)?(?:  .*)?$", said, re.MULTILINE)
    told = {flag for pair in listed for flag in pair if flag.startswith("--")}
    assert told <= set(flags(command))
    assert set(flags(command)) <= told | {"--help"}


def test_every_command_with_words_of_its_own_is_known():
    assert set(POSITIONALS) <= set(COMMANDS)
    assert set(COMMANDS) - set(POSITIONALS) == {"report", "doctor"}  # flags only


def test_it_is_fast_and_imports_nothing_heavy():
    code = """
import sys
from fairpriv.cli import main
main(["completion", "words", "run", "dataset=csv", "dataset."])
print([m for m in ("numpy", "hydra", "pandas", "rich") if m in sys.modules], file=sys.stderr)
"""
    before = os.times()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "dataset.path=" in done.stdout
    after = os.times()
    assert after.children_user - before.children_user < 1
