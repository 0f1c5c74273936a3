"""Softmax over the rows of a matrix.

A row that fits one block stays in registers between the two reductions and the store: one read, one write. A wider
row is done online: a first pass keeps the running maximum and sum block by block, a second pass, which mostly hits
L2, writes the result. Several narrow rows share a workgroup, so that every lane has 16 bytes to load.
"""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Check, Config, Kernel, Launch, Shape, Tensor, execute, rounding, size_of, torch_dtype


@triton.jit
def softmax_kernel(
    out_ptr,
    x_ptr,
    n_rows,
    n_cols,
    x_stride,
    out_stride,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    ONE_PASS: tl.constexpr,
):
    LOG2E: tl.constexpr = 1.4426950408889634
    first = tl.program_id(0) * ROWS
    # The 64-bit part of the address is uniform and goes to the base; the lanes' offsets stay 32-bit (buffer loads).
    x_ptr += first.to(tl.int64) * x_stride
    out_ptr += first.to(tl.int64) * out_stride
    row = tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, BLOCK)[None, :]
    live = first + row < n_rows

    if ONE_PASS:
        mask = live & (col < n_cols)
        x = tl.load(x_ptr + row * x_stride + col, mask=mask, other=-float("inf")).to(tl.float32) * LOG2E
        top = tl.max(x, axis=1)
        power = tl.exp2(x - top[:, None])
        total = tl.sum(power, axis=1)
        result = power / total[:, None]
        tl.store(out_ptr + row * out_stride + col, result.to(out_ptr.dtype.element_ty), mask=mask)
    else:
        top = tl.full([ROWS], -float("inf"), tl.float32)
        total = tl.zeros([ROWS], tl.float32)
        for start in range(0, n_cols, BLOCK):
            mask = live & (start + col < n_cols)
            x = tl.load(x_ptr + row * x_stride + start + col, mask=mask, other=-float("inf")).to(tl.float32) * LOG2E
            new_top = tl.maximum(top, tl.max(x, axis=1))
            # As long as a row has shown nothing but -inf, its exponents are taken against 0, not -inf.
            base = tl.where(new_top == -float("inf"), 0.0, new_top)
            total = total * tl.exp2(top - base) + tl.sum(tl.exp2(x - base[:, None]), axis=1)
            top = new_top
        scale = 1.0 / total
        for start in range(0, n_cols, BLOCK):
            mask = live & (start + col < n_cols)
            x = tl.load(x_ptr + row * x_stride + start + col, mask=mask, other=-float("inf")).to(tl.float32) * LOG2E
            result = tl.exp2(x - top[:, None]) * scale[:, None]
            tl.store(out_ptr + row * out_stride + start + col, result.to(out_ptr.dtype.element_ty), mask=mask)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for ``ROWS`` rows, read in blocks of at most ``BLOCK`` elements."""
    m, n = shape["M"], shape["N"]
    width = triton.next_power_of_2(n)
    block = min(config["BLOCK"], width)
    rows = config["ROWS"]
    args = {
        "out_ptr": Tensor(shape["dtype"], (m, n)),
        "x_ptr": Tensor(shape["dtype"], (m, n)),
        "n_rows": m,
        "n_cols": n,
        "x_stride": n,
        "out_stride": n,
        "ROWS": rows,
        "BLOCK": block,
        "ONE_PASS": width <= block,
    }
    return Launch(args, (triton.cdiv(m, rows),))


# By width, the fastest by the model that reads a row once: docs/validation/defaults.md.
_FASTEST: Mapping[tuple[str, int], Config] = {("gfx950", 8192): {"num_warps": 2, "waves_per_eu": 2}}


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return 8 to 32 elements per lane: fewer wavefronts for short rows, several very short rows per workgroup."""
    width = triton.next_power_of_2(shape["N"])
    lanes = 32 if arch.startswith(("gfx10", "gfx11", "gfx12")) else 64
    elements = min(width, 16384)
    warps = max(1, min(8, elements // (16 * lanes)))
    return {"ROWS": max(1, 8 * lanes // width), "num_warps": warps, **_FASTEST.get((arch, width), {})}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the softmax of ``inputs["x"]`` (M x N, contiguous rows) on its device."""
    import torch

    out = torch.empty_like(inputs["x"])
    execute(softmax_kernel, launch(shape, config), {"x_ptr": inputs["x"], "out_ptr": out}, config)
    return {"out": out}


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed values with a standard deviation of 3, so that rows have clear peaks."""
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    x = 3 * torch.randn(shape["M"], shape["N"], device=device, generator=generator)
    return {"x": x.to(torch_dtype(shape["dtype"]))}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64 from the rounded inputs."""
    return {"out": inputs["x"].double().softmax(dim=1)}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    They cover the rounding of the result, and 2**-19 for the exponent: x * log2(e) is rounded to float32 at a magnitude
    of up to 2**5, an absolute error of 2**-20 in the exponent.
    """
    relative, absolute = rounding(shape["dtype"])
    return relative + 2.0**-19, absolute


KERNEL = Kernel(
    name="softmax",
    entry=softmax_kernel,
    summary="Softmax of each row: one pass in registers, or online over blocks for wide rows",
    launch=launch,
    shapes={
        "rows_8k": {"M": 4096, "N": 8192, "dtype": "fp16"},
        "rows_128": {"M": 262144, "N": 128, "dtype": "fp16"},
        "rows_1k": {"M": 32768, "N": 1024, "dtype": "bf16"},
        "odd": {"M": 4096, "N": 10007, "dtype": "fp16"},
        "vocabulary": {"M": 2048, "N": 128256, "dtype": "bf16"},
        "fp32": {"M": 4096, "N": 4096, "dtype": "fp32"},
    },
    config={"BLOCK": 16384, "ROWS": 1, "num_warps": 8, "num_stages": 2, "waves_per_eu": 0},
    configs=[
        {"BLOCK": 16384, "num_warps": 8},
        {"BLOCK": 16384, "num_warps": 16},
        {"BLOCK": 8192, "num_warps": 4},
        {"BLOCK": 2048, "num_warps": 4},
        {"BLOCK": 2048, "num_warps": 8},
    ],
    space={
        "BLOCK": (1024, 2048, 4096, 8192, 16384, 32768),
        "ROWS": (1, 2, 4),
        "num_warps": (1, 2, 4, 8, 16),
        "waves_per_eu": (0, 1, 2, 4),
    },
    shape_config=shape_config,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    # Maximum, subtraction, exponential, sum, division.
    flops=lambda shape: 5 * shape["M"] * shape["N"],
    bytes=lambda shape: 2 * shape["M"] * shape["N"] * size_of(shape["dtype"]),
    checks={
        "one_pass": Check({"M": 5, "N": 128, "dtype": "fp32"}, {"ROWS": 1}),
        "masked": Check({"M": 7, "N": 100, "dtype": "fp16"}, {"ROWS": 4}),
        "online": Check({"M": 3, "N": 500, "dtype": "bf16"}, {"BLOCK": 128}),
        "online_rows": Check({"M": 5, "N": 300, "dtype": "fp32"}, {"BLOCK": 128, "ROWS": 2}),
    },
)
