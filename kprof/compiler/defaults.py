"""Defaults: number of parallel compiles, and maximum duration of a compile."""

import os

TIMEOUT = 600.0
"""Maximum seconds for one compile, far above any real kernel's."""


def default_jobs() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
