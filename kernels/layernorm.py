"""Layer normalisation, forward: y = (x - mean) / sqrt(var + eps) * weight + bias, row by row."""

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl

from kprof.kernel_spec import Check, Config, Kernel, Launch, Shape, Tensor, execute, rounding, size_of, torch_dtype

EPS = 1e-5


@triton.jit
def layernorm(x, weight, bias, y, mean, rstd, stride, N, eps, BLOCK_N: tl.constexpr, ONE_TILE: tl.constexpr):
    """One row of ``x`` [M, N]: ``y`` [M, N], ``mean`` [M] and ``rstd`` [M] (float32, for the backward pass).

    With ``ONE_TILE`` the row stays in registers and is read once. Otherwise the mean and the sum of squared
    deviations of the tiles are merged (Chan, Golub and LeVeque 1979), which cannot cancel as a difference of
    two large sums does, and the row is read a second time, from L2.
    """
    row = tl.program_id(0)
    x_row = x + row.to(tl.int64) * stride
    y_row = y + row.to(tl.int64) * stride
    columns = tl.arange(0, BLOCK_N)
    if ONE_TILE:
        inside = columns < N
        value = tl.load(x_row + columns, mask=inside, other=0.0).to(tl.float32)
        row_mean = tl.sum(value, axis=0) / N
        centred = tl.where(inside, value - row_mean, 0.0)
        row_rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
        w = tl.load(weight + columns, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(bias + columns, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_row + columns, (centred * row_rstd * w + b).to(y.dtype.element_ty), mask=inside)
    else:
        row_mean = 0.0
        squares = 0.0
        for first in range(0, N, BLOCK_N):
            at = first + columns
            inside = at < N
            count = tl.minimum(N - first, BLOCK_N).to(tl.float32)
            value = tl.load(x_row + at, mask=inside, other=0.0).to(tl.float32)
            tile_mean = tl.sum(value, axis=0) / count
            centred = tl.where(inside, value - tile_mean, 0.0)
            delta = tile_mean - row_mean
            row_mean += delta * count / (first + count)
            squares += tl.sum(centred * centred, axis=0) + delta * delta * count * first / (first + count)
        row_rstd = tl.rsqrt(squares / N + eps)
        for first in range(0, N, BLOCK_N):
            at = first + columns
            inside = at < N
            value = tl.load(x_row + at, mask=inside, other=0.0).to(tl.float32)
            w = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
            b = tl.load(bias + at, mask=inside, other=0.0).to(tl.float32)
            tl.store(y_row + at, ((value - row_mean) * row_rstd * w + b).to(y.dtype.element_ty), mask=inside)
    tl.store(mean + row, row_mean)
    tl.store(rstd + row, row_rstd)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for each row.

    ``x``, ``y`` are [M, N]; ``weight``, ``bias`` [N]; ``mean``, ``rstd`` [M] float32.
    """
    rows = Tensor(shape["dtype"], (shape["M"], shape["N"]))
    columns = Tensor(shape["dtype"], (shape["N"],))
    statistic = Tensor("fp32", (shape["M"],))
    args = {"x": rows, "weight": columns, "bias": columns, "y": rows, "mean": statistic, "rstd": statistic}
    numbers = {"stride": shape["N"], "N": shape["N"], "eps": EPS}
    width = min(config["BLOCK_N"], triton.next_power_of_2(shape["N"]))
    tiles = {"BLOCK_N": width, "ONE_TILE": width >= shape["N"]}
    return Launch(args={**args, **numbers, **tiles}, grid=(shape["M"],))


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return ``x`` with mean 0.5, and ``weight`` around 1, so that an error in the mean shows."""
    import torch

    draw = {"device": device, "generator": torch.Generator(device=device).manual_seed(seed)}
    dtype = torch_dtype(shape["dtype"])
    return {
        "x": (torch.randn(shape["M"], shape["N"], **draw) + 0.5).to(dtype),
        "weight": (1 + 0.2 * torch.randn(shape["N"], **draw)).to(dtype),
        "bias": (0.2 * torch.randn(shape["N"], **draw)).to(dtype),
    }


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``y`` [M, N], ``mean`` [M] and ``rstd`` [M]."""
    import torch

    mean, rstd = torch.empty((2, shape["M"]), device=inputs["x"].device, dtype=torch.float32)
    outputs = {"y": torch.empty_like(inputs["x"]), "mean": mean, "rstd": rstd}
    execute(layernorm, launch(shape, config), {**inputs, **outputs}, config)
    return outputs


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the same results in float64."""
    x, weight, bias = (inputs[name].double() for name in ("x", "weight", "bias"))
    mean = x.mean(-1)
    rstd = (x.var(-1, unbiased=False) + EPS).rsqrt()
    return {"y": (x - mean[:, None]) * rstd[:, None] * weight + bias, "mean": mean, "rstd": rstd}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    They cover one rounding to the stored dtype, and 16 float32 roundings of intermediate terms of size 1. The latter
    matter where y is small, because y is a difference of terms of size 1.
    """
    relative, absolute = rounding(shape["dtype"])
    return relative + 16 * 2.0**-24, absolute + 64 * 2.0**-24


def shape_config(shape: Shape, arch: str) -> Config:
    """Return a configuration that keeps rows in registers.

    On gfx950 rows of up to 65,536 stay in registers; elsewhere rows beyond 16,384 would spill.
    """
    wide = arch == "gfx950" and 16384 < shape["N"] <= 65536
    return {"BLOCK_N": triton.next_power_of_2(shape["N"]), "num_warps": 16} if wide else {}


KERNEL = Kernel(
    name="layernorm",
    entry=layernorm,
    summary="Layer norm, forward; keeps mean and rstd for the backward pass",
    launch=launch,
    shapes={
        "m4096_n4096": {"M": 4096, "N": 4096, "dtype": "fp16"},
        "m4096_n8192": {"M": 4096, "N": 8192, "dtype": "bf16"},
        "m2048_n16384": {"M": 2048, "N": 16384, "dtype": "fp16"},
        "m1024_n65536": {"M": 1024, "N": 65536, "dtype": "fp16"},
    },
    checks={
        "one_tile": Check({"M": 5, "N": 256, "dtype": "fp32"}),
        "masked": Check({"M": 3, "N": 777, "dtype": "fp16"}),
        "tiles": Check({"M": 3, "N": 2001, "dtype": "bf16"}, {"BLOCK_N": 512}),
        "tiles_fp32": Check({"M": 2, "N": 1024, "dtype": "fp32"}, {"BLOCK_N": 256}),
    },
    config={"BLOCK_N": 16384, "num_warps": 8},
    configs=({"BLOCK_N": 4096, "num_warps": 4}, {"BLOCK_N": 16384, "num_warps": 16}),
    shape_config=shape_config,
    space={"BLOCK_N": (1024, 2048, 4096, 8192, 16384, 32768, 65536), "num_warps": (2, 4, 8, 16)},
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=lambda shape: 8 * shape["M"] * shape["N"],
    bytes=lambda shape: (2 * shape["M"] + 2) * shape["N"] * size_of(shape["dtype"]) + 8 * shape["M"],
)
