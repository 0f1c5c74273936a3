"""Layer normalisation, backward: gradients of the input, the weight and the bias in one pass over the rows.

A fixed number of workgroups shares the rows. Each keeps its part of the weight's and bias's gradients in registers
and writes it once; a second kernel adds the parts. No atomics and no locks, so the result does not depend on the order
in which workgroups run.
"""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import (
    Check,
    Config,
    Kernel,
    Launch,
    LaunchGpu,
    Part,
    Shape,
    Tensor,
    execute,
    rounding,
    size_of,
    torch_dtype,
)

EPS = 1e-5


@triton.jit
def layernorm_backward(
    dy, x, weight, mean, rstd, dx, dw_parts, db_parts, M, N, BLOCK_N: tl.constexpr, GROUPS: tl.constexpr
):
    """Rows ``program_id(0)``, + GROUPS, ...: ``dx`` [M, N]; one row of ``dw_parts`` and ``db_parts`` [GROUPS, N].

    With xhat = (x - mean) * rstd and g = dy * weight:
    dx = rstd * (g - average(g) - xhat * average(g * xhat)), dw = sum(dy * xhat), db = sum(dy).
    """
    group = tl.program_id(0)
    columns = tl.arange(0, BLOCK_N)
    inside = columns < N
    w = tl.load(weight + columns, mask=inside, other=0.0).to(tl.float32)
    dw = tl.zeros([BLOCK_N], dtype=tl.float32)
    db = tl.zeros([BLOCK_N], dtype=tl.float32)
    for row in range(group, M, GROUPS):
        at = tl.cast(row, tl.int64) * N + columns
        x_row = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        dy_row = tl.load(dy + at, mask=inside, other=0.0).to(tl.float32)
        scale = tl.load(rstd + row)
        xhat = tl.where(inside, (x_row - tl.load(mean + row)) * scale, 0.0)
        g = dy_row * w
        average_g = tl.sum(g, axis=0) / N
        average_gx = tl.sum(g * xhat, axis=0) / N
        tl.store(dx + at, (scale * (g - average_g - xhat * average_gx)).to(dx.dtype.element_ty), mask=inside)
        dw += dy_row * xhat
        db += dy_row
    part = group.to(tl.int64) * N + columns
    tl.store(dw_parts + part, dw, mask=inside)
    tl.store(db_parts + part, db, mask=inside)


