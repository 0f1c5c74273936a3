"""Measurements of every generation of ROCm's profilers, in one schema.

>>> from kprof.inputs import rocprof
>>> data = rocprof.read("results/")            # doctest: +SKIP
>>> data.kernels, data.counters, data.issues   # doctest: +SKIP
"""

from kprof.inputs.rocprof.data import Data
from kprof.inputs.rocprof.model import COLUMNS, ProfileFile, ProfileIssue
from kprof.inputs.rocprof.names import normalise, short
from kprof.inputs.rocprof.reading import read

__all__ = ["COLUMNS", "Data", "ProfileFile", "ProfileIssue", "normalise", "read", "short"]
