"""Where the sources of a capture are now, when it was moved together with them."""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from kprof.captures.model import CapturedKernel


def in_place(kernel: CapturedKernel, now: Path, sources: Mapping[str, str]) -> CapturedKernel:
    """The same with its sources where they are now, if the capture was moved together with them."""
    place = Path(kernel.request.path)
    name = next((name for name in sources if place.parts[-len(Path(name).parts) :] == Path(name).parts), None)
    if name is None or not place.is_absolute() or kernel.source is None:
        return kernel
    before = place.parents[len(Path(name).parts) - 1]
    folder = Path(os.path.normpath(now.absolute()))
    if before == folder or not (folder / name).is_file():
        return kernel
    moved = str(before), str(folder)
    site = tuple(msgspec.structs.replace(at, file=_at(at.file, moved)) for at in kernel.site)
    source = msgspec.structs.replace(kernel.source, file=_at(kernel.source.file, moved))
    return dataclasses.replace(kernel, source=source, site=site, moved=moved)


def _at(file: str, moved: tuple[str, str]) -> str:
    before, now = moved
    return now + file[len(before) :] if file.startswith(before + os.sep) else file
