"""Local differential privacy: frequency oracles of one categorical value a user, by the name they have in conf/."""

from fairpriv.mechanisms.ldp.base import LDPProtocol
from fairpriv.mechanisms.ldp.grr import GRR
from fairpriv.mechanisms.ldp.histogram_encoding import SHE, THE
from fairpriv.mechanisms.ldp.local_hashing import BLH, OLH, BestLH
from fairpriv.mechanisms.ldp.subset_selection import SubsetSelection
from fairpriv.mechanisms.ldp.unary_encoding import OUE, Rappor

# The seven of arcolezi2023 in the order of its legends, then ours.
PROTOCOLS: dict[str, type[LDPProtocol]] = {
    protocol.name: protocol for protocol in (GRR, BLH, OLH, Rappor, OUE, SubsetSelection, THE, SHE, BestLH)
}

__all__ = ["BLH", "GRR", "OLH", "OUE", "PROTOCOLS", "SHE", "THE", "BestLH", "LDPProtocol", "Rappor", "SubsetSelection"]
