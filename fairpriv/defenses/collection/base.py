"""What a collection defense is: it stands between people and the server that collects their sensitive attributes."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fairpriv.defenses.base import Defense
from fairpriv.mechanisms.budget import Ledger


@dataclass(frozen=True)
class CollectionDefense(Defense):
    """Collects sensitive attributes; `collect` is its one verb.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpriv import CollectionDefense
    >>> from fairpriv.mechanisms.budget import Ledger
    >>> class Suppress(CollectionDefense):
    ...     def collect(self, values, sizes, rng):
    ...         return {name: np.zeros((len(v), sizes[name])) for name, v in values.items()}, Ledger(0.0)
    >>> reports, spent = Suppress().collect({"sex": np.array([0, 1])}, {"sex": 2}, np.random.default_rng(0))
    >>> reports["sex"].shape
    (2, 2)
    """

    @abstractmethod
    def collect(
        self, values: Mapping[str, np.ndarray], sizes: Mapping[str, int], rng: np.random.Generator
    ) -> tuple[dict[str, np.ndarray], Ledger]:
        """Return the indicator matrix (n, k) of every attribute, and the ledger of one person.

        `values` holds codes 0 .. k-1, `sizes` the domain size k of each attribute.
        """
        raise NotImplementedError
