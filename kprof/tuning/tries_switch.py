"""Whether cheap cures are compiled by default: read before anything heavy is imported."""

import os

VARIABLE = "KPROF_TRY"
"""Environment variable: ``0`` turns the trial compiles off, as ``--no-try`` does."""


def cures_allowed() -> bool:
    """Return whether the environment leaves the trial compiles on."""
    return os.environ.get(VARIABLE, "1").lower() not in {"0", "off", "no", "false"}
