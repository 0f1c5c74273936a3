"""The switch for trial compiles of inexpensive cures, in a module without heavy imports."""

import os

VARIABLE = "KPROF_TRY"
"""Environment variable: ``0`` turns the trial compiles off, as ``--no-try`` does."""


def cures_allowed() -> bool:
    """Return whether the environment allows trial compiles."""
    return os.environ.get(VARIABLE, "1").lower() not in {"0", "off", "no", "false"}
