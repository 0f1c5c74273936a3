"""Device memory read: each workgroup reads one row and writes its sum, so that the compiler cannot remove the reads."""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Check, Config, Kernel, Launch, Shape, Tensor, execute, size_of, torch_dtype


@triton.jit
def memory_read(source, sums, N, BLOCK: tl.constexpr):
    """Sum of row ``program_id(0)`` of ``source`` [M, N] into ``sums`` [M] (float32)."""
    row = tl.program_id(0)
    start = source + row.to(tl.int64) * N
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, N, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(start + at, mask=at < N, other=0.0).to(tl.float32)
    tl.store(sums + row, tl.sum(total, axis=0))


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for each row of ``source`` [M, N]; ``sums`` are [M] fp32."""
    args = {
        "source": Tensor(shape["dtype"], (shape["M"], shape["N"])),
        "sums": Tensor("fp32", (shape["M"],)),
        "N": shape["N"],
        "BLOCK": config["BLOCK"],
    }
    return Launch(args=args, grid=(shape["M"],))


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return a normally distributed ``source`` [M, N]."""
    import torch

    generator = torch.Generator(device=device).manual_seed(seed)
    size = (shape["M"], shape["N"])
    return {"source": torch.randn(size, device=device, generator=generator, dtype=torch_dtype(shape["dtype"]))}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the row sums [M] in float32."""
    import torch

    sums = torch.empty(shape["M"], device=inputs["source"].device, dtype=torch.float32)
    execute(memory_read, launch(shape, config), {"source": inputs["source"], "sums": sums}, config)
    return {"sums": sums}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Return row sums in float64, computed a slab of rows at a time.

    All rows in float64 would take twice the memory.
    """
    import torch

    return {"sums": torch.cat([slab.double().sum(-1) for slab in inputs["source"].split(4096)])}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    They cover the rounding errors of float32 partial sums of size sqrt(N), which add up at random over the sum's depth.
    The depth is at most N / 1024 tiles and a tree of 20 levels; 8 is the margin.
    """
    depth = shape["N"] / 1024 + 20
    return 0.0, 8 * 2.0**-24 * (shape["N"] * depth) ** 0.5


KERNEL = Kernel(
    name="memory_read",
    entry=memory_read,
    summary="Device memory read: bandwidth of reads alone (row sums)",
    launch=launch,
    shapes={
        "gib1": {"M": 16384, "N": 16384, "dtype": "fp32"},
        "mib64": {"M": 1024, "N": 16384, "dtype": "fp32"},
        "gib1_fp16": {"M": 32768, "N": 16384, "dtype": "fp16"},
    },
    checks={
        "even": Check({"M": 8, "N": 2048, "dtype": "fp32"}, {"BLOCK": 1024}),
        "masked": Check({"M": 3, "N": 1111, "dtype": "fp16"}, {"BLOCK": 1024}),
        "bf16": Check({"M": 5, "N": 4100, "dtype": "bf16"}),
    },
    config={"BLOCK": 4096, "num_warps": 4},
    configs=({"BLOCK": 2048, "num_warps": 4}, {"BLOCK": 8192, "num_warps": 8}),
    space={"BLOCK": (1024, 2048, 4096, 8192, 16384), "num_warps": (2, 4, 8, 16)},
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=lambda shape: shape["M"] * shape["N"],
    bytes=lambda shape: shape["M"] * (shape["N"] * size_of(shape["dtype"]) + 4),
)
