"""Try changes of knobs by recompiling, and compare time, spills, registers, occupancy and the hot loop."""

from kprof.tuning.trials.climb import reported
from kprof.tuning.trials.measure import Measure, measure
from kprof.tuning.trials.search import advise, advised
from kprof.tuning.trials.trial import Trials

__all__ = ["Measure", "Trials", "advise", "advised", "measure", "reported"]
