"""Changes of knobs, tried out by recompiling: what they do to spills, registers, occupancy and the hot loop."""

from kprof_analyzers.trials.measure import Measure, measure
from kprof_analyzers.trials.search import Trial, Trials, advise, advised
from kprof_analyzers.trials.timing import timed

__all__ = ["Measure", "Trial", "Trials", "advise", "advised", "measure", "timed"]
