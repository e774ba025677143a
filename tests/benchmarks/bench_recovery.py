"""Our basis pursuit against HiGHS on the same noisy right-hand sides, side by side, on one BLAS thread.

A shared machine stretches the wall clock: ours and HiGHS take turns, and what counts is what the processor spent.
"""

import math
import statistics
import time
from collections.abc import Iterator, Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from fairpriv.attacks.reveal.recovery import Knowledge, Sensing, decode, measurements
from fairpriv.attacks.reveal.recovery.linear_program import linear_program
from fairpriv.mechanisms.noise import Cauchy, Exact
from tests.benchmarks.fastest import fastest, seconds_of

ALLOWED = 4.0  # seconds for n = 10,000, m = 1,000
SIZES = (250, 500, 1000, 2000, 4000)
LARGEST_FOR_HIGHS = 1000
EPSILONS = (5.0, 10.0, 100.0, 1000.0, math.inf)


def problem(n: int, m: int, n0: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[Knowledge]]:
    """Random 0/1 queries answered through Attribute-Conceal as printed (hamman2023, Algorithm 3) at every epsilon."""
    rng = np.random.default_rng(0)
    h = rng.integers(0, 2, (m, n)).astype(float)
    group = np.ones(n, dtype=int)
    group[rng.permutation(n)[:n0]] = 0
    n1, answers, known = n - n0, [], []
    for epsilon in EPSILONS:
        law = Exact()
        if epsilon < math.inf:
            far = math.exp(-(n0 - 2) * epsilon / (6 * m)) * (m / (n - 1) + m / 2)
            law = Cauchy(6 * max(m / (n1 + 1) + m / n0, far) / epsilon)
        answers.append(h @ np.where(group == 1, 1 / n1, -1 / n0) + law.sample(m, rng))
        known.append(Knowledge(n0, n1, law))
    return h, group, np.stack(answers, axis=1), known


def bench() -> list[tuple[str, float, float, float, str]]:
    """Return (name, our seconds, reference seconds, ratio, note) for each measurement."""
    rows = []
    with threadpool_limits(1):
        h, _, answers, known = problem(1000, 500, 50)
        decode("l1", Sensing(h[:50]), answers[:50], known)  # warm up
        eta = measurements(Sensing(h), answers, known)
        reference, highs, turns = 0.0, np.zeros((h.shape[1], eta.shape[1])), []
        for k in range(eta.shape[1]):  # each right-hand side with whichever method is faster on it
            times = []
            for method in ("highs-ds", "highs-ipm"):
                turns.append(seconds_of(lambda: decode("l1", Sensing(h), answers, known)))
                begin = time.process_time()
                highs[:, [k]] = linear_program(Sensing(h), eta[:, [k]], method=method)
                times.append(time.process_time() - begin)
            reference += min(times)
        ours, seconds = decode("l1", Sensing(h), answers, known), statistics.median(turns)
        alike = np.mean((ours > 0.5) == (highs > 0.5))
        above = (np.abs(ours).sum(0) / np.abs(highs).sum(0) - 1).max()
        note = f"{alike:.2%} decided alike; objective at most {above:.0e} above; on each answer HiGHS' faster method"
        rows.append(("l1 decoder, n=1000 m=500, 5 answers, vs HiGHS", seconds, reference, reference / seconds, note))
        h, group, answers, known = problem(10_000, 1_000, 100)
        begin = time.process_time()
        t = decode("l1", Sensing(h), answers, known)
        seconds = time.process_time() - begin
        exact = np.mean((t[:, -1] > 0.5) == (group == 0))
        note = f"{exact:.2%} right without noise; reference: the {ALLOWED:g} s it may take"
        rows.append(("l1 decoder, n=10000 m=1000, 5 answers", seconds, ALLOWED, ALLOWED / seconds, note))
    return rows


def growth(sizes: Sequence[int] = SIZES) -> Iterator[tuple[str, int, float]]:
    """Yield (method, people, seconds for five answers): m = n / 2 queries, one person in twenty in group 0."""
    with threadpool_limits(1):
        for n in sizes:
            h, _, answers, known = problem(n, n // 2, n // 20)
            yield "l1 (ours)", n, fastest(lambda h=h, a=answers, k=known: decode("l1", Sensing(h), a, k), 2)
            if n <= LARGEST_FOR_HIGHS:
                eta = measurements(Sensing(h), answers, known)
                yield "HiGHS, dual simplex", n, fastest(lambda h=h, e=eta: linear_program(Sensing(h), e), 1)
