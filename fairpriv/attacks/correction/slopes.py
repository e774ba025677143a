"""Rates as slopes: a bound on a/(a + b) is a line through the origin, and its integer points are counted exactly.

A group with a positive and b negative predictions has a rate of at most r when b >= a(1 - r)/r, of at least r when
b <= a(1 - r)/r. The slope x = (1 - r)/r may have a denominator of any length (a tolerance with 17 digits); since a
never exceeds some n, x can be replaced by the nearest fraction on the same side with a denominator of at most n: the
integers floor(a x), a = 0..n, stay the same, as floor(a x)/a is itself such a fraction. So 64-bit integers do.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np


def below(x: Fraction, n: int) -> Fraction:
    """Return the largest fraction <= x with a denominator of at most n (walk down the Stern-Brocot tree)."""
    whole, num, den = x.numerator // x.denominator, x.numerator % x.denominator, x.denominator
    if den <= n:
        return x
    a, b, c, d = 0, 1, 1, 1  # a/b <= num/den < c/d, neighbours: nothing between them has a denominator below b + d
    while True:
        low, high = num * b - a * den, c * den - num * d
        t = min(low // high, (n - b) // d)
        a, b = a + t * c, b + t * d
        low -= t * high
        if low == 0 or b + d > n:
            return whole + Fraction(a, b)
        t = min((high - 1) // low, (n - d) // b)
        c, d = c + t * a, d + t * b
        if b + d > n:
            return whole + Fraction(a, b)


def above(x: Fraction, n: int) -> Fraction:
    """Return the smallest fraction >= x with a denominator of at most n."""
    return -below(-x, n)


def floors(a: np.ndarray, x: Fraction) -> np.ndarray:
    """Return floor(a x) for whole a >= 0, where x has a denominator of at most max(a)."""
    whole, part = divmod(x.numerator, x.denominator)
    return a * whole + (a * part) // x.denominator if part else a * whole


def ceils(a: np.ndarray, x: Fraction) -> np.ndarray:
    """Return ceil(a x), likewise."""
    return -floors(a, -x)


def slope(rate: Fraction, n: int) -> Fraction:
    """Return (1 - r)/r, cut to [0, n + 1]: with at most n examples a steeper line says nothing more."""
    return Fraction(n + 1) if rate <= 0 else max(Fraction(0), min((1 - rate) / rate, Fraction(n + 1)))


@lru_cache(maxsize=64)  # asked again for every exponent of the confidences
def rate_slopes(rates: tuple[Fraction, Fraction], positives: int, n: int) -> tuple[Fraction, Fraction | None] | None:
    """Return (x, z) such that the rate is within bounds if and only if a x <= b <= a z, for a <= positives, a + b > 0.

    z is None where there is no upper bound on b; the whole is None where nothing can meet the bounds.
    """
    low, high = rates
    if low > high or low > 1 or high < 0:
        return None
    a = max(positives, 1)
    return above(slope(high, n), a), None if low <= 0 else below(slope(low, n), a)
