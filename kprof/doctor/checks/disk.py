"""Check that cache folders are writable and have enough space."""

import os
import time
from pathlib import Path

from kprof.doctor.check import Seen, check, ok, warn
from kprof.doctor.host import Host
from kprof.output.quantities import decimal_bytes

_LITTLE = 1 << 30
_SECONDS = 0.2


@check("kprof-cache", "disk", why="Without this cache, every kernel is compiled each time.")
def kprof_cache(machine: Host) -> Seen:
    """Check kprof's cache."""
    own = machine.environment.get("KPROF_CACHE_DIR")
    return _check_space(machine, _folder(machine, own, "XDG_CACHE_HOME", ".cache", "kprof"), "KPROF_CACHE_DIR")


@check(
    "triton-cache",
    "disk",
    why="Programs compile all their kernels again when Triton cannot keep them, and fail when its disk is full.",
)
def triton_cache(machine: Host) -> Seen:
    """Check Triton's cache."""
    own = machine.environment.get("TRITON_CACHE_DIR")
    return _check_space(machine, _folder(machine, own, "TRITON_HOME", ".triton", "cache"), "TRITON_CACHE_DIR")


def _folder(machine: Host, own: str | None, base: str, hidden: str, name: str) -> Path:
    """Return a cache's folder: ``own`` if set, else below the folder in variable ``base``, else in the home folder."""
    if own:
        return Path(own)
    other = machine.environment.get(base)
    home = Path(machine.environment.get("HOME") or _home())
    if other and base == "TRITON_HOME":
        return Path(other) / hidden / name
    return Path(other) / name if other else home / hidden / name


def _home() -> Path:
    """Return the home directory, or ``/nonexistent`` if the user has none, as in containers with an unknown UID."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def _check_space(machine: Host, path: Path, variable: str) -> Seen:
    """Check that a folder (or its nearest existing parent) is writable and has enough space."""
    there = next((place for place in (path, *path.parents) if place.is_dir()), None)
    if there is None or not machine.usable(there):
        return warn(f"{path} cannot be written to", f"export {variable}=/path/to/a/writable/folder")
    free = machine.free(there)
    words = f"{path}, {_size(path)} used, {decimal_bytes(free)} free"
    if free < _LITTLE:
        return warn(words, f"df -h {there}", f"export {variable}=/path/to/a/larger/disk")
    return ok(words)


def _size(path: Path) -> str:
    """Return the total size of a folder's files as text; a lower bound if counting takes too long."""
    total, end = 0, time.monotonic() + _SECONDS
    for directory, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(directory, name)).st_size  # noqa: PTH118 - thousands of them
            except OSError:
                continue
        if time.monotonic() > end:
            return f"more than {decimal_bytes(total)}"
    return decimal_bytes(total)
