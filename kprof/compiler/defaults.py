"""Defaults: how many compiles run at a time, and how long one may take."""

import os

TIMEOUT = 600.0
"""Seconds that one compile may take, far above any real kernel's."""


def default_jobs() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
