"""Names inside a capture directory. Standard library only.

::

    capture.json             command and options: see :class:`kprof.captures.records.Head`
    journal/<process>.jsonl  one journal per process, one JSON object per line, appended during the recording
    kernels/<id>/            one folder per specialisation; its compile creates it when all files are complete:
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
"""Folder for the lock files of compiling processes; it is removed when the recording ends."""

STAGES = ("ttir", "ttgir", "amdgcn")
"""Compiler outputs that a capture keeps, as ``kernel.<stage>``."""

ID_LENGTH = 32
"""Number of hexadecimal digits of a specialisation's identifier: the start of a SHA-256 over all inputs of the
compile."""

VALUES = 4096
"""Default maximum number of integers to store from a tensor on whose values a kernel's control flow depends."""

MOST_VALUES = 1 << 20
"""Largest value that a user can choose instead of :data:`VALUES`."""


def is_capture(path: Path) -> bool:
    """Return whether a directory looks like a capture."""
    return (path / HEAD).is_file()
