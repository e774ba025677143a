"""Random streams: every one derives from (experiment, what it depends on, seed, role) through numpy's SeedSequence."""

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, numbers that are equal written alike."""

    def plain(v: Any) -> Any:
        if isinstance(v, Mapping):
            return {str(k): plain(x) for k, x in v.items()}
        if isinstance(v, (list, tuple)):
            return [plain(x) for x in v]
        if isinstance(v, float) and v.is_integer():
            return int(v)  # epsilon=5 and epsilon=5.0 are the same cell
        return v

    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"))


def digest(value: Any) -> str:
    """Return the sha256 of a value's canonical text."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def stream(*what: Any) -> "np.random.Generator":
    """Return the generator of this experiment, these values, this seed and this role."""
    import numpy as np  # commands that draw nothing do without it

    words = np.frombuffer(bytes.fromhex(digest(list(what))), dtype=np.uint32)
    return np.random.default_rng(np.random.SeedSequence(words.tolist()))
