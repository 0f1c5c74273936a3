"""Raw packets of a thread trace of a CDNA GPU."""

from pathlib import Path

from kprof.inputs import thread_trace
from validation.fuzz.target import Target, put


def read(data: bytes, folder: Path) -> None:
    """Wavefronts, and what they issued by kind: no code object stands beside the packets."""
    path = put(folder, "1_2_shader_engine_0_3.att", data)
    thread_trace.is_thread_trace(path)
    thread_trace.read(path).by_line()


TARGET = Target(read, words=("\x11\x00", "\x03", "\x06", "\x0a"))
