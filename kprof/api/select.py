"""``kprof.select``: which implementation and configuration to use for a shape."""

from kprof.tuning.choice import Candidate, Selection, select

__all__ = ["Candidate", "Selection", "select"]
