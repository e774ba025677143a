"""Examples divided among groups of given sizes at least cost, where the cost depends on who goes where.

From an optimal division, the next size is reached by moving one example along a cheapest path of groups (g gives one
to h, h another to l, ...): successive shortest paths on as many nodes as there are groups, so that no step looks at all
examples.
"""

import heapq
import itertools

import numpy as np


class Transport:
    """A division of examples among groups, optimal for the sizes it has.

    Parameters
    ----------
    costs : ndarray, examples x groups
        Cost of each example in each group; least, and 0, in the group it starts in.
    start : ndarray of int
        The group each example starts in.
    """

    def __init__(self, costs: np.ndarray, start: np.ndarray) -> None:
        """Start with everyone at home, which costs nothing."""
        self.costs, self.group = costs, start.copy()
        self.k = costs.shape[1]
        self.sizes = np.bincount(start, minlength=self.k)
        self._heaps = {}
        for g in range(self.k):
            rows = np.flatnonzero(start == g)
            for h in range(self.k):
                if h != g:
                    extra = costs[rows, h]
                    order = np.argsort(extra, kind="stable")  # a sorted list is a heap
                    self._heaps[g, h] = list(zip(extra[order].tolist(), rows[order].tolist()))

    @property
    def cost(self) -> float:
        """What the division costs."""
        return float(self.costs[np.arange(len(self.group)), self.group].sum())

    def _edges(self) -> np.ndarray:
        """Return the least cost of moving one example from g to h (inf: g is empty)."""
        found = np.full((self.k, self.k), np.inf)
        for (g, h), heap in self._heaps.items():
            while heap and self.group[heap[0][1]] != g:  # it has left
                heapq.heappop(heap)
            if heap:
                found[g, h] = heap[0][0]
        return found

    def _move(self, g: int, h: int) -> None:
        i = self._heaps[g, h][0][1]
        self.group[i] = h
        for other in range(self.k):
            if other != h:
                heapq.heappush(self._heaps[h, other], (float(self.costs[i, other] - self.costs[i, h]), i))

    def _path(self, sources: np.ndarray, sinks: np.ndarray) -> list[int]:
        """Return the cheapest path of groups from one with too many to one with too few (Bellman and Ford)."""
        edges = self._edges()
        far, before = np.where(sources, 0.0, np.inf), np.full(self.k, -1)
        for _ in range(self.k - 1):
            through = far[:, None] + edges
            nearest = through.argmin(axis=0)
            closer = through[nearest, np.arange(self.k)] < far - 1e-15  # rounding makes no circle cheaper
            if not closer.any():
                break
            far = np.where(closer, through[nearest, np.arange(self.k)], far)
            before = np.where(closer, nearest, before)
        path = [int(np.argmin(np.where(sinks, far, np.inf)))]
        while before[path[0]] >= 0 and len(path) <= self.k:
            path.insert(0, int(before[path[0]]))
        return path

    def reach(self, sizes: np.ndarray) -> None:
        """Move as few and as cheap examples as these sizes ask for."""
        while (self.sizes != sizes).any():
            path = self._path(self.sizes > sizes, self.sizes < sizes)
            steps = list(itertools.pairwise(path))
            # from the end, so that who arrives is not who leaves: each edge's example is the one it was priced with
            for g, h in reversed(steps):
                self._edges()
                self._move(g, h)
            self.sizes[path[0]] -= 1
            self.sizes[path[-1]] += 1

    def prices(self) -> list[np.ndarray]:
        """Return two vectors of prices of a place in each group under which everyone is where it is cheapest to be.

        They support the least cost, a function of the sizes, from below: cost(sizes) >= lower(prices) - prices . sizes.
        """
        edges = self._edges()
        least, most = np.zeros(self.k), np.zeros(self.k)
        for _ in range(self.k):
            least = np.minimum(least, (edges + least[None, :]).min(axis=1))
            most = np.maximum(most, (most[:, None] - edges).max(axis=0))
        return [least, most]

    def lower(self, prices: np.ndarray) -> float:
        """Return the sum over examples of the cheapest place at these prices."""
        return float((self.costs + prices).min(axis=1).sum())
