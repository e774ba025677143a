"""What a server that keeps indicators can say of a person's value."""

import numpy as np

from fairpriv.mechanisms.ldp.base import LDPProtocol


def seen_likelihood(protocol: LDPProtocol, seen: np.ndarray) -> np.ndarray:
    """Return log Pr[what the server sees | value]: of a report it sees which values it supports, and no more.

    Nothing is lost by that: the likelihood of a report, of local hashing too, depends on its indicator alone.
    """
    as_seen = type(protocol.name, (type(protocol),), {"indicator": lambda self, reports: reports})
    return as_seen(protocol.k, protocol.epsilon).log_likelihood(seen)
