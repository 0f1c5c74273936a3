"""The folder of ``kprof bench --keep``: times, and the compiled kernels with their launches.

A folder contains ``bench.json`` and, for each measurement that launches Triton kernels, a folder with the compiler's
outputs and ``launches.json``.
"""

import re
from pathlib import Path
from typing import Literal

import msgspec

from kprof.bench.document import BenchReport, Measurement
from kprof.errors import InputError
from kprof.inputs import boundary

TIMES = "bench.json"
_LAUNCHES = "launches.json"
_STEM = re.compile(r"\w{1,120}")


class KeptLaunch(msgspec.Struct, frozen=True):
    """One kernel launch of a call.

    Attributes:
        file: file name of the compiled kernel, without suffix.
        grid: workgroups in x, y and z.
        arguments: numbers passed as arguments, by name, including constexprs.
        contents: integers of small tensors passed as arguments, by name.
    """

    file: str
    grid: list[int]
    arguments: dict[str, int | float] = {}
    contents: dict[str, list[int]] = {}


class KeptCall(msgspec.Struct, frozen=True):
    """Kernel launches of one call of a measurement.

    Attributes:
        launches: launches in order.
        set_bytes: bytes of the inputs and outputs of a call; 0 if not known.
        schema: schema of this document.
    """

    launches: list[KeptLaunch]
    set_bytes: int = 0
    schema: Literal["kprof.kept-call/1"] = "kprof.kept-call/1"


def is_kept(path: str | Path) -> bool:
    """Return whether a path is a folder that ``kprof bench --keep`` wrote."""
    return Path(path, TIMES).is_file()


def write_call(folder: Path, call: KeptCall) -> None:
    """Write the launches of a call into the folder of its compiled kernels.

    Raises:
        OSError: the folder cannot be written.
    """
    (folder / _LAUNCHES).write_bytes(msgspec.json.format(msgspec.json.encode(call), indent=2) + b"\n")


def read_times(folder: Path) -> BenchReport:
    """Read the times in a folder that ``kprof bench --keep`` wrote.

    Raises:
        InputError: the file is missing or has another format.
    """
    place = folder / TIMES
    return boundary.json_of(boundary.read_bytes(place), BenchReport, str(place), "was not written by kprof bench")


def folder_of(folder: Path, measurement: Measurement) -> Path | None:
    """Return the folder of a measurement's kernels; ``None`` if it launched none.

    Only the folder's name in the measurement is used, because all folders may have been copied from another machine.
    """
    name = Path(measurement.kept or "").name
    return None if name in {"", ".."} else folder / name


def read_call(folder: Path) -> KeptCall:
    """Read the launches of a measurement's folder.

    Raises:
        InputError: the file is missing, has another format, or contains a launch without a valid file name.
    """
    place = folder / _LAUNCHES
    if not place.is_file():
        raise InputError(
            "has no launches.json, which says how the kernels were launched",
            path=str(folder),
            hint="Measure again with kprof bench --keep, which writes it.",
        )
    found = boundary.json_of(boundary.read_bytes(place), KeptCall, str(place), "was not written by kprof bench --keep")
    for launch in found.launches:
        if _STEM.fullmatch(launch.file) is None or not launch.grid or any(axis < 1 for axis in launch.grid):
            raise InputError(f"the launch of {launch.file[:80]!r} has no file or no workgroups", path=str(place))
    return found
