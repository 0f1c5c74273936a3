"""Counter files of ROCm's profilers, of whatever format."""

from pathlib import Path

from kprof.inputs import rocprof
from validation.fuzz.target import put, sometimes

# Frames of pandas take ten times as long as reading.
_FRAMES = 16


def read_named(data: bytes, folder: Path, name: str) -> None:
    """The issues, the names of the tables, and of some inputs every table as a frame."""
    found = rocprof.read(put(folder, name, data))
    assert all(issue.severity in {"error", "warning", "note"} for issue in found.issues)
    names = found.names()
    if sometimes(data, _FRAMES):
        for table in names:
            assert set(found.table(table).columns), table
