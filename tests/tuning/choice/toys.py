"""A kernel without a function, and entries of a table for it."""

from typing import Any

from kprof.kernel_spec import Kernel, Launch
from kprof.tuning.dispatch_table import DispatchEntry

SHAPE = {"M": 1024, "N": 4096, "dtype": "fp16"}


def kernel(**fields: Any) -> Kernel:
    """A kernel without a function: enough for choosing."""
    base: dict[str, Any] = {
        "name": "toy",
        "entry": None,
        "summary": "",
        "launch": lambda _shape, _config: Launch({}, (1,)),
        "shapes": {"plain": SHAPE},
        "config": {"BLOCK": 16, "num_warps": 4},
        "arch_config": {"gfx950": {"BLOCK": 64}},
    }
    return Kernel(**{**base, **fields})


def entry(m: int, block: int, **fields: Any) -> DispatchEntry:
    """An entry for M rows."""
    return DispatchEntry(**{"kernel": "toy", "arch": "gfx942", "shape": {**SHAPE, "M": m}, "implementation": "toy",
                    "config": {"BLOCK": block}, "ms": 0.5, "device": "MI300X", **fields})  # fmt: skip
