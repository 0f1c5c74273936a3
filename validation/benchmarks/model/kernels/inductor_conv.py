"""Convolution as PyTorch's Inductor generates it from its template, for images in NCHW order.

An implicit matrix product: ``BLOCK_M`` pixels by ``BLOCK_N`` channels, with one loop over the window's places and
blocks of input channels; sizes, strides and padding are constants in the code. NCHW, because Inductor does not change
the layout on AMD, which the ``conv1x1_via_mm`` entries of the published tables confirm. Groups are left out (none
of the measured problems has any).
"""

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor


@triton.jit
def inductor_conv(
    X, W, out, BATCH: tl.constexpr, IN_C: tl.constexpr, IN_H: tl.constexpr, IN_W: tl.constexpr,
    OUT_C: tl.constexpr, OUT_H: tl.constexpr, OUT_W: tl.constexpr, KERNEL: tl.constexpr, STRIDE: tl.constexpr,
    PADDING: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Out [BATCH, OUT_C, OUT_H, OUT_W] from X [BATCH, IN_C, IN_H, IN_W] and W [OUT_C, IN_C, KERNEL, KERNEL]."""
    pixel = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    out_w = pixel % OUT_W
    line = pixel // OUT_W
    out_h = line % OUT_H
    image = line // OUT_H
    channel = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x_base = X + (image * (IN_C * IN_H * IN_W))[:, None]
    w_base = W + (channel * (IN_C * KERNEL * KERNEL))[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    BLOCKS: tl.constexpr = (IN_C + BLOCK_K - 1) // BLOCK_K
    for step in range(KERNEL * KERNEL * BLOCKS):
        k = (step % BLOCKS) * BLOCK_K
        place = step // BLOCKS
        i = place // KERNEL
        j = place % KERNEL
        in_h = i - PADDING + out_h * STRIDE
        in_w = j - PADDING + out_w * STRIDE
        in_c = tl.arange(0, BLOCK_K) + k
        x_ptrs = x_base + ((in_h * IN_W)[:, None] + in_w[:, None] + (in_c * (IN_H * IN_W))[None, :])
        x_inside = (
            (image < BATCH)[:, None]
            & (in_h >= 0)[:, None]
            & (in_h < IN_H)[:, None]
            & (in_w >= 0)[:, None]
            & (in_w < IN_W)[:, None]
            & (in_c < IN_C)[None, :]
        )
        x = tl.load(x_ptrs, mask=x_inside, other=0.0)
        w_ptrs = w_base + ((in_c * (KERNEL * KERNEL))[:, None] + (i * KERNEL) + j)
        w_inside = (in_c[:, None] < IN_C) & (channel[None, :] < OUT_C)
        w = tl.load(w_ptrs, mask=w_inside, other=0.0)
        acc += tl.dot(x, w)
    inside = (image < BATCH)[:, None] & (out_h < OUT_H)[:, None] & (out_w < OUT_W)[:, None] & (channel < OUT_C)[None, :]
    places = (
        out_w[:, None]
        + OUT_W * out_h[:, None]
        + OUT_H * OUT_W * channel[None, :]
        + OUT_C * OUT_H * OUT_W * image[:, None]
    )
    tl.store(out + places, acc.to(out.dtype.element_ty), mask=inside)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per ``BLOCK_M`` pixels and ``BLOCK_N`` channels."""
    size = {name: shape[name] for name in ("BATCH", "IN_C", "IN_H", "IN_W", "OUT_C", "KERNEL", "STRIDE", "PADDING")}
    height, width = (
        (shape[side] + 2 * shape["PADDING"] - shape["KERNEL"]) // shape["STRIDE"] + 1 for side in ("IN_H", "IN_W")
    )
    batch, channels, kernel = shape["BATCH"], shape["OUT_C"], shape["KERNEL"]
    args = {
        "X": Tensor("bf16", (batch, shape["IN_C"], shape["IN_H"], shape["IN_W"])),
        "W": Tensor("bf16", (channels, shape["IN_C"], kernel, kernel)),
        "out": Tensor("bf16", (batch, channels, height, width)),
        **size,
        "OUT_H": height,
        "OUT_W": width,
        **{name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")},
    }
    grid = (triton.cdiv(batch * height * width, config["BLOCK_M"]), triton.cdiv(channels, config["BLOCK_N"]), 1)
    return Launch(args, grid)


KERNEL = Kernel(
    name="inductor_conv",
    entry=inductor_conv,
    summary="Inductor's convolution template in NCHW",
    launch=launch,
    shapes={
        "3x3": {
            "BATCH": 1,
            "IN_C": 64,
            "IN_H": 56,
            "IN_W": 56,
            "OUT_C": 64,
            "KERNEL": 3,
            "STRIDE": 1,
            "PADDING": 1,
        }
    },
    config={
        "BLOCK_M": 64,
        "BLOCK_N": 64,
        "BLOCK_K": 32,
        "num_warps": 4,
        "num_stages": 1,
        "matrix_instr_nonkdim": 16,
    },
)
