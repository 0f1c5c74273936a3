"""Device memory copy: measures the bandwidth when half of the traffic is reads and half is writes."""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Check, Config, Kernel, Launch, Shape, Tensor, execute, size_of, torch_dtype


@triton.jit
def memory_copy(source, target, N, BLOCK: tl.constexpr, TILES: tl.constexpr):
    """Copy ``N`` elements; a workgroup copies ``TILES`` tiles of ``BLOCK`` elements that lie one after another."""
    # 64-bit: a buffer larger than the last-level cache can hold more than 2**31 elements.
    first = tl.program_id(0).to(tl.int64) * (BLOCK * TILES)
    for tile in tl.static_range(TILES):
        at = first + tile * BLOCK + tl.arange(0, BLOCK)
        inside = at < N
        tl.store(target + at, tl.load(source + at, mask=inside), mask=inside)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch; ``source`` and ``target`` are [N] of ``dtype``."""
    buffer = Tensor(shape["dtype"], (shape["N"],))
    knobs = {"BLOCK": config["BLOCK"], "TILES": config["TILES"]}
    grid = (triton.cdiv(shape["N"], knobs["BLOCK"] * knobs["TILES"]),)
    return Launch(args={"source": buffer, "target": buffer, "N": shape["N"], **knobs}, grid=grid)


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return ``source`` [N]: random numbers instead of zeros, because constant data can be moved faster."""
    import torch

    generator = torch.Generator(device=device).manual_seed(seed)
    dtype = torch_dtype(shape["dtype"])
    if not dtype.is_floating_point:
        return {"source": torch.randint(-128, 128, (shape["N"],), device=device, generator=generator, dtype=dtype)}
    return {"source": torch.randn(shape["N"], device=device, generator=generator, dtype=dtype)}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``target`` [N]."""
    import torch

    target = torch.empty_like(inputs["source"])
    execute(memory_copy, launch(shape, config), {"source": inputs["source"], "target": target}, config)
    return {"target": target}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Return the input unchanged, because a copy is exact."""
    return {"target": inputs["source"].clone()}


KERNEL = Kernel(
    name="memory_copy",
    entry=memory_copy,
    summary="Device memory copy: bandwidth with as many reads as writes",
    launch=launch,
    shapes={
        "gib1": {"N": 2**28, "dtype": "fp32"},
        "mib64": {"N": 2**24, "dtype": "fp32"},
        "gib1_fp16": {"N": 2**29, "dtype": "fp16"},
    },
    checks={
        "even": Check({"N": 4096, "dtype": "fp32"}, {"BLOCK": 1024}),
        "masked": Check({"N": 5001, "dtype": "fp16"}, {"BLOCK": 1024, "TILES": 2}),
        "bytes": Check({"N": 3000, "dtype": "i8"}, {"BLOCK": 1024, "TILES": 4}),
    },
    config={"BLOCK": 4096, "TILES": 1, "num_warps": 4},
    configs=({"BLOCK": 8192, "TILES": 1, "num_warps": 8}, {"BLOCK": 4096, "TILES": 4, "num_warps": 4}),
    space={"BLOCK": (1024, 2048, 4096, 8192, 16384), "TILES": (1, 2, 4, 8), "num_warps": (2, 4, 8)},
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=lambda _shape: (0.0, 0.0),
    flops=lambda _shape: 0,
    bytes=lambda shape: 2 * shape["N"] * size_of(shape["dtype"]),
)
