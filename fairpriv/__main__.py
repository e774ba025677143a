"""`python -m fairpriv`."""

import sys

from fairpriv.cli import main

sys.exit(main())
