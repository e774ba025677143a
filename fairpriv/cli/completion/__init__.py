"""`fairpriv completion bash|zsh|fish`: the script that makes a shell complete our commands."""

from collections.abc import Sequence
from pathlib import Path

from fairpriv.cli import COMMANDS, arguments

SHELLS = ("bash", "zsh", "fish")
HELP = """\
Print the script that makes a shell complete commands, experiments, plug-ins, axes and flags.

  bash   echo 'source <(fairpriv completion bash)' >> ~/.bashrc
  zsh    fairpriv completion zsh > "${fpath[1]}/_fairpriv"
  fish   fairpriv completion fish > ~/.config/fish/completions/fairpriv.fish
"""


def main(argv: Sequence[str]) -> int:
    """Print a shell's completion script; `words ...`, which the scripts call, prints what may stand next."""
    if argv and argv[0] == "words":
        from fairpriv.cli.completion.words import candidates

        print(*candidates(argv[1:], COMMANDS), sep="\n")
        return 0
    parser = arguments.parser("completion", HELP)
    parser.add_argument("shell", choices=SHELLS)
    args = parser.parse_args(argv)
    print(Path(__file__).with_name(f"fairpriv.{args.shell}").read_text(encoding="utf-8"), end="")
    return 0
