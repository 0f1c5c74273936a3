"""Listings of a decoded thread trace: ``code.json`` and the older CSV."""

from pathlib import Path

from kprof.inputs import thread_trace
from validation.fuzz.target import Target, put


def read(data: bytes, folder: Path) -> None:
    """Costs by line and by mnemonic of source."""
    path = put(folder, "code.json", data)
    thread_trace.is_thread_trace(path)
    thread_trace.read(path).by_line()


TARGET = Target(
    read, words=('{"code": [', "s_waitcnt vmcnt(0)", '"gemm.py:14"', "; kernel", "Hitcount", "Latency", "Stall")
)
