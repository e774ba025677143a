"""`make bench`: every measurement of tests/benchmarks, each a ratio taken side by side in one run."""

import importlib
import pkgutil
import sys

from tests import benchmarks


def main(names: list[str]) -> int:
    """Run bench() of every bench_*.py (or of those named) and print each ratio."""
    modules = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name.startswith("bench_"))
    for name in modules:
        if names and name.removeprefix("bench_") not in names:
            continue
        for what, ours, reference, ratio, note in importlib.import_module(f"tests.benchmarks.{name}").bench():
            print(f"{what}: ours {ours:.4g} s, reference {reference:.4g} s, ratio {ratio:.3g}  {note}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
