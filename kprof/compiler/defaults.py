"""How many compiles at a time, and for how long, when nobody says."""

import os

TIMEOUT = 600.0
"""Seconds that one compile may take, far above any real kernel's."""


def default_jobs() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
