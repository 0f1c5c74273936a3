"""Recognise and read result files of other tools."""

from pathlib import Path

from kprof.errors import InputError
from kprof.inputs.opening import head_of
from kprof.inputs.results.model import HEAD, ResultFormat, ToolResults, formats

_UNPACK = {b"\x1f\x8b": "gunzip", b"BZh": "bunzip2", b"\xfd7zXZ": "unxz", b"(\xb5/\xfd": "unzstd"}


def recognised(head: bytes) -> ResultFormat | None:
    """Return the format of a file with these first bytes, or ``None``."""
    return next(iter(_all(head)), None)


def _all(head: bytes) -> list[ResultFormat]:
    return [each for each in formats() if each.recognise(head)]


def read(path: str | Path) -> ToolResults:
    """Read one result file; its format is recognised by its content.

    Raises:
        KprofError: if the file is missing or too large, does not match exactly one known format, or has no usable
            record.
    """
    place = Path(path)
    shown = str(path)
    if place.is_dir():
        raise InputError("this is a directory", path=shown, hint="name the files in it")
    head = head_of(place, HEAD)
    candidates = _all(head)
    if not candidates:
        raise _unknown(place, shown, head)
    if len(candidates) > 1:
        raise _mixed(candidates, shown, head)
    found = candidates[0]
    results = found.read(place, shown)
    if not results.rows:
        place_, _, reason = (results.issues[0] if results.issues else "").partition(": ")
        detail = f": {reason}" if reason else ""
        raise InputError(f"no record of {found.name} can be used{detail}", path=shown, place=place_ if reason else None)
    return results


def _mixed(candidates: list[ResultFormat], shown: str, head: bytes) -> InputError:
    """Return the error for a file of two formats; its place is the first line at which both are recognised."""
    lines = head.split(b"\n")
    least, most = 1, len(lines)
    while least < most:
        middle = (least + most) // 2
        if len(_all(b"\n".join(lines[:middle]))) > 1:
            most = middle
        else:
            least = middle + 1
    both = " and of ".join(each.name for each in candidates[:2])
    return InputError(
        f"records of {both} in one file", path=shown, place=f"line {least}", hint="write them to separate files"
    )


def _unknown(place: Path, shown: str, head: bytes) -> InputError:
    if not head:
        # The following call reports a missing or unreadable file, or a pipe.
        from kprof.inputs import boundary

        boundary.read_bytes(place, most=HEAD, shown=shown)
        return InputError("the file is empty", path=shown)
    for magic, command in _UNPACK.items():
        if head.startswith(magic):
            return InputError("the file is compressed", path=shown, hint=f"unpack it first: {command} FILE")
    known = ", ".join(sorted(each.name for each in formats()))
    return InputError("no known format of another tool", path=shown, hint=f"supported formats: {known}")
