r"""Sensitivities of one bias query: global, local and smooth (hamman2023, Sections 4 and 4.1, Appendices A.4 to A.6).

Everything here is *per query*: one person is in all m queries, so the l1 sensitivity of m answers is m times these
numbers, and the l2 sensitivity sqrt(m) times. Predictions lie in [0, 1]; neighbours differ in one person's group, and
both groups keep at least one member in every dataset considered. Sizes are those of the people a metric looks at: all
of them for `sp`, those with Y = 1 for `eo`. Equalized odds asks twice, among Y = 1 and among Y = 0; a person is in
exactly one of the two classes, so a neighbour moves only the m answers of that class. Each class is calibrated to its
own sizes with the whole budget, and `eodds` has the sensitivity of `eo` within the class (parallel composition).

When one person moves, let p be the larger size of group 0 and q that of group 1 over the two datasets; p + q = n + 1.
The worst shift of the gap is 1/p + 1/q (Appendix A.4), that of its absolute value n / (p q), both attained.

Predictive rate parity (`prp`, Remark 2: no sensitivity is printed) compares those a model accepts, and a model may
accept one person alone. If that person has Y = 1 the gap is -1 in group 0 and 1 in group 1: moving them changes it by
2, all there is to change. The absolute gap changes by 1, all there is: accept one of group 0 and some of group 1, all
with Y = 1, and the gap 0 becomes 1 as the one moves. So the global sensitivity is 2 (1), that of every data set whose
groups keep a member is the same, and so is the smooth one: over all models, large groups are no safer than small ones.

Where this departs from the print
---------------------------------
* Theorem 7 and Appendix A.6 (absolute gap) are too small. Step (b) of A.4.1 puts lambda = 0; the worst lambda makes one
  of the two gaps zero. Counterexample, n = 4: a = (0, 0, 1, 1), h = (0, 1, 0, 1) has |SP| = 0; moving the first person
  to group 1 gives |SP| = |1/3 - 1| = 2/3 > 1/2. The right value is n/(p q) = (1/p + 1/q) n/(n + 1), so the global one
  is n / (2(n - 1)) instead of 1/2; with equal groups the printed local one, 1/N0, is too small almost by two.
* Delta_EO = 1/2 + 1/(n - 1) holds with n the number of people with Y = 1, not the test set: with 3 of 100 people at
  Y = 1 the gap moves by 1, not 0.51.
* Theorem 5 puts N0 <= N1 (here roles swap otherwise) and N0 >= 2. At N0 = 1 its closed form is about twice that at
  N0 = 2, which breaks smoothness, hence privacy: at n = 100, m = 40, epsilon = 5 the answers lose 27. A lone member
  cannot leave, so the right value is the global sensitivity.
* Appendix A.5 is right in its claim (the maximum is at the ends) but its third term is negative, not positive. With
  u = N0 - k: beta^2/u - 2 beta/u^2 + 2/u^3 = ((beta - 1/u)^2 + 1/u^2) / u > 0; the terms in N1 + k + 1 are positive.
"""

import math

from fairpriv import validate
from fairpriv.errors import BadRequest
from fairpriv.metrics.bias import METRICS


def _worst_shift(metric: str, p: int, n: int) -> float:
    """Return the worst change of a gap when one group shrinks from p to p - 1 among n people."""
    if metric.endswith("prp"):
        return 1.0 if metric.startswith("abs_") else 2.0  # whatever the sizes: see above
    shift = 1 / p + 1 / (n + 1 - p)
    return shift * n / (n + 1) if metric.startswith("abs_") else shift


def check_sizes(metric: str, n0: int, n1: int) -> None:
    """Refuse an unknown metric, an empty group, and a set where nobody can change groups."""
    validate.choice("metric", metric, METRICS)
    validate.integer("n0", n0, at_least=1)
    validate.integer("n1", n1, at_least=1)
    if n0 + n1 < 3:
        raise BadRequest("n must be >= 3: of 2 people neither can change groups without emptying one")


def global_sensitivity(metric: str, n: int) -> float:
    """Return the largest change of one answer between neighbours among n people (Theorem 4; Theorem 7 corrected)."""
    check_sizes(metric, 1, n - 1)
    return _worst_shift(metric, 2, n)  # attained between groups of 2 and of 1


def local_sensitivity(metric: str, n0: int, n1: int) -> float:
    """Return the largest change of one answer from groups of n0 and n1, over all predictions in [0, 1]."""
    check_sizes(metric, n0, n1)
    return _worst_shift(metric, max(min(n0, n1), 2), n0 + n1)  # the smaller group loses a member, if it has two


def smooth_sensitivity(metric: str, n0: int, n1: int, beta: float) -> float:
    """Return the beta-smooth sensitivity of one answer (Definition 4.3; Theorem 5 and A.6, corrected as said above).

    The local sensitivity falls as the smaller group grows, so at distance k it is worst with k people fewer there; that
    is convex in k (A.5), so the maximum is at k = 0 or where the smaller group is down to two.
    """
    validate.number("beta", beta, at_least=0)
    local = local_sensitivity(metric, n0, n1)
    steps = max(min(n0, n1), 2) - 2
    return max(local, math.exp(-steps * beta) * global_sensitivity(metric, n0 + n1))  # Theorem 5, step (c)
