"""`make bench`: every measurement of tests/benchmarks, each against its peer in one run.

Ratios and growth go to results/benchmarks.csv, the growth also to log-log figures in results/benchmarks/. A run of some
parts replaces their rows and leaves the others.
"""

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from fairpriv.runner.pin import processor
from tests import benchmarks
from tests.benchmarks import figures

COLUMNS = ["bench", "what", "size", "seconds", "peer_seconds", "ratio", "note", "processor"]
NAMES = sorted(m.name.removeprefix("bench_") for m in pkgutil.iter_modules(benchmarks.__path__) if "bench_" in m.name)


def ratios(name: str) -> Iterator[dict[str, object]]:
    """Yield the rows of a part's `bench()`."""
    for what, ours, peer, ratio, note in importlib.import_module(f"tests.benchmarks.bench_{name}").bench():
        print(f"{what}: ours {ours:.4g} s, reference {peer:.4g} s, ratio {ratio:.3g}  {note}", flush=True)
        yield {"what": what, "seconds": ours, "peer_seconds": peer, "ratio": ratio, "note": note}


def growths(name: str, tiny: bool) -> Iterator[dict[str, object]]:
    """Yield the rows of a part's `growth()`, if it has one."""
    module = importlib.import_module(f"tests.benchmarks.bench_{name}")
    if hasattr(module, "growth"):
        for what, size, seconds in module.growth(module.SIZES[: 1 if tiny else None]):
            print(f"{name}, {what}: size {size}, {seconds:.4g} s", flush=True)
            yield {"what": what, "size": size, "seconds": seconds}


def merged(path: Path, rows: list[dict[str, object]], names: list[str]) -> pd.DataFrame:
    """Return the table with these parts' rows anew and the others' as they were."""
    made = pd.DataFrame(rows, columns=COLUMNS)
    if not path.is_file():
        return made
    before = pd.read_csv(path)
    parts = [part for part in (before[~before["bench"].isin(names)], made) if len(part)]
    return pd.concat(parts, ignore_index=True).sort_values("bench", kind="stable", ignore_index=True)


def main(argv: list[str]) -> int:
    """Measure the parts named (or all) and write what was found."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PART", help=", ".join(NAMES))
    parser.add_argument("--into", default="results", type=Path, metavar="PATH", help="default: results")
    parser.add_argument(
        "--tiny", action="store_true", help="the smallest size of each growth, no ratios: does it work?"
    )
    args = parser.parse_args(argv)
    if wrong := set(args.names) - set(NAMES):
        parser.error(f"no part {', '.join(sorted(wrong))}: valid: {', '.join(NAMES)}")
    names = args.names or NAMES
    path = args.into / "benchmarks.csv"
    for name in names:
        rows = [*([] if args.tiny else ratios(name)), *growths(name, args.tiny)]
        rows = [{"bench": name, "processor": f"{processor()}, {os.cpu_count()} cores"} | row for row in rows]
        if not rows:
            continue
        args.into.mkdir(parents=True, exist_ok=True)
        merged(path, rows, [name]).to_csv(path, index=False, float_format="%.6g")  # part by part: nothing is lost
    if path.is_file():
        for figure in figures.draw(pd.read_csv(path), args.into / "benchmarks"):
            print(figure)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
