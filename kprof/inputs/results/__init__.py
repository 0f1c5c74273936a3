"""What other tools and libraries of ROCm write down: benchmarks, tuned solutions, databases, logs, profiles.

Each format is one file in ``formats/``; a file is recognised by its content. Everything becomes rows with the units in
their names, so that one command and one frame show them all.
"""

from kprof.inputs.results.model import ToolResults
from kprof.inputs.results.reading import read, recognised

__all__ = ["ToolResults", "read", "recognised"]
