"""Which implementation and configuration to use for a shape: ``kprof.select``."""

from kprof.tuning.choice.choose import choose, select
from kprof.tuning.choice.model import Candidate, ImplementationChoice

__all__ = ["Candidate", "ImplementationChoice", "choose", "select"]
