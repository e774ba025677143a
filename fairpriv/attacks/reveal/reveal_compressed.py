"""hamman2023, Theorem 2 and Algorithm 2: far fewer queries than people reveal a small group (compressed sensing)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.attacks.reveal.base import Attack, Recovery
from fairpriv.attacks.reveal.recovery import DECODERS, Knowledge, Sensing, decide, decode
from fairpriv.attacks.reveal.recovery.reading import sizes_from
from fairpriv.desk import DeskView
from fairpriv.errors import BadRequest
from fairpriv.registry import param, register

CLASSES = {"sp": (None,), "eo": (1,), "eodds": (1, 0)}  # the labels whose people each answer of a metric is about


@register
@dataclass(frozen=True)
class RevealCompressed(Attack):
    """Ask m random models and decode the sparse s̄ of equation (1); `Recovery.score` is that s̄.

    Parameters
    ----------
    m : int
        Number of models, 1 to n; O(N0 log(n/N0)) suffice without noise (Theorem 2).
    queries : "perturbed" or "binary"
        The base model plus Uniform(−width, width), clipped to [0, 1] (Algorithm 2), or random 0/1 predictions.
    width : float
        Half-width of the perturbation.
    decoder : str
        `l1` (the paper's), `lp` or `cvxpy` (the same by general solvers), `box`, `noise_aware` or `maximum_likelihood`.
    metric : "sp", "eo" or "eodds"
        What is asked for. Equal opportunity is about people with Y = 1 only, the others are not recoverable (Remark 2).
    group_sizes : "known" or "estimated"
        Take N0 and N1 as published, or from one more query (Example 1) in the same batch.
    clip : bool
        Clip answers to [-1, 1], where every gap lies, before decoding; the paper decodes them as they come.
    threshold : float
        The share of its full value, 1/N1 + 1/N0, that s̄ has to exceed for group 0: ½ in Algorithm 2, "between 0 and"
        all of it in A.7. By maximum likelihood the N0 largest are group 0, whatever it is.
    """

    name: ClassVar[str] = "reveal_compressed"
    paper: ClassVar[str] = "hamman2023, Theorem 2 and Algorithm 2"
    later: ClassVar[tuple[str, ...]] = ("threshold",)

    m: int = param(40, "number of models, 1 to n", at_least=1)
    queries: str = param(
        "perturbed",
        "base model + Uniform(−width, width), clipped to [0, 1] (Algorithm 2), or random 0/1",
        choices=("perturbed", "binary"),
    )
    width: float = param(0.1, "half-width of the perturbation", above=0, at_most=1)
    decoder: str = param("l1", "how answers are decoded; l1 is the paper's", choices=DECODERS)
    metric: str = param(
        "sp", "what is asked for; eo is about people with Y = 1 only (Remark 2)", choices=tuple(CLASSES)
    )
    group_sizes: str = param(
        "known", "N0 and N1 as published, or from one more query (Example 1)", choices=("known", "estimated")
    )
    clip: bool = param(True, "clip answers to [-1, 1] before decoding (free for an attacker); false: as the paper")
    threshold: float = param(0.5, "share of its full value from which s̄ says group 0", above=0, below=1)

    def __post_init__(self) -> None:
        validate.integer("m", self.m, at_least=1)
        validate.choice("queries", self.queries, ("perturbed", "binary"))
        validate.number("width", self.width, above=0, at_most=1)
        validate.choice("decoder", self.decoder, DECODERS)
        validate.choice("metric", self.metric, tuple(CLASSES))
        validate.choice("group_sizes", self.group_sizes, ("known", "estimated"))
        validate.choice("clip", self.clip, (False, True))
        validate.number("threshold", self.threshold, above=0, below=1)
        if self.metric != "sp" and self.group_sizes == "known":
            raise BadRequest(
                f"group_sizes must be estimated for {self.metric}: sizes are published for all labels together"
            )

    def design(self, view: DeskView, rng: np.random.Generator) -> np.ndarray:
        """Draw the prediction matrix H (Algorithm 2, lines 2 to 4), with a row for the sizes if they are estimated."""
        n = len(view)
        if self.m > n:
            raise BadRequest(f"m must be in 1..{n} (n models already determine all {n} people), got {self.m}")
        if self.queries == "binary":
            h = rng.integers(0, 2, size=(self.m, n)).astype(float)
        else:
            h = np.clip(view.base + rng.uniform(-self.width, self.width, size=(self.m, n)), 0.0, 1.0)
        if self.group_sizes == "estimated":
            alone = np.zeros((1, n))
            for label in CLASSES[self.metric]:
                alone[0, self._people(view, label)[0]] = 1.0  # the first person of each class
            h = np.concatenate([h, alone])
        return h

    def run(self, view: DeskView, rng: np.random.Generator) -> Recovery:
        """Attack one view."""
        return self.run_many([view], rng)[0]

    def run_many(self, views: Sequence[DeskView], rng: np.random.Generator) -> list[Recovery]:
        """Attack several views with the same models: H is drawn and factorised once, all answers decoded together."""
        if not views:
            return []
        if not all(self._alike(views[0], view) for view in views):
            return super().run_many(views, rng)
        h = self.design(views[0], rng)
        answers = [view.ask(h, self.metric).reshape(len(h), -1) for view in views]
        if self.clip:
            answers = [np.clip(a, -1.0, 1.0) for a in answers]
        n = len(views[0])
        groups, scores = np.full((n, len(views)), -1), np.full((n, len(views)), np.nan)
        for k, label in enumerate(CLASSES[self.metric]):
            people = self._people(views[0], label)
            column = np.stack([a[:, k] for a in answers], axis=1)
            known = [self._knowledge(view, h, column[-1, i], k, len(people)) for i, view in enumerate(views)]
            t = decode(self.decoder, Sensing(h[:, people]), column, known)
            groups[people] = decide(self.decoder, t, known, self.threshold)
            scores[people] = t * [who.unit for who in known]  # back to the paper's s̄
        return [Recovery(groups[:, i].copy(), scores[:, i].copy(), len(h)) for i in range(len(views))]

    def _alike(self, first: DeskView, view: DeskView) -> bool:
        """Say whether two views lead to the same H and the same classes of people."""
        return (
            len(first) == len(view)
            and (self.queries == "binary" or np.array_equal(first.base, view.base))
            and (self.metric == "sp" or np.array_equal(first.label, view.label))
        )

    def _people(self, view: DeskView, label: int | None) -> np.ndarray:
        people = np.arange(len(view)) if label is None else np.flatnonzero(view.label == label)
        if len(people) < 2:
            raise BadRequest(f"{self.metric} needs two people with Y = {label}, the test set has {len(people)}")
        return people

    def _knowledge(self, view: DeskView, h: np.ndarray, alone: float, k: int, n: int) -> Knowledge:
        """Collect the public facts behind the k-th answer of a metric about n people."""
        law = view.law(h, self.metric)
        if np.ndim(law.scale):
            law = replace(law, scale=float(law.scale[k]))
        if self.group_sizes == "estimated":
            n0, n1 = sizes_from(alone, n)
        elif view.sizes is not None:
            n0, n1 = view.sizes
        else:
            raise BadRequest("group_sizes must be estimated: this desk does not publish them")
        return Knowledge(n0, n1, law)
