"""The one error of everything that is trained by gradient."""

from fairpriv.errors import FairprivError


class TrainingFailed(FairprivError):
    """The loss left the real numbers."""
