"""How the benchmarks take time. Imports nothing of ours: the PyTorch reference uses it from another Python."""

import time
from collections.abc import Callable, Mapping


def seconds_of(call: Callable[[], object]) -> float:
    """Return the processor seconds of one run."""
    start = time.process_time()
    call()
    return time.process_time() - start


def fastest(call: Callable[[], object], times: int = 3) -> float:
    """Return the processor seconds of the fastest of several runs: what others do on the machine only adds."""
    return min(seconds_of(call) for _ in range(times))


def in_turns(ways: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Return the least seconds that each way gives, over rounds in which all have their turn: load meets all alike.

    One round more, that does not count, comes first: what is compiled is compiled there.
    """
    found = [{name: way() for name, way in ways.items()} for _ in range(rounds + 1)]
    return {name: min(times[name] for times in found[1:]) for name in ways}
