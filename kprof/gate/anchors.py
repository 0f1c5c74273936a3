"""Identify findings by source text and relative path, so that line numbers and the checkout's folder do not matter."""

import ntpath
from enum import Enum
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from kprof.findings import Edit, Finding, Location
from kprof.inputs import boundary
from kprof.inputs.source_path import below

_MAX_ANCHOR_LENGTH = 100
_MAX_BYTES = 4 * 1024 * 1024


def anchor(finding: Finding) -> str:
    """Return the text of a finding's source line with normalised white space; the file's name if it is unreadable."""
    place = finding.location
    if not isinstance(place, Location):
        return ""
    lines = _lines(place.file)
    if not 0 < place.line <= len(lines):
        return PurePosixPath(place.file).name
    # Ignore the line's comment, because a new comment, such as an ignore comment, does not change the code.
    code = lines[place.line - 1].split("#", maxsplit=1)[0]
    return " ".join(code.split())[:_MAX_ANCHOR_LENGTH]


def relative(file: str, root: Path) -> str:
    """Return a path relative to the repository's root, or to the installation folder of a library."""
    text = file.replace("\\", "/")
    # A relative path is already relative to the root: a report may be relocated more than once.
    inside = below(text, root.as_posix()) if text.startswith("/") or ntpath.splitdrive(text)[0] else text
    if inside is not None:
        return inside
    for folder in ("/site-packages/", "/dist-packages/"):
        if folder in text:
            return text.rsplit(folder, 1)[1]
    return text


def relocated(value: Any, root: Path) -> Any:
    """Return a report or a part of it with all locations relative to the root, and the root removed from all texts."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return value.replace(f"{root.as_posix().rstrip('/')}/", "")
    if isinstance(value, Edit):
        return msgspec.structs.replace(value, file=relative(value.file, root))
    if isinstance(value, Location):
        return msgspec.structs.replace(value, file=relative(value.file, root))
    if isinstance(value, msgspec.Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        changed = {name: new for name, old in fields.items() if (new := relocated(old, root)) is not old}
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, dict):
        return {relocated(name, root): relocated(item, root) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(relocated(item, root) for item in value)
    return value


@lru_cache(maxsize=256)
def _lines(file: str) -> tuple[str, ...]:
    content = boundary.content_of(file, _MAX_BYTES)
    return () if content is None else tuple(content.decode("utf-8", "replace").splitlines())
