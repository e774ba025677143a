"""What to run: conf/ composed with the command line, checked, and made into plans (one per multirun job).

`compose` talks to Hydra, `overrides` reads the command line, `settings` checks what they make together, `grid` gives
the cells, `folder` their place below results/, `plans` puts it all together.
"""

from fairpriv.config.compose import CONF_GROUPS, option, options, start
from fairpriv.config.overrides import jobs_of
from fairpriv.config.plans import Plan, grids_of, plan, plans

__all__ = ["CONF_GROUPS", "Plan", "grids_of", "jobs_of", "option", "options", "plan", "plans", "start"]
