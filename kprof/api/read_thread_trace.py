"""``kprof.read_thread_trace``: read a decoded thread trace (ATT)."""

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from kprof.api.result import Result
from kprof.errors import KprofError

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.thread_trace import DecodedThreadTrace as Traced


@dataclass(frozen=True, eq=False, repr=False)
class ThreadTrace(Result):
    """A thread trace: the cycles that the traced wavefronts of one dispatch spent on each instruction.

    Attributes:
        trace: instructions with ``hits``, ``latency`` and ``stall`` in cycles, and the wavefronts' timeline.
    """

    trace: "Traced"
    kind: ClassVar[str] = "measurements"

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``kprof ingest thread-trace --json`` writes."""
        trace = self.trace
        return {
            "schema": "kprof.thread-trace/1",
            **asdict(trace),
            "hits": trace.hits,
            "latency": trace.latency,
            "lines": [asdict(cost) for cost in trace.by_line()],
            "mnemonics": [asdict(cost) for cost in trace.by_mnemonic()],
            "stalled": [asdict(cost) for cost in trace.by_stall()],
        }

    @property
    def summary(self) -> str:
        """The number of issued instructions and their cycles, in one line."""
        from kprof.reporters.thread_trace_text import verdict

        return verdict(self.trace)

    def to_frame(self, table: Literal["lines", "mnemonics"] = "lines") -> "pd.DataFrame":
        """Return one row per source line or mnemonic, highest cost first.

        The columns are ``latency`` in cycles, ``share`` (0 to 1) and ``hits``, the number of executions.

        Raises:
            KprofError: the table is unknown.
        """
        from kprof.api.frames import struct_frame
        from kprof.inputs.thread_trace import LineCost

        if table not in {"lines", "mnemonics"}:
            raise KprofError(f"there is no table {table!r}", hint="there are lines and mnemonics")
        costs = self.trace.by_line() if table == "lines" else self.trace.by_mnemonic()
        return struct_frame(LineCost, [({}, cost) for cost in costs])


def read_thread_trace(path: "str | os.PathLike[str]") -> ThreadTrace:
    """Read a decoded thread trace.

    Args:
        path: a folder ``ui_output_agent_*_dispatch_*``, its ``code.json``, or a CSV file. A folder may contain several
            dispatches: all are listed, and the first traced one that is not a fill kernel is read.

    Raises:
        InputError: the path does not exist or is not a decoded thread trace.
    """
    from kprof.inputs import thread_trace
    from kprof.output.progress import step

    with step("reading the thread trace"):
        return ThreadTrace(thread_trace.read(os.fspath(path)))
