"""How the benchmarks take time. Imports nothing of ours: the PyTorch reference uses it from another Python."""

import time
from collections.abc import Callable


def fastest(call: Callable[[], object], times: int = 3) -> float:
    """Return the processor seconds of the fastest of several runs: what others do on the machine only adds."""
    found = []
    for _ in range(times):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)
