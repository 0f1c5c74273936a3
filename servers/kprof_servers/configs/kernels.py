"""Declare which bundled kernel is compiled in place of a file's own kernel."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kprof_servers.configs.model import UNKNOWN, Bucket, ConfigFile

_TILES = {"BLOCK_SIZE_M": "BLOCK_M", "BLOCK_SIZE_N": "BLOCK_N", "BLOCK_SIZE_K": "BLOCK_K", "GROUP_SIZE_M": "GROUP_M"}


@dataclass(frozen=True)
class Stand:
    """A kernel that is compiled for a file's buckets, and the translation of the file's knobs to the kernel's knobs.

    Attributes:
        kernel: target in the syntax of ``kprof analyze kernel``.
        rename: map from the file's knob to the kernel's knob, or to ``None`` to leave the knob out.
        shape: problem parameters that are fixed for the family.
        stand_in: True if the kernel is not the file's own kernel but computes a similar product.
    """

    kernel: str
    rename: Mapping[str, str | None] = field(default_factory=dict)
    shape: Mapping[str, Any] = field(default_factory=dict)
    stand_in: bool = False

    def knobs(self, bucket: Bucket) -> dict[str, Any] | None:
        """Return the kernel's knobs, or ``None`` if the value of a knob is not a literal."""
        found = {}
        for knob in bucket.knobs:
            name = self.rename.get(knob.name, knob.name)
            if name is not None:
                found[name] = knob.value
        return None if any(value is UNKNOWN for value in found.values()) else found


_GEMM = {
    **_TILES,
    "NUM_KSPLIT": "SPLIT_K",
    "cache_modifier": None,
    "SPLITK_BLOCK_SIZE": None,
    "kernel_type": None,
    "persistent_iters": None,
}

_DECLARED: tuple[tuple[str, str, Stand], ...] = (
    ("AITER", r"GEMM-A16W16(-ATOMIC)?", Stand("gemm", _GEMM, {"dtype": "bf16", "out": "bf16"}, stand_in=True)),
    ("AITER", r"GEMM-A8W8", Stand("gemm", _GEMM, {"dtype": "fp8_e4m3", "out": "bf16"}, stand_in=True)),
)
"""Format, pattern of the kernel family, and the bundled kernel. It has the same operands and tile, but no scales."""


def stand_for(file: ConfigFile) -> Stand | None:
    """Return the bundled kernel to compile instead of a file's own kernel, or ``None`` if none is similar enough."""
    if file.backend == "gluon":
        return None
    for format_name, family, stand in _DECLARED:
        if file.format.startswith(format_name) and re.fullmatch(family, file.family or ""):
            return stand
    return None


def rows_of(bucket: Bucket) -> int | None:
    """Return the number of rows for which a bucket's kernel is compiled; ``None`` if the bucket states none.

    The number is the bound in the bucket's name or, if the name has no bound, the name itself.
    """
    if bucket.bound is not None:
        return bucket.bound[1]
    name = bucket.path[-1]
    return int(name) if name.isdecimal() and len(name) < 12 else None


def sizes_of(file: ConfigFile, bucket: Bucket, parameters: Mapping[str, Any]) -> dict[str, int]:
    """Return the problem sizes from the file's name and the bucket; sizes that the kernel does not have are dropped.

    Args:
        file: the file, whose name may contain N, K and other sizes.
        bucket: the bucket, whose bound is M.
        parameters: the kernel's problem parameters.
    """
    found = {name: int(value) for name, value in file.parameters.items() if name in parameters and value.isdecimal()}
    rows = rows_of(bucket)
    return found if rows is None or "M" not in parameters else {**found, "M": rows}
