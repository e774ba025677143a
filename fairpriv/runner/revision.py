"""The git revision of the code that runs."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def git(*words: str) -> str | None:
    """Return what git says of the checkout the code runs from; None where it is none."""
    if not (ROOT / ".git").exists():
        return None
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


@cache
def revision() -> str:
    """Return the revision, with "+" where the code or its configs have local changes; nothing outside a checkout."""
    head = git("rev-parse", "HEAD")
    if head is None:
        return ""
    return head + ("+" if git("status", "--porcelain", "fairpriv", "conf") else "")
