"""Read files of other ROCm tools and libraries: benchmarks, tuned solutions, databases, logs and profiles.

Each format is one module in ``formats/``; a file's format is recognised by its content. All results become rows whose
column names contain the units, so that one command and one data frame can show them.
"""

from kprof.inputs.results.model import ToolResults
from kprof.inputs.results.reading import read, recognised

__all__ = ["ToolResults", "read", "recognised"]
