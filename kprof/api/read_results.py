"""``kprof.read_results``: read result files of other ROCm tools and libraries."""

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
        results: the tool that wrote the file, the properties in the file's header, its rows, and the records that were
            skipped.
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
        """The number and kind of the rows, and the number of skipped records, in one line."""
        from kprof.reporters.results_text import verdict

        return verdict(self.results)

    def to_frame(self) -> "pd.DataFrame":
        """Return the rows as a table; column names end in their unit, and missing values are ``NA``."""
        from kprof.api.frames import plain_frame

        rows = [dict(row) for row in self.results.rows]
        return plain_frame(rows, dict.fromkeys(name for row in rows for name in row))


def read_results(
    path: "str | os.PathLike[str]", *, code_object: "str | os.PathLike[str] | None" = None
) -> LibraryResults:
    """Read the results of another ROCm tool or library. The format is detected from the content.

    Args:
        path: output of hipblaslt-bench, rocblas-bench or rccl-tests, a tuning file of hipBLASLt, a table of tuned GEMMs
            (gradlib, vLLM, AITER), a find-db or perf-db of MIOpen, Tensile's logic or benchmark, a log of rocBLAS or
            hipBLASLt calls, a profile of Omnitrace or rocprof-sys, or a report of the ROCr Debug Agent.
        code_object: the code object of a debug agent's report: its line table names the source line of each wavefront.

    Raises:
        InputError: the file is missing, too large, of unknown format, or has no usable record; or the code object does
            not belong to the report.
    """
    from kprof.inputs import results

    found = results.read(os.fspath(path))
    if code_object is not None:
        from kprof.inputs.results.code_object_lines import with_source_lines

        found = with_source_lines(found, Path(code_object))
    return LibraryResults(found)
