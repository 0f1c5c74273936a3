"""``kprof.read_results``: what other tools and libraries of ROCm write down."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from kprof.api.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.results import ToolResults


@dataclass(frozen=True, eq=False, repr=False)
class LibraryResults(Result):
    """The rows of one file.

    Attributes:
        results: who wrote the file, what it says of itself, its rows, and what was not used.
    """

    results: "ToolResults"
    kind: ClassVar[str] = "measurements"

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``kprof ingest results --json`` writes."""
        results = self.results
        return {
            "schema": "kprof.results/1",
            "path": results.path,
            "tool": results.tool,
            "what": results.what,
            "facts": dict(results.facts),
            "rows": [dict(row) for row in results.rows],
            "issues": list(results.issues),
        }

    @property
    def summary(self) -> str:
        """How many rows of what, and what was not used."""
        from kprof.reporters.results_text import verdict

        return verdict(self.results)

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a table; names end in their unit. What a row does not have is ``NA``."""
        from kprof.api.frames import plain_frame

        rows = [dict(row) for row in self.results.rows]
        return plain_frame(rows, dict.fromkeys(name for row in rows for name in row))


def read_results(
    path: "str | os.PathLike[str]", *, code_object: "str | os.PathLike[str] | None" = None
) -> LibraryResults:
    """Read what another tool or a library of ROCm wrote. The format is found by content.

    Args:
        path: output of hipblaslt-bench, rocblas-bench or rccl-tests, a tuning file of hipBLASLt, a table of tuned GEMMs
            (gradlib, vLLM, AITER), a find-db or perf-db of MIOpen, Tensile's logic or benchmark, a log of rocBLAS or
            hipBLASLt calls, a profile of Omnitrace or rocprof-sys, or a report of the ROCr Debug Agent.
        code_object: the code object of a debug agent's report: its line table names the source line of each wavefront.

    Raises:
        InputError: it is missing, too large, of no known format, or has no record that can be used; the code object
            is not that of the report.
    """
    from kprof.inputs import results

    found = results.read(os.fspath(path))
    if code_object is not None:
        from kprof.inputs.results.code_object_lines import with_source_lines

        found = with_source_lines(found, Path(code_object))
    return LibraryResults(found)
