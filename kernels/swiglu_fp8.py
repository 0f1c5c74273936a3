"""SwiGLU and FP8 quantisation in one pass: q = fp8(scale * silu(gate) * up), between the two projections of an MLP.

``x`` [M, 2 N] is the output of the gate/up projection: the gate in the first N columns, up in the others. The sigmoid
is computed with exp2 of the gate times log2(e), which the hardware has as one instruction.
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
    Shape,
    Tensor,
    execute,
    no_fp8,
    rounding,
    size_of,
    torch_dtype,
)

LARGEST = {"fp8e4nv": 448.0, "fp8e4b8": 240.0}
MINUS_LOG2_E = tl.constexpr(-1.4426950408889634)


@triton.jit
def swiglu_fp8(x, scale, quantised, N, LARGEST: tl.constexpr, BLOCK_N: tl.constexpr):
    """``BLOCK_N`` columns of row ``program_id(0)``: ``x`` [M, 2 N] and ``scale`` [1] into ``quantised`` [M, N]."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = columns < N
    gate = tl.load(x + row * 2 * N + columns, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(x + row * 2 * N + N + columns, mask=inside, other=0.0).to(tl.float32)
    value = gate / (1.0 + tl.exp2(gate * MINUS_LOG2_E)) * up * tl.load(scale)
    value = tl.minimum(tl.maximum(value, -LARGEST), LARGEST)
    tl.store(quantised + row * N + columns, value.to(quantised.dtype.element_ty), mask=inside)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch; ``x`` is [M, 2 N], ``scale`` [1] float32, ``quantised`` [M, N] 8-bit."""
    block = min(config["BLOCK_N"], triton.next_power_of_2(shape["N"]))
    args = {"x": Tensor(shape["dtype"], (shape["M"], 2 * shape["N"])), "scale": Tensor("fp32", (1,))}
    args |= {"quantised": Tensor(shape["out"], (shape["M"], shape["N"])), "N": shape["N"]}
    knobs = {"LARGEST": LARGEST[shape["out"]], "BLOCK_N": block}
    return Launch(args={**args, **knobs}, grid=(shape["M"], triton.cdiv(shape["N"], block)))


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed gate and up, with some extreme gates.

    The scale saturates the largest values.
    """
    import torch

    draw = {"device": device, "generator": torch.Generator(device=device).manual_seed(seed)}
    x = 2 * torch.randn(shape["M"], 2 * shape["N"], **draw)
    x[:, :: max(1, shape["N"] // 4)] *= 20
    return {
        "x": x.to(torch_dtype(shape["dtype"])),
        "scale": torch.full((1,), LARGEST[shape["out"]] / 12, device=device),
    }


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``quantised`` [M, N] in 8 bits."""
    import torch

    size = (shape["M"], shape["N"])
    quantised = torch.empty(size, device=inputs["x"].device, dtype=torch_dtype(shape["out"]))
    execute(swiglu_fp8, launch(shape, config), {**inputs, "quantised": quantised}, config)
    return {"quantised": quantised}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64, before the last rounding."""
    import torch

    gate, up = inputs["x"].double().split(shape["N"], dim=-1)
    limit = LARGEST[shape["out"]]
    value = torch.nn.functional.silu(gate) * up * inputs["scale"].double()
    return {"quantised": value.clamp(-limit, limit)}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    They cover the rounding to the 8-bit format, by up to half a unit, and the float32 arithmetic before it.
    """
    relative, absolute = rounding(shape["out"])
    return relative + 32 * 2.0**-24, absolute + 2.0**-24


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why the GPU cannot convert to the 8-bit float type, or None if it can."""
    return no_fp8(arch, shape["out"])


def _llama405b(rows: int) -> Shape:
    """Return a problem with 16384 columns, gate and up together, as published."""
    return {"M": rows, "N": 8192, "dtype": "fp16", "out": "fp8_e4m3"}


KERNEL = Kernel(
    name="swiglu_fp8",
    entry=swiglu_fp8,
    summary="SwiGLU + FP8 quantisation in one pass, with exp2",
    launch=launch,
    # 53248 / 8 = 6656 columns: Llama 3.1 405B's MLP shared by 8 GPUs.
    shapes={
        "m2048_n8192": {"M": 2048, "N": 8192, "dtype": "fp16", "out": "fp8_e4m3"},
        "llama405b_m1": _llama405b(1),
        "llama405b_m2": _llama405b(2),
        "llama405b_m4": _llama405b(4),
        "llama405b_m8": _llama405b(8),
        "llama405b_m16": _llama405b(16),
        "llama405b_m32": _llama405b(32),
        "llama405b_m64": _llama405b(64),
        "llama405b_m128": _llama405b(128),
        "llama405b_m256": _llama405b(256),
        "llama405b_m512": _llama405b(512),
        "llama405b_m1024": _llama405b(1024),
        "llama405b_m2048": _llama405b(2048),
        "tp8_m256": {"M": 256, "N": 6656, "dtype": "bf16", "out": "fp8_e4m3"},
    },
    checks={
        "even": Check({"M": 3, "N": 512, "dtype": "fp16", "out": "fp8_e4m3"}, {"BLOCK_N": 256}),
        "masked": Check({"M": 2, "N": 777, "dtype": "fp16", "out": "fp8_e4m3"}, {"BLOCK_N": 256}),
        "fp32": Check({"M": 2, "N": 300, "dtype": "fp32", "out": "fp8_e4m3"}),
    },
    config={"BLOCK_N": 2048, "num_warps": 4},
    configs=({"BLOCK_N": 1024, "num_warps": 2}, {"BLOCK_N": 4096, "num_warps": 8}),
    space={"BLOCK_N": (512, 1024, 2048, 4096, 8192), "num_warps": (1, 2, 4, 8), "waves_per_eu": (0, 2, 4)},
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    unsupported=unsupported,
    flops=lambda shape: 6 * shape["M"] * shape["N"],
    bytes=lambda shape: shape["M"] * shape["N"] * (2 * size_of(shape["dtype"]) + 1) + 4,
)
