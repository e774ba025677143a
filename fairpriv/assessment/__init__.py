"""What answers about bias reveal in one's own table, and how far privacy helps: `fairpriv assess`."""

from fairpriv.assessment.api import Assessment, assess

__all__ = ["Assessment", "assess"]
