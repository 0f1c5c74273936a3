"""Names inside a capture directory. Standard library only.

::

    capture.json             what was asked: see :class:`kprof.captures.records.Head`
    journal/<process>.jsonl  one a process, one JSON object a line, appended as things happen
    kernels/<id>/            one a specialisation, made by its compile, complete when it appears:
        result.json          see :class:`kprof.captures.records.CompileRecord`
        kernel.json          Triton's metadata
        kernel.ttir .ttgir .amdgcn
"""

from pathlib import Path

SCHEMA = "kprof.capture/1"
HEAD = "capture.json"
JOURNAL = "journal"
KERNELS = "kernels"
RESULT = "result.json"
METADATA = "kernel.json"
WORK = ".work"
"""Locks of the compiling processes; removed when the recording ends."""

STAGES = ("ttir", "ttgir", "amdgcn")
"""Products of the compiler that a capture keeps, as ``kernel.<stage>``."""

ID_LENGTH = 32
"""Hexadecimal digits of a specialisation's identifier: the start of the SHA-256 of everything that decides its code."""

VALUES = 4096
"""Integers of a tensor that are kept, where the course of a kernel depends on it, when no other number is chosen."""

MOST_VALUES = 1 << 20
"""The largest number that can be chosen."""


def is_capture(path: Path) -> bool:
    """Whether a directory looks like a capture."""
    return (path / HEAD).is_file()
