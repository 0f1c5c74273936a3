"""Device memory write: fill a buffer, to measure the bandwidth of stores alone."""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Check, Config, Kernel, Launch, Shape, Tensor, execute, size_of, torch_dtype

FIRST = 3


@triton.jit
def memory_write(target, first_value, N, BLOCK: tl.constexpr, TILES: tl.constexpr):
    """``target[i] = first_value + i % 128`` for ``N`` elements; values differ, as in real data."""
    first = tl.program_id(0).to(tl.int64) * (BLOCK * TILES)
    value = (first_value + tl.arange(0, BLOCK) % 128).to(tl.float32).to(target.dtype.element_ty)
    for tile in tl.static_range(TILES):
        at = first + tile * BLOCK + tl.arange(0, BLOCK)
        tl.store(target + at, value, mask=at < N)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch; ``target`` is [N] of ``dtype``."""
    knobs = {"BLOCK": config["BLOCK"], "TILES": config["TILES"]}
    args = {"target": Tensor(shape["dtype"], (shape["N"],)), "first_value": FIRST, "N": shape["N"], **knobs}
    return Launch(args=args, grid=(triton.cdiv(shape["N"], knobs["BLOCK"] * knobs["TILES"]),))


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return the buffer ``target`` [N], filled with other values so that an unwritten element shows."""
    import torch

    fill = -1 - seed % 7
    return {"target": torch.full((shape["N"],), fill, device=device, dtype=torch_dtype(shape["dtype"]))}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``target`` [N], written in place."""
    execute(memory_write, launch(shape, config), inputs, config)
    return {"target": inputs["target"]}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Return the written values; all are below 256 and therefore exact in every dtype."""
    import torch

    return {"target": FIRST + torch.arange(shape["N"], device=inputs["target"].device, dtype=torch.int32) % 128}


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why a block is rejected, or None: other blocks than multiples of 128 would shift the pattern."""
    return None if config["BLOCK"] % 128 == 0 else "BLOCK must be a multiple of 128"


KERNEL = Kernel(
    name="memory_write",
    entry=memory_write,
    summary="Device memory write: bandwidth of stores alone (fill)",
    launch=launch,
    shapes={
        "gib1": {"N": 2**28, "dtype": "fp32"},
        "mib64": {"N": 2**24, "dtype": "fp32"},
        "gib1_fp16": {"N": 2**29, "dtype": "fp16"},
    },
    checks={
        "even": Check({"N": 4096, "dtype": "fp32"}, {"BLOCK": 1024}),
        "masked": Check({"N": 5001, "dtype": "bf16"}, {"BLOCK": 1024, "TILES": 2}),
        "int": Check({"N": 777, "dtype": "i32"}, {"BLOCK": 256, "TILES": 4}),
    },
    config={"BLOCK": 4096, "TILES": 1, "num_warps": 4},
    configs=({"BLOCK": 8192, "TILES": 1, "num_warps": 8}, {"BLOCK": 4096, "TILES": 4, "num_warps": 4}),
    space={"BLOCK": (1024, 2048, 4096, 8192, 16384), "TILES": (1, 2, 4, 8), "num_warps": (2, 4, 8)},
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=lambda _shape: (0.0, 0.0),
    flops=lambda _shape: 0,
    bytes=lambda shape: shape["N"] * size_of(shape["dtype"]),
)
