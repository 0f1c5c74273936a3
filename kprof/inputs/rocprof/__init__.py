"""Read measurements of all generations of ROCm's profilers into one schema.

>>> from kprof.inputs import rocprof
>>> data = rocprof.read("results/")            # doctest: +SKIP
>>> data.kernels, data.counters, data.issues   # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kprof.inputs.rocprof.names import normalise, short

if TYPE_CHECKING:
    from kprof.inputs.rocprof.data import Data
    from kprof.inputs.rocprof.model import COLUMNS, ProfileFile, ProfileIssue
    from kprof.inputs.rocprof.reading import read

__all__ = ["COLUMNS", "Data", "ProfileFile", "ProfileIssue", "normalise", "read", "short"]

_PLACES = {"COLUMNS": "model", "Data": "data", "ProfileFile": "model", "ProfileIssue": "model", "read": "reading"}


def __getattr__(name: str) -> Any:
    """Load a reader on first use, because PyTorch traces need none of them."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
