"""A plug-in whose import fails: it is listed with its error and breaks nothing else."""

import package_that_is_not_there  # noqa: F401
