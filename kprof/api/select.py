"""``kprof.select``: which implementation and configuration to use for a shape."""

from kprof.tuning.dispatch_table import Selection, select

__all__ = ["Selection", "select"]
