"""Changes of knobs, tried out by recompiling: what they do to spills, registers, occupancy and the hot loop."""

from kprof.tuning.trials.measure import Measure, measure
from kprof.tuning.trials.search import Trial, Trials, advise, advised
from kprof.tuning.trials.timing import timed

__all__ = ["Measure", "Trial", "Trials", "advise", "advised", "measure", "timed"]
