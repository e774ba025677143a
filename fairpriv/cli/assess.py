"""`fairpriv assess people.csv label=hired protected=sex`."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairpriv import strict_json
from fairpriv.cli import arguments
from fairpriv.errors import BadRequest, unknown

HELP = """\
What would answers about bias reveal about the people in your table, and what protects them? One page, in plain words.

examples:
  fairpriv assess people.csv label=hired protected=sex
  fairpriv assess people.csv label=hired protected=sex,race prediction=score epsilon=1 queries=20

  label=COLUMN        the true outcome; two values, or more with positive=
  protected=COLUMN    the protected attribute, or several: sex,race
  prediction=COLUMN   the model's decisions or scores (default: a model is trained here)
  positive=VALUE      the favourable value of the label (default: the first of 1/0, true/false, yes/no, good/bad,
                      >50K/<=50K where these are its values; the page says which)
  privileged=VALUE    the advantaged group, or several: male,white (default: the largest)
  queries=M           questions answered within the budget (default: 10)
  epsilon=E           the budget (default: the recommended one)
  tolerance=5         points above guessing that the recommended budget allows the strongest attacker
  seed=0              of every random draw
  results_dir=results the page goes to results/assess/NAME OF THE FILE/

Nothing leaves this machine, and the page holds numbers about groups only.
"""
NUMBERS = {"queries": "a whole number", "epsilon": "a number", "tolerance": "a number", "seed": "a whole number"}
KEYS = ("label", "protected", "prediction", "positive", "privileged", *NUMBERS, "results_dir")


def main(argv: Sequence[str]) -> int:
    """Assess a CSV file and write its page."""
    parser = arguments.parser("assess", HELP)
    parser.add_argument("words", nargs="*", metavar="FILE key=value", help="the CSV file and what is in it")
    parser.add_argument("--json", action="store_true", help="print assess.json and nothing else")
    args = parser.parse_intermixed_args(argv)
    path, said = _read(args.words)
    results = Path(said.pop("results_dir", "results")).expanduser()

    from fairpriv.assessment.api import assess
    from fairpriv.datasets.csv import read_table
    from fairpriv.datasets.sources import file_sum
    from fairpriv.runner.folder import check_writable

    if not path.is_file():
        raise BadRequest(f"no such file: {path}" + (" is a directory" if path.is_dir() else ""))
    check_writable(folder := results / "assess" / path.stem)
    say = (lambda _: None) if args.json else (lambda text: print(f"fairpriv: {text}", file=sys.stderr, flush=True))
    say(f"reading {path.name}")
    found = assess(read_table(path), name=path.name, say=say, **said)
    source = {"name": path.name, "sha256": file_sum(path)}
    command = ("fairpriv", "assess", *map(shlex.quote, args.words))
    found = replace(found, source=source, command=command)
    folder = found.write(folder)
    if args.json:
        print(strict_json.dumps(found.as_dict()))
        return 0
    for line in found.headline:
        print(line)
    print(f"{folder / 'page.html'}")
    return 0


def _read(words: Sequence[str]) -> tuple[Path, dict[str, Any]]:
    """Return the file and the settings; what is missing or misspelt is said in one line."""
    files = [word for word in words if "=" not in word or Path(word).is_file()]
    if len(files) != 1:
        raise BadRequest(
            f"assess takes one CSV file, got {len(files)}: fairpriv assess FILE label=COLUMN protected=COLUMN"
        )
    said: dict[str, Any] = {}
    for word in words:
        if word == files[0]:
            continue
        key, _, value = word.partition("=")
        if key not in KEYS:
            raise unknown("setting of assess", key, KEYS)
        if key in said:
            raise BadRequest(f"{key} is given twice")
        said[key] = _number(key, value) if key in NUMBERS else value
    for key in ("label", "protected"):
        if not said.get(key):
            raise BadRequest(f"assess needs {key}=COLUMN")
    return Path(files[0]).expanduser(), {key: value for key, value in said.items() if value not in ("", "null")}


def _number(key: str, text: str) -> float | int | str:
    if text in ("", "null"):
        return text
    try:
        return float(text) if NUMBERS[key] == "a number" else int(text)
    except ValueError:
        raise BadRequest(f"{key} must be {NUMBERS[key]}, got {text!r}") from None
