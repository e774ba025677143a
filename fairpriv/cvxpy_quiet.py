"""Importing this keeps cvxpy from telling that HiGHS cannot be imported: nothing that a user could mend.

Beside OR-tools' HiGHS cvxpy does not find its own, which is not used.
"""

import logging

logging.getLogger("__cvxpy__").addFilter(lambda record: "importing solver" not in record.getMessage())
