"""Read Triton's metadata of a compiled kernel (``kernel.json``), without values that are impossible for a launch."""

from collections.abc import Mapping
from typing import Any

from kprof.errors import KprofError
from kprof.inputs import boundary

RANGES: Mapping[str, tuple[int, int]] = {
    # A kernel with more LDS than the GPU has compiles. The size must be reported as too large instead of being dropped.
    "shared": (0, 1 << 28),
    "num_warps": (1, 1 << 10),
    "num_stages": (0, 1 << 10),
    "num_ctas": (1, 1 << 10),
    "warp_size": (32, 64),
    "waves_per_eu": (0, 1 << 10),
    "kpack": (0, 1 << 10),
    "matrix_instr_nonkdim": (0, 1 << 10),
}
"""Minimum and maximum valid values of the numbers in the metadata that the analysis uses."""


def without_impossible(metadata: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the metadata without impossible values, and a note on each value that was dropped."""
    if not isinstance(metadata, dict):
        return {}, ["the metadata is not a JSON object: left out"]
    notes = []
    found = {str(name): value for name, value in metadata.items()}
    for name, (low, high) in RANGES.items():
        value = found.get(name, low)
        if type(value) is not int or not low <= value <= high:
            notes.append(
                f"the metadata's {name} is {str(value)[:40]!r}, not a number from {low:,} to {high:,}: left out"
            )
            del found[name]
    return found, notes


def decoded(data: bytes, path: str) -> tuple[dict[str, Any], list[str]]:
    """Decode a file and return the result of :func:`without_impossible`; if damaged, empty metadata and a note."""
    try:
        return without_impossible(boundary.json_of(data, object, path, "the metadata is not JSON", unique=True))
    except KprofError as error:
        return {}, [f"{error.message}: left out"]
