"""Recognise traces with predicted times: ``kprof profile`` writes a mark before their events."""

from pathlib import Path

from kprof.inputs.opening import head_of

_MARK = b'"kprof":{"predicted":true'
_HEAD_BYTES = 4096


def is_predicted(path: str | Path) -> bool:
    """Return whether a file is a trace with predicted times."""
    return _MARK in head_of(path, _HEAD_BYTES)
