"""`fairpriv run`: an experiment's cells, computed or reused."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairpriv import strict_json
from fairpriv.cli import arguments

RUN_HELP = """\
Run an experiment: its grid of cells, in parallel, resumable; results/NAME/ then holds cells.csv, tables/, figures/ and
manifest.json. The same command again computes only what is missing.

examples:
  fairpriv run experiment=attribute_conceal                     the default profile (quick)
  fairpriv run experiment=attribute_conceal profile=smoke       seconds; profile=paper is the paper's own grid
  fairpriv run experiment=attribute_conceal epsilon=[1,10] m=50 pin axes of the grid
  fairpriv run experiment=attribute_conceal dataset=csv dataset.path=my.csv dataset.label=hired dataset.protected=sex
  fairpriv run experiment=attribute_conceal -m defense=conceal,laplace epsilon=1,10
                                                                one folder per combination (Hydra's whole sweep grammar)
  fairpriv run experiment=attribute_reveal engine=dask jobs=2   another engine (local, dask, ray)
"""


def main(argv: Sequence[str]) -> int:
    """Run an experiment."""
    parser = arguments.parser("run", RUN_HELP)
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="experiment=NAME and any Hydra override")
    parser.add_argument("-m", "--multirun", action="store_true", help="run every combination of a=1,2 range() glob(*)")
    parser.add_argument("--conf-dir", metavar="PATH", help="a folder of your own configs, laid out like conf/")
    parser.add_argument("--dry-run", action="store_true", help="say what would run and stop")
    arguments.as_json(parser)
    args = parser.parse_intermixed_args(argv)

    from fairpriv import config
    from fairpriv.runner import driver, output
    from fairpriv.runner.progress import Progress
    from fairpriv.runner.signals import stopping

    config.start(args.conf_dir)
    plans = config.plans(args.overrides, args.multirun)
    for note in filter(None, (p.note for p in plans)):
        print(f"fairpriv: {note}", file=sys.stderr)
    if args.dry_run:
        _say_plans(driver.survey(plans), args.json)
        return 0
    with stopping():
        outcomes = driver.execute(plans, Progress(quiet=args.json), output.write)
    _say_outcomes(outcomes, args.json)
    if stopped := max((o.interrupted for o in outcomes), default=0):
        again = shlex.join(["fairpriv", "run", *argv])
        print(f"interrupted: the same command resumes where it stopped: {again}", file=sys.stderr)
        return stopped
    if any(o.failed for o in outcomes):
        status = shlex.join(_status_command(plans))
        print(f"some cells failed: `{status}` shows why; the same command tries them again", file=sys.stderr)
        return 1
    return 0


def _say_plans(surveys: Sequence[Any], as_json: bool) -> None:
    """Print what a run would do: how many cells are done, missing or outdated and why, and the time it will take."""
    if as_json:
        print(strict_json.dumps([vars(survey) for survey in surveys]))
        return
    for survey in surveys:
        print(f"{survey.folder}: {survey.told} ({survey.jobs} workers, engine {survey.engine})")
        for why, number in survey.why_outdated.items():
            print(f"  {number} outdated: {why}")


def _say_outcomes(outcomes: Sequence[Any], as_json: bool) -> None:
    """Print how each job ended, with its verdicts."""
    if as_json:
        print(strict_json.dumps([vars(o) for o in outcomes]))
        return
    for o in outcomes:
        print(
            f"{o.folder}: {o.done}/{o.cells} cells done ({o.reused} reused), {o.failed} failed, "
            + (f"{o.not_run} not run, " if o.not_run else "")
            + f"{o.seconds:.1f} s"
        )
        if o.done:
            _say_verdicts(o.folder)


def _status_command(plans: Sequence[Any]) -> list[str]:
    """Return the command that shows what became of these plans."""
    names = {p.experiment for p in plans}
    results = str(plans[0].config["results_dir"])
    return [
        *("fairpriv", "status", *(names if len(names) == 1 else ())),
        *(("--results-dir", results) if results != "results" else ()),
    ]


def _say_verdicts(folder: Path) -> None:
    """Print the verdicts of a finished run by kind and cause."""
    path = folder / "tables" / "verdicts.csv"
    if path.exists():
        import pandas as pd

        from fairpriv.report.counts import count

        print(f"  against the paper: {count(pd.read_csv(path, keep_default_na=False))} ({path})")
