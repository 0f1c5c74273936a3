"""Read PyTorch profiler (Kineto) traces and Proton profiles.

:func:`load` returns the linked tables of one trace; :class:`TraceReader` streams its events in bounded memory.
"""

from kprof.inputs.torch_profiler.load import load
from kprof.inputs.torch_profiler.model import Activity, LinkedTrace, Operator, PythonFrame, RuntimeCall, TraceInfo
from kprof.inputs.torch_profiler.reader import TraceReader

__all__ = ["Activity", "LinkedTrace", "Operator", "PythonFrame", "RuntimeCall", "TraceInfo", "TraceReader", "load"]