@triton.jit
def add_parts(dw_parts, db_parts, dw, db, N, GROUPS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Sum of ``dw_parts`` and ``db_parts`` [GROUPS, N] over the groups, ``COLUMNS`` columns a workgroup."""
    at = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    inside = at < N
    dw_sum = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    db_sum = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    for first in range(0, GROUPS, ROWS):
        group = first + tl.arange(0, ROWS)
        part = group[:, None] * N + at[None, :]
        both = (group < GROUPS)[:, None] & inside[None, :]
        dw_sum += tl.load(dw_parts + part, mask=both, other=0.0)
        db_sum += tl.load(db_parts + part, mask=both, other=0.0)
    tl.store(dw + at, tl.sum(dw_sum, axis=0).to(dw.dtype.element_ty), mask=inside)
    tl.store(db + at, tl.sum(db_sum, axis=0).to(db.dtype.element_ty), mask=inside)


def _groups(shape: Shape, config: Config) -> int:
    return min(config["GROUPS"], shape["M"])


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch of the first kernel.

    ``dy``, ``x``, ``dx`` are [M, N]; ``weight`` [N]; ``mean``, ``rstd`` [M]; the partial sums [GROUPS, N] float32.
    """
    rows = Tensor(shape["dtype"], (shape["M"], shape["N"]))
    statistic = Tensor("fp32", (shape["M"],))
    groups = _groups(shape, config)
    parts = Tensor("fp32", (groups, shape["N"]))
    args = {"dy": rows, "x": rows, "weight": Tensor(shape["dtype"], (shape["N"],)), "mean": statistic}
    args |= {"rstd": statistic, "dx": rows, "dw_parts": parts, "db_parts": parts, "M": shape["M"], "N": shape["N"]}
    knobs = {"BLOCK_N": triton.next_power_of_2(shape["N"]), "GROUPS": groups}
    return Launch(args={**args, **knobs}, grid=(groups,))


def launch_add_parts(shape: Shape, config: Config) -> Launch:
    """Return the launch that adds the partial sums.

    The partial sums are [GROUPS, N] float32; the results ``dw`` and ``db`` are [N].
    """
    groups = _groups(shape, config)
    parts = Tensor("fp32", (groups, shape["N"]))
    total = Tensor(shape["dtype"], (shape["N"],))
    knobs = {"GROUPS": groups, "ROWS": config["ROWS"], "COLUMNS": config["COLUMNS"]}
    args = {"dw_parts": parts, "db_parts": parts, "dw": total, "db": total, "N": shape["N"], **knobs}
    return Launch(args=args, grid=(triton.cdiv(shape["N"], config["COLUMNS"]),))


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return ``x`` and ``weight`` as in a layer, ``dy``, and the forward pass's ``mean`` and ``rstd``."""
    import torch

    draw = {"device": device, "generator": torch.Generator(device=device).manual_seed(seed)}
    dtype = torch_dtype(shape["dtype"])
    x = (torch.randn(shape["M"], shape["N"], **draw) + 0.5).to(dtype)
    return {
        "dy": torch.randn(shape["M"], shape["N"], **draw).to(dtype),
        "x": x,
        "weight": (1 + 0.2 * torch.randn(shape["N"], **draw)).to(dtype),
        "mean": x.float().mean(-1),
        "rstd": (x.float().var(-1, unbiased=False) + EPS).rsqrt(),
    }


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``dx`` [M, N], ``dw`` [N] and ``db`` [N]."""
    import torch

    x = inputs["x"]
    parts = torch.empty((2, _groups(shape, config), shape["N"]), device=x.device, dtype=torch.float32)
    dw, db = torch.empty((2, shape["N"]), device=x.device, dtype=x.dtype)
    tensors = {**inputs, "dx": torch.empty_like(x), "dw_parts": parts[0], "db_parts": parts[1], "dw": dw, "db": db}
    execute(layernorm_backward, launch(shape, config), tensors, config)
    execute(add_parts, launch_add_parts(shape, config), tensors, config)
    return {name: tensors[name] for name in ("dx", "dw", "db")}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the gradients in float64 with torch's autograd of its layer norm."""
    import torch

    x = inputs["x"].double().requires_grad_()
    weight = inputs["weight"].double().requires_grad_()
    bias = torch.zeros_like(weight, requires_grad=True)
    y = torch.nn.functional.layer_norm(x, (shape["N"],), weight, bias, EPS)
    dx, dw, db = torch.autograd.grad(y, (x, weight, bias), inputs["dy"].double())
    return {"dx": dx, "dw": dw, "db": db}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    They cover one rounding to the stored dtype, and the float32 roundings of sums over M rows. The sums are of size
    sqrt(M), and the roundings add up at random.
    """
    relative, absolute = rounding(shape["dtype"])
    return relative + 16 * 2.0**-24, absolute + 32 * 2.0**-24 * max(2.0, shape["M"] ** 0.5)


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why a row and two sums do not fit a workgroup's registers, or None if they fit."""
    return f"rows of {shape['N']} columns do not fit one tile of 32768" if shape["N"] > 32768 else None


# By width, the fastest by the model: docs/validation/defaults.md says what a longer search finds.
_FASTEST: Mapping[tuple[str, int], Config] = {
    ("gfx942", 4096): {"ROWS": 32, "COLUMNS": 32, "num_warps": 4, "waves_per_eu": 2},
    ("gfx942", 8192): {"ROWS": 32},
    ("gfx942", 16384): {"ROWS": 32, "waves_per_eu": 2},
    ("gfx950", 4096): {"ROWS": 32, "COLUMNS": 32},
}


def shape_config(shape: Shape, arch: str) -> Config:
    """Return the number of wavefronts: more for wider rows, because five float32 tiles are live at a time."""
    found = {"num_warps": 4 if shape["N"] <= 2048 else 8 if shape["N"] <= 8192 else 16}
    # Narrow rows have more partial sums for each column: each workgroup that adds them reads more of them at a time.
    found |= {"ROWS": 32} if shape["N"] <= 2048 else {}
    width = max(4096, triton.next_power_of_2(shape["N"])) if shape["N"] > 2048 else 0
    return {**found, **_FASTEST.get((arch, width), {})}


def gpu_config(shape: Shape, gpu: LaunchGpu) -> Config:
    """Return the number of workgroups: two for each CU, four for narrow rows, or one for wide rows.

    Every workgroup writes a row of float32 partial sums, which is expensive for wide rows. With narrow rows, two
    workgroups have too few loads in flight.
    """
    return {"GROUPS": gpu.compute_units * (1 if shape["N"] > 8192 else 2 if shape["N"] > 2048 else 4)}


KERNEL = Kernel(
    name="layernorm_backward",
    entry=layernorm_backward,
    summary="Layer norm, backward: gradients of input, weight and bias without atomics",
    launch=launch,
    parts={"add_parts": Part(add_parts, launch_add_parts)},
    shapes={
        "m4096_n4096": {"M": 4096, "N": 4096, "dtype": "fp16"},
        "m4096_n8192": {"M": 4096, "N": 8192, "dtype": "bf16"},
        "m2048_n16384": {"M": 2048, "N": 16384, "dtype": "fp16"},
    },
    checks={
        "even": Check({"M": 12, "N": 256, "dtype": "fp32"}, {"GROUPS": 4}),
        "masked": Check({"M": 7, "N": 333, "dtype": "fp16"}, {"GROUPS": 3, "ROWS": 2}),
        "one_group": Check({"M": 3, "N": 64, "dtype": "fp32"}, {"GROUPS": 1}),
        "fewer_rows_than_groups": Check({"M": 2, "N": 100, "dtype": "fp32"}),
    },
    config={"GROUPS": 608, "ROWS": 16, "COLUMNS": 64, "num_warps": 8},
    configs=({"GROUPS": 304, "num_warps": 16}, {"GROUPS": 1216, "num_warps": 4}),
    space={
        "GROUPS": (152, 304, 608, 1216),
        "ROWS": (8, 16, 32),
        "COLUMNS": (32, 64, 128),
        "num_warps": (4, 8, 16),
    },
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    unsupported=unsupported,
    shape_config=shape_config,
    gpu_config=gpu_config,
    flops=lambda shape: 14 * shape["M"] * shape["N"],
    bytes=lambda shape: (3 * shape["M"] + 3) * shape["N"] * size_of(shape["dtype"]) + 8 * shape["M"],
)
