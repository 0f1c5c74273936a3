"""Where the sources of a capture are now, when it was moved together with them, or to another checkout of them."""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from kprof.captures.model import CapturedKernel
from kprof.captures.staleness import digest


def in_place(kernel: CapturedKernel, now: Path, sources: Mapping[str, str], checkout: Path) -> CapturedKernel:
    """The same with its sources where they are now.

    Args:
        kernel: as it was recorded.
        now: the folder that the names of sources start in, if the capture was moved together with them.
        sources: files from there to their SHA-256.
        checkout: where they are taken from, as they were recorded, if they are neither there nor where they were.
    """
    place = Path(kernel.request.path)
    name = next((name for name in sources if place.parts[-len(Path(name).parts) :] == Path(name).parts), None)
    if name is None or not place.is_absolute() or kernel.source is None:
        return kernel
    before = place.parents[len(Path(name).parts) - 1]
    folder = Path(os.path.normpath(now.absolute()))
    if not (folder / name).is_file() and not place.is_file() and digest(checkout / name) == sources[name]:
        folder = checkout
    if before == folder or not (folder / name).is_file():
        return kernel
    moved = str(before), str(folder)
    site = tuple(msgspec.structs.replace(at, file=_at(at.file, moved)) for at in kernel.site)
    source = msgspec.structs.replace(kernel.source, file=_at(kernel.source.file, moved))
    return dataclasses.replace(kernel, source=source, site=site, moved=moved)


def _at(file: str, moved: tuple[str, str]) -> str:
    before, now = moved
    return now + file[len(before) :] if file.startswith(before + os.sep) else file
