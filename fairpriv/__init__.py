"""fairpriv: the reference bench for fairness and privacy.

The names in `__all__` are the public API; each is imported when it is first asked for, as some bring much with them.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairpriv.api import audit, load_dataset, run
    from fairpriv.assessment import assess
    from fairpriv.attacks.correction import correct_reconstruction
    from fairpriv.attacks.correction.base import Adversary
    from fairpriv.attacks.reveal.base import Attack, Recovery
    from fairpriv.datasets.base import Dataset, Loader, Table
    from fairpriv.defenses.adversarial.base import DebiasingDefense
    from fairpriv.defenses.base import Defense
    from fairpriv.defenses.collection.base import CollectionDefense
    from fairpriv.defenses.fair_learner.base import FairLearner
    from fairpriv.defenses.query.base import QueryDefense
    from fairpriv.defenses.representation.base import RepresentationDefense
    from fairpriv.desk.compliance import ComplianceDesk
    from fairpriv.errors import BadRequest, DataUnavailable
    from fairpriv.models.base import Model
    from fairpriv.protocols.base import Protocol, Result
    from fairpriv.registry import register

__version__ = "0.2.0"
__all__ = [
    "Adversary",
    "Attack",
    "BadRequest",
    "CollectionDefense",
    "ComplianceDesk",
    "DataUnavailable",
    "Dataset",
    "DebiasingDefense",
    "Defense",
    "FairLearner",
    "Loader",
    "Model",
    "Protocol",
    "QueryDefense",
    "Recovery",
    "RepresentationDefense",
    "Result",
    "Table",
    "assess",
    "audit",
    "correct_reconstruction",
    "load_dataset",
    "register",
    "run",
]

_HOMES = {
    "fairpriv.api": ("audit", "load_dataset", "run"),
    "fairpriv.assessment": ("assess",),
    "fairpriv.attacks.correction": ("correct_reconstruction",),
    "fairpriv.attacks.correction.base": ("Adversary",),
    "fairpriv.attacks.reveal.base": ("Attack", "Recovery"),
    "fairpriv.datasets.base": ("Dataset", "Loader", "Table"),
    "fairpriv.defenses.adversarial.base": ("DebiasingDefense",),
    "fairpriv.defenses.base": ("Defense",),
    "fairpriv.defenses.collection.base": ("CollectionDefense",),
    "fairpriv.defenses.fair_learner.base": ("FairLearner",),
    "fairpriv.defenses.query.base": ("QueryDefense",),
    "fairpriv.defenses.representation.base": ("RepresentationDefense",),
    "fairpriv.desk.compliance": ("ComplianceDesk",),
    "fairpriv.errors": ("BadRequest", "DataUnavailable"),
    "fairpriv.models.base": ("Model",),
    "fairpriv.protocols.base": ("Protocol", "Result"),
    "fairpriv.registry": ("register",),
}


def __getattr__(name: str) -> Any:
    """Import a public name from its home."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'fairpriv' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})
