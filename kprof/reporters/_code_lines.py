"""Source lines to show with findings; only on a terminal, because readers of reports may not be allowed to see code."""

from functools import lru_cache
from pathlib import Path

from msgspec import UNSET, UnsetType

from kprof.findings import Location
from kprof.inputs import boundary
from kprof.output.sink import clean

_MOST_BYTES = 4 << 20
_WIDEST = 120


def code_at(location: Location | UnsetType) -> str:
    """Return the Python source line at a location: ``12  x = tl.load(ptr)``.

    Empty if the file or line does not exist, or if the line is longer than 120 characters.
    """
    if location is UNSET or Path(location.file).suffix != ".py":
        return ""
    try:
        lines = _lines(location.file, Path(location.file).stat().st_mtime_ns)
    except (OSError, ValueError):
        return ""
    text = lines[location.line - 1].strip() if 0 < location.line <= len(lines) else ""
    return f"{location.line}  {clean(text)}" if 0 < len(text) <= _WIDEST else ""


@lru_cache(maxsize=16)
def _lines(file: str, changed_ns: int) -> list[str]:  # noqa: ARG001 - an edited file gets another cache entry
    content = boundary.content_of(file, _MOST_BYTES)
    return [] if content is None else content.decode(errors="replace").splitlines()
