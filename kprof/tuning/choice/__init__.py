"""Choose the implementation and configuration for a shape: ``kprof.select``."""

from kprof.tuning.choice.choose import choose, select
from kprof.tuning.choice.model import ConsideredImplementation, ImplementationChoice

__all__ = ["ConsideredImplementation", "ImplementationChoice", "choose", "select"]
