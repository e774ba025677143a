from fractions import Fraction

import numpy as np

from fairpriv.attacks.correction.slopes import above, below, ceils, floors


def test_nearest_fractions_by_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(400):
        x = Fraction(int(rng.integers(0, 10**6)), int(rng.integers(1, 10**5)))
        n = int(rng.integers(1, 40))
        assert below(x, n) == max(Fraction((x * q).__floor__(), q) for q in range(1, n + 1))
        assert above(x, n) == min(Fraction((x * q).__ceil__(), q) for q in range(1, n + 1))


def test_rounded_multiples_are_exact_for_long_denominators():
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(1, 300))
        x = Fraction(int(rng.integers(1, 2**60)), int(rng.integers(1, 2**60)))
        if rng.random() < 0.3:
            x = Fraction(int(rng.integers(1, 50)), int(rng.integers(1, 50))) + Fraction(
                int(rng.integers(-1, 2)), 10**30
            )
        a = np.arange(n + 1)
        np.testing.assert_array_equal(floors(a, below(x, n)), [(x * int(i)).__floor__() for i in a])
        np.testing.assert_array_equal(ceils(a, above(x, n)), [(x * int(i)).__ceil__() for i in a])
