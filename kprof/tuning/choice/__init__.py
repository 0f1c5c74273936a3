"""Which implementation and configuration to use for a shape: ``kprof.select``."""

from kprof.tuning.choice.choose import choose, select
from kprof.tuning.choice.model import Candidate, Selection

__all__ = ["Candidate", "Selection", "choose", "select"]
