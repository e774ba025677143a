"""hamman2023, Theorem 3: absolute gaps still split the test set into its two groups."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv.attacks.reveal.base import Attack, Recovery
from fairpriv.attacks.reveal.recovery.reading import sizes_from
from fairpriv.desk import DeskView
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class RevealPartition(Attack):
    """Partition everyone with n queries for |SP|; the smaller part is called group 0, if equal the first person's.

    Absolute gaps cannot say which part is which: the recovery is right up to a swap of the two groups. `Recovery.score`
    holds the answers.
    """

    name: ClassVar[str] = "reveal_partition"
    paper: ClassVar[str] = "hamman2023, Theorem 3 and Appendix A.3"

    def run(self, view: DeskView, rng: np.random.Generator) -> Recovery:
        """Learn the sizes from the first person alone, then ask for the others alone, or in pairs with the first."""
        n = len(view)
        alone = np.eye(n)
        first = view.ask(alone[:1], "abs_sp")
        part, other = sizes_from(-first[0], n)  # |SP| = 1/N_α, α the first person's part
        if part != other:
            gap = np.concatenate([first, view.ask(alone[1:], "abs_sp")])
            smaller = gap > 0.5 * (1.0 / part + 1.0 / other)  # 1/N_α or 1/N_β, whichever is nearer
            return Recovery(np.where(smaller, 0, 1), gap, n)
        pairs = alone[1:]
        pairs[:, 0] = 1.0
        gap = np.concatenate([first, view.ask(pairs, "abs_sp")])
        same = gap > 1.0 / part  # 2/N_α with another of α, 0 with one of β
        same[0] = True
        return Recovery(np.where(same, 0, 1), gap, n)
