"""The commands ``kprof configs`` and ``kprof lint``."""
