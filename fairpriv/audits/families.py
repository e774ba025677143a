"""Which audit is whose: every family of mechanisms that claim an ε, by the method that gives their outputs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fairpriv.audits import local, queries, swaps, training
from fairpriv.audits.result import Audit
from fairpriv.defenses.adversarial.dp_postprocess import DpPostprocess
from fairpriv.defenses.adversarial.maad import Maad
from fairpriv.defenses.collection.ldp_collection import LDPCollection
from fairpriv.defenses.fair_learner.ldp_exponentiated_gradient import LDPExponentiatedGradient
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.defenses.query.conceal_aware import ConcealAware
from fairpriv.defenses.representation.base import RepresentationDefense

LOCAL = 30  # as many reports of a local mechanism for each answer of a desk: they come by the thousand
# (defense, settings, randomness); settings name n, m, metric, samples and share, and may name coin
Auditor = Callable[[Any, dict[str, Any], np.random.Generator], Audit]


def _asked(defense: QueryDefense, to: dict[str, Any], rng: np.random.Generator) -> Audit:
    return queries.audit(defense, to["n"], to["m"], to["metric"], samples=to["samples"], rng=rng)


def _swapped(defense: ConcealAware, to: dict[str, Any], rng: np.random.Generator) -> Audit:
    return swaps.audit(defense, to["n"], to["m"], share=to["share"], samples=to["samples"], rng=rng)


def _locally(audit: Callable[..., Audit]) -> Auditor:
    return lambda defense, to, rng: audit(defense, samples=LOCAL * to["samples"], rng=rng)


AUDITORS: dict[type, Auditor] = {  # the first that fits
    ConcealAware: _swapped,
    QueryDefense: _asked,
    LDPCollection: _locally(local.audit_collection),
    LDPExponentiatedGradient: _locally(local.audit_perturbed_groups),
    RepresentationDefense: _locally(local.audit_representation),
    Maad: lambda defense, to, rng: training.audit(
        defense, coin=to.get("coin") or ("s" if defense.debias else "in"), rng=rng
    ),
    DpPostprocess: lambda defense, to, rng: local.audit_counts(defense, samples=to["samples"], rng=rng),
}


def auditor(cls: type) -> Auditor | None:
    """Return what audits a class of defenses, if anything does."""
    return next((audit for kind, audit in AUDITORS.items() if issubclass(cls, kind)), None)
