"""mLSTM, chunkwise forward: the matrix-memory cell of xLSTM, parallel over chunks.

For each head, with input gate i, forget gate f (both before their activation), q, k and v at step t:

    C_t = sigmoid(f_t) C_(t-1) + exp(i_t) k_t v_t^T        n_t = sigmoid(f_t) n_(t-1) + exp(i_t) k_t
    h_t = C_t^T q_t / max(|n_t . q_t|, 1)                  with q scaled by 1 / sqrt(head size)

(Beck et al. 2024, "xLSTM"). exp(i) overflows, so everything is kept divided by exp(m), m a running maximum: C and n
between chunks, weights inside a chunk; the 1 in the denominator then is exp(-m). All exponents are in base 2.

Three launches: ``contributions`` computes what each chunk adds to C and n by itself, all chunks at once; ``scan`` turns
that, in place, into C, n and m before each chunk, element by element; ``mlstm_chunkwise`` computes h, all chunks at
once. Only the scan goes through the chunks in order, and it has no products. This is the form for any head size;
``mlstm_chunkwise_d64`` is the one for heads of 64.
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
    Part,
    Shape,
    Tensor,
    execute,
    rounding,
    size_of,
    torch_dtype,
)

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def contributions(
    k, v, input_gate, forget_gate, decay, memory, peak, S, DQK: tl.constexpr, DV: tl.constexpr, CHUNK: tl.constexpr,
    BLOCK_DK: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """Compute what a chunk adds to C and n by itself: [BLOCK_DK, BLOCK_DV] of C a workgroup.

    ``k`` [B*H, S, DQK], ``v`` [B*H, S, DV], gates [B*H, S]; ``decay`` [B*H, S] becomes the logarithm of the product
    of the forget gates since the chunk's begin; ``memory`` [B*H, chunks, DV + 1, DQK] holds C transposed and n as its
    last row, divided by exp2 of ``peak`` [B*H, chunks]; all of these float32.

    Beyond the end the input gate is -inf, weight 0, and the forget gate +inf, factor 1.
    """
    head = tl.program_id(2).to(tl.int64)
    row_blocks: tl.constexpr = (DQK + BLOCK_DK - 1) // BLOCK_DK
    rows = tl.program_id(0) % row_blocks * BLOCK_DK + tl.arange(0, BLOCK_DK)
    columns = tl.program_id(0) // row_blocks * BLOCK_DV + tl.arange(0, BLOCK_DV)
    step = tl.program_id(1) * CHUNK + tl.arange(0, CHUNK)
    inside = step < S
    gate = tl.load(input_gate + head * S + step, mask=inside, other=float("-inf")) * LOG2_E
    forget = tl.load(forget_gate + head * S + step, mask=inside, other=float("inf")) * LOG2_E
    keys = tl.load(
        k + (head * S + step[:, None]) * DQK + rows[None, :], mask=inside[:, None] & (rows < DQK)[None, :], other=0.0
    )
    values = tl.load(
        v + (head * S + step[:, None]) * DV + columns[None, :],
        mask=inside[:, None] & (columns < DV)[None, :],
        other=0.0,
    )
    # log2(sigmoid), without overflow for either sign.
    log_forget = tl.minimum(forget, 0.0) - tl.log2(1.0 + tl.exp2(-tl.abs(forget)))
    since_begin = tl.cumsum(log_forget, axis=0)
    total = tl.sum(log_forget, axis=0)
    until_end = total - since_begin + gate
    # At least the maximum that a state of maximum 0 would have at the end: finite even if no input gate is.
    top = tl.maximum(total, tl.max(until_end, axis=0))
    state = head * tl.num_programs(1) + tl.program_id(1)
    if tl.program_id(0) == 0:
        tl.store(peak + state, top)
        tl.store(decay + head * S + step, since_begin, mask=inside)
    weighted = keys.to(tl.float32) * tl.exp2(until_end - top)[:, None]
    memory += state * ((DV + 1) * DQK)
    if tl.program_id(0) < row_blocks:
        tl.store(memory + DV * DQK + rows, tl.sum(weighted, axis=0), mask=rows < DQK)
    own = tl.dot(tl.trans(values), weighted.to(values.dtype), input_precision="ieee")
    keep = (columns < DV)[:, None] & (rows < DQK)[None, :]
    tl.store(memory + columns[:, None] * DQK + rows[None, :], own, mask=keep)


@triton.jit
def scan(
    memory, decay, peak, maximum, S, SIZE: tl.constexpr, CHUNK: tl.constexpr, BLOCK: tl.constexpr, AHEAD: tl.constexpr
):
    """Replace what each chunk adds to C and n by C and n before the chunk, ``BLOCK`` elements a workgroup.

    ``maximum`` [B*H, chunks] becomes m before each chunk. Up to ``AHEAD`` chunks are loaded ahead, since the few
    wavefronts of this launch do not hide the latency of a load.
    """
    head = tl.program_id(1).to(tl.int64)
    element = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    one = tl.arange(0, 1)
    keep = element < SIZE
    chunks = tl.cdiv(S, CHUNK)
    memory += head * chunks * SIZE
    peak += head * chunks
    maximum += head * chunks
    decay += head * S
    state = tl.zeros([BLOCK], dtype=tl.float32)
    m = tl.zeros([1], dtype=tl.float32)
    for chunk in tl.range(0, chunks, num_stages=AHEAD):
        own = tl.load(memory + chunk * SIZE + element, mask=keep)
        top = tl.load(peak + chunk + one)
        end = m + tl.load(decay + tl.minimum((chunk + 1) * CHUNK, S) - 1 + one)
        tl.store(memory + chunk * SIZE + element, state, mask=keep)
        if tl.program_id(0) == 0:
            tl.store(maximum + chunk + one, m)
        m = tl.maximum(end, top)
        state = state * tl.exp2(end - m) + own * tl.exp2(top - m)


@triton.jit
def mlstm_chunkwise(
    q, k, v, input_gate, decay, memory, maximum, h, S, scale, DQK: tl.constexpr, DV: tl.constexpr,
    CHUNK: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_DK: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    """``h`` [B*H, S, DV] for ``BLOCK_M`` steps of one chunk and ``BLOCK_DV`` columns.

    The sums start with what the state before the chunk contributes, weight 1 at maximum ``m``, and go on over the
    chunk's earlier steps, ``BLOCK_N`` at a time, rescaled whenever the maximum grows.
    """
    head = tl.program_id(2).to(tl.int64)
    blocks = CHUNK // BLOCK_M
    chunk = tl.program_id(1) // blocks
    first = chunk * CHUNK + tl.program_id(1) % blocks * BLOCK_M
    row = first + tl.arange(0, BLOCK_M)
    row_inside = row < S
    columns = tl.program_id(0) * BLOCK_DV + tl.arange(0, BLOCK_DV)
    state = head * tl.cdiv(S, CHUNK) + chunk
    row_decay = tl.load(decay + head * S + row, mask=row_inside, other=0.0)
    m = row_decay + tl.load(maximum + state)
    total = tl.zeros([BLOCK_M, BLOCK_DV], dtype=tl.float32)
    weights = tl.zeros([BLOCK_M], dtype=tl.float32)
    memory += state * ((DV + 1) * DQK)
    q_rows = q + (head * S + row)[:, None] * DQK
    for at in tl.static_range(0, DQK, BLOCK_DK):
        inner = at + tl.arange(0, BLOCK_DK)
        queries = tl.load(q_rows + inner[None, :], mask=row_inside[:, None] & (inner < DQK)[None, :], other=0.0)
        tile = tl.load(
            memory + columns[None, :] * DQK + inner[:, None],
            mask=(inner < DQK)[:, None] & (columns < DV)[None, :],
            other=0.0,
        )
        norm = tl.load(memory + DV * DQK + inner, mask=inner < DQK, other=0.0)
        total += tl.dot(queries, tile.to(queries.dtype), input_precision="ieee")
        weights += tl.sum(queries.to(tl.float32) * norm[None, :], axis=1)
    for start in range(chunk * CHUNK, first + BLOCK_M, BLOCK_N):
        step = start + tl.arange(0, BLOCK_N)
        inside = step < S
        scores = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
        for at in tl.static_range(0, DQK, BLOCK_DK):
            inner = at + tl.arange(0, BLOCK_DK)
            queries = tl.load(q_rows + inner[None, :], mask=row_inside[:, None] & (inner < DQK)[None, :], other=0.0)
            keys = tl.load(
                k + (head * S + step[None, :]) * DQK + inner[:, None],
                mask=inside[None, :] & (inner < DQK)[:, None],
                other=0.0,
            )
            scores += tl.dot(queries, keys, input_precision="ieee")
        gate = tl.load(input_gate + head * S + step, mask=inside, other=float("-inf")).to(tl.float32) * LOG2_E
        step_decay = tl.load(decay + head * S + step, mask=inside, other=0.0)
        exponent = row_decay[:, None] + (gate - step_decay)[None, :]
        exponent = tl.where(step[None, :] <= row[:, None], exponent, float("-inf"))
        new_m = tl.maximum(m, tl.max(exponent, axis=1))
        fade = tl.exp2(m - new_m)
        scores *= tl.exp2(exponent - new_m[:, None])
        values = tl.load(
            v + (head * S + step[:, None]) * DV + columns[None, :],
            mask=inside[:, None] & (columns < DV)[None, :],
            other=0.0,
        )
        total = total * fade[:, None] + tl.dot(scores.to(values.dtype), values, input_precision="ieee")
        weights = weights * fade + tl.sum(scores, axis=1)
        m = new_m
    divisor = tl.maximum(tl.abs(weights * scale), tl.exp2(-m))
    out = total * (scale / divisor)[:, None]
    keep = row_inside[:, None] & (columns < DV)[None, :]
    tl.store(h + (head * S + row)[:, None] * DV + columns[None, :], out.to(h.dtype.element_ty), mask=keep)


def _chunks(shape: Shape, config: Config) -> int:
    return triton.cdiv(shape["S"], config["CHUNK"])


def _tensors(shape: Shape, config: Config) -> dict[str, Tensor]:
    heads, chunks = shape["B"] * shape["H"], _chunks(shape, config)
    qk = Tensor(shape["dtype"], (heads, shape["S"], shape["DQK"]))
    v = Tensor(shape["dtype"], (heads, shape["S"], shape["DV"]))
    gate = Tensor("fp32", (heads, shape["S"]))
    return {
        "q": qk,
        "k": qk,
        "v": v,
        "h": v,
        "input_gate": gate,
        "forget_gate": gate,
        "decay": gate,
        "memory": Tensor("fp32", (heads, chunks, shape["DV"] + 1, shape["DQK"])),
        "peak": Tensor("fp32", (heads, chunks)),
        "maximum": Tensor("fp32", (heads, chunks)),
    }


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch that computes ``h``.

    ``q``, ``k``, ``v`` and ``h`` are [B*H, S, head size]; gates and states are float32.
    """
    blocks = {name: config[name] for name in ("CHUNK", "BLOCK_M", "BLOCK_N", "BLOCK_DK", "BLOCK_DV")}
    tensors = {name: tensor for name, tensor in _tensors(shape, config).items() if name not in {"forget_gate", "peak"}}
    numbers = {"S": shape["S"], "scale": shape["DQK"] ** -0.5, "DQK": shape["DQK"], "DV": shape["DV"]}
    columns = triton.cdiv(shape["DV"], blocks["BLOCK_DV"])
    steps = _chunks(shape, config) * (blocks["CHUNK"] // blocks["BLOCK_M"])
    return Launch(args={**tensors, **numbers, **blocks}, grid=(columns, steps, shape["B"] * shape["H"]))


def launch_contributions(shape: Shape, config: Config) -> Launch:
    """Return the launch of ``contributions``: a workgroup for a tile of what a chunk adds to a head's matrix memory."""
    blocks = {"CHUNK": config["CHUNK"], "BLOCK_DK": config["BLOCK_DK"], "BLOCK_DV": config["STATE_DV"]}
    names = ("k", "v", "input_gate", "forget_gate", "decay", "memory", "peak")
    tensors = {name: _tensors(shape, config)[name] for name in names}
    numbers = {"S": shape["S"], "DQK": shape["DQK"], "DV": shape["DV"]}
    rows, columns = triton.cdiv(shape["DQK"], blocks["BLOCK_DK"]), triton.cdiv(shape["DV"], blocks["BLOCK_DV"])
    grid = (rows * columns, _chunks(shape, config), shape["B"] * shape["H"])
    return Launch(args={**tensors, **numbers, **blocks}, grid=grid)


def launch_scan(shape: Shape, config: Config) -> Launch:
    """Return the launch of ``scan``: a workgroup of one wavefront for 128 elements of a head's state."""
    tensors = {name: _tensors(shape, config)[name] for name in ("memory", "decay", "peak", "maximum")}
    size = (shape["DV"] + 1) * shape["DQK"]
    blocks = {"CHUNK": config["CHUNK"], "BLOCK": 128, "AHEAD": 4}
    grid = (triton.cdiv(size, blocks["BLOCK"]), shape["B"] * shape["H"])
    return Launch(args={**tensors, "S": shape["S"], "SIZE": size, **blocks}, grid=grid)


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed ``q``, ``k`` and ``v``, and gates.

    The gates are as in a trained model, or so large that exp would overflow.
    """
    import torch

    draw = {"device": device, "generator": torch.Generator(device=device).manual_seed(seed)}
    heads, dtype = shape["B"] * shape["H"], torch_dtype(shape["dtype"])
    size = {"q": shape["DQK"], "k": shape["DQK"], "v": shape["DV"]}
    tensors = {name: torch.randn(heads, shape["S"], size[name], **draw).to(dtype) for name in size}
    input_gate = torch.randn(heads, shape["S"], **draw)
    forget_gate = torch.randn(heads, shape["S"], **draw) + 4
    if shape["gates"] == "extreme":
        input_gate, forget_gate = 60 * input_gate, 20 * forget_gate - 60
    return {**tensors, "input_gate": input_gate, "forget_gate": forget_gate}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``h`` [B*H, S, DV]."""
    import torch

    device = inputs["q"].device
    needed = ("decay", "memory", "peak", "maximum", "h")
    descriptions = _tensors(shape, config)
    scratch = {
        n: torch.empty(descriptions[n].shape, device=device, dtype=torch_dtype(descriptions[n].dtype)) for n in needed
    }
    tensors = {**inputs, **scratch}
    execute(contributions, launch_contributions(shape, config), tensors, config)
    execute(scan, launch_scan(shape, config), tensors, SCAN_OPTIONS)
    execute(mlstm_chunkwise, launch(shape, config), tensors, config)
    return {"h": tensors["h"]}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the quadratic form in float64, one head at a time.

    h = (D * q k^T) v / max(|sum of the row|, exp(-m)), with D[t, s] = exp(sum of log sigmoid(f) over s+1..t + i[s] -
    m[t]) for s <= t.
    """
    import torch

    result = torch.empty(inputs["v"].shape, device=inputs["v"].device, dtype=torch.float64)
    for head in range(result.shape[0]):
        q, k, v, gate, forget = (inputs[n][head].double() for n in ("q", "k", "v", "input_gate", "forget_gate"))
        decay = torch.nn.functional.logsigmoid(forget).cumsum(0)
        exponent = decay[:, None] - decay[None, :] + gate[None, :]
        later = torch.ones_like(exponent, dtype=torch.bool).triu(1)
        exponent = exponent.masked_fill(later, -torch.inf)
        m = exponent.amax(1).clamp_min(-700)  # exp(700) is still a float64; below that h is 0 in any case
        weight = (q @ k.T) * shape["DQK"] ** -0.5 * torch.exp(exponent - m[:, None])
        result[head] = (weight @ v) / torch.maximum(weight.sum(1).abs(), torch.exp(-m))[:, None]
    return {"h": result}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    The weights, the state and the result are rounded to the input's dtype, so there are four roundings of terms of size
    1. Numerator and denominator are sums with cancellation: errors of their terms add up at random and are seen against
    the sum, which is smaller than the terms by up to the 1 in the denominator. Hence 64 roundings absolute. Exponents
    are float32 sums of gates: a relative error of the weights, larger with extreme gates, whose sums reach thousands.
    """
    relative, _ = rounding(shape["dtype"])
    exponents = 2.0**-9 if shape["gates"] == "extreme" else 2.0**-13
    return 4 * relative + exponents, 64 * relative + exponents


def block_size(head: int, wavefront: int) -> int:
    """Return the tile width for a head size: a power of two, at least a wavefront's width, at most 64 columns.

    Wider heads are divided into several tiles, because a tile's accumulator and operands must stay in registers.
    """
    return min(64, max(wavefront, triton.next_power_of_2(head)))


# Fewer workgroups of ``contributions`` read the same keys and weigh them. MI355X has the LDS to take the head of the
# other kernel in one tile, too, with the next one on its way.
_WIDE: Mapping[str, Config] = {
    "gfx942": {"STATE_DV": 128},
    "gfx950": {"BLOCK_DK": 128, "BLOCK_DV": 128, "STATE_DV": 128, "num_stages": 2},
}


def shape_config(shape: Shape, arch: str) -> Config:
    """Return blocks for the head sizes and the wavefront, which has 64 lanes on gfx9 and 32 on gfx10 and later."""
    wavefront = 64 if arch.startswith("gfx9") else 32
    # Four accumulators of 64 x 64 are alive at a time: 256 lanes, whatever the wavefront.
    blocks = {"BLOCK_DK": block_size(shape["DQK"], wavefront), "BLOCK_DV": block_size(shape["DV"], wavefront)}
    blocks["STATE_DV"] = blocks["BLOCK_DV"]
    if max(shape["DQK"], shape["DV"]) > 64:
        blocks |= _WIDE.get(arch, {})
    return {**blocks, "num_warps": 256 // wavefront}


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why the blocks do not divide the chunk, or None if they do."""
    if config["CHUNK"] % config["BLOCK_M"] or config["BLOCK_M"] % config["BLOCK_N"]:
        return "CHUNK must be a multiple of BLOCK_M, and BLOCK_M of BLOCK_N"
    return None


def flops(shape: Shape) -> int:
    """Return the FLOPs of the states, and of the steps within chunks of 64: both products of each."""
    steps, chunk = shape["B"] * shape["H"] * shape["S"], 64
    state = 4 * shape["DQK"] * shape["DV"]
    inside = (shape["DQK"] + shape["DV"]) * (chunk + 1)
    return steps * (state + inside)


def _case(batch: int, steps: int, head: int) -> Shape:
    """Return a problem with 8 heads; the published cases name only batch size, sequence length and head size."""
    return {"B": batch, "S": steps, "H": 8, "DQK": head, "DV": head, "dtype": "bf16", "gates": "usual"}


def _check(steps: int, dqk: int, dv: int, dtype: str, gates: str = "usual") -> Shape:
    return {"B": 1, "S": steps, "H": 2, "DQK": dqk, "DV": dv, "dtype": dtype, "gates": gates}


SCAN_OPTIONS = {"num_warps": 1}
SMALL = {"CHUNK": 32, "BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_DK": 16, "BLOCK_DV": 16, "STATE_DV": 32}

KERNEL = Kernel(
    name="mlstm_chunkwise",
    entry=mlstm_chunkwise,
    summary="mLSTM (xLSTM) chunkwise forward for any head size",
    launch=launch,
    parts={
        "contributions": Part(contributions, launch_contributions),
        "scan": Part(scan, launch_scan, options=SCAN_OPTIONS),
    },
    alternatives=("mlstm_chunkwise_d64",),
    shapes={
        "b1_s2048_h128": _case(1, 2048, 128),
        "b1_s2048_h64": _case(1, 2048, 64),
        "b1_s4096_h64": _case(1, 4096, 64),
        "b1_s4096_h128": _case(1, 4096, 128),
        "b2_s2048_h64": _case(2, 2048, 64),
        "b2_s2048_h128": _case(2, 2048, 128),
        "b2_s4096_h64": _case(2, 4096, 64),
        "b2_s4096_h128": _case(2, 4096, 128),
    },
    checks={
        "chunks": Check(_check(96, 32, 32, "fp32"), SMALL),
        "fp16": Check(_check(64, 32, 32, "fp16"), SMALL),
        "masked": Check(_check(75, 24, 40, "fp32"), SMALL),
        "extreme_gates": Check(_check(64, 16, 16, "fp32", "extreme"), SMALL),
        "long_chunks": Check(_check(200, 32, 32, "fp32"), {**SMALL, "CHUNK": 128, "BLOCK_M": 64, "BLOCK_N": 32}),
        # More chunks than the scan loads ahead, the last one of 8 steps.
        "many_chunks": Check(_check(200, 24, 16, "fp32"), {**SMALL, "CHUNK": 16}),
        "many_extreme": Check(_check(200, 16, 24, "fp32", "extreme"), {**SMALL, "CHUNK": 16}),
        "one_block": Check(_check(64, 64, 64, "bf16"), {"CHUNK": 32, "BLOCK_M": 32, "BLOCK_N": 32}),
    },
    config={
        "CHUNK": 64,
        "BLOCK_M": 64,
        "BLOCK_N": 32,
        "BLOCK_DK": 64,
        "BLOCK_DV": 64,
        "STATE_DV": 64,
        "num_warps": 4,
        "num_stages": 1,
    },
    arch_config={
        # Half of the states of chunks of 64 are written, scanned and read; with 256 the chunk's own steps cost more.
        "gfx942": {"CHUNK": 128, "matrix_instr_nonkdim": 16, "kpack": 2},
        "gfx950": {"CHUNK": 128, "matrix_instr_nonkdim": 16},
        # WMMA of gfx1100 needs its operands twice, in both halves of a wavefront, so only smaller tiles stay in
        # registers.
        "gfx1100": {"BLOCK_M": 32},
    },
    configs=(
        {"CHUNK": 128, "BLOCK_M": 64, "BLOCK_N": 64},
        {"CHUNK": 128, "BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8},
        {"CHUNK": 64, "BLOCK_M": 32, "BLOCK_N": 32, "num_warps": 2},
    ),
    space={
        "CHUNK": (32, 64, 128, 256),
        "BLOCK_M": (32, 64, 128),
        "BLOCK_N": (16, 32, 64),
        "BLOCK_DK": (32, 64, 128),
        "BLOCK_DV": (32, 64, 128),
        "STATE_DV": (32, 64, 128),
        "num_warps": (2, 4, 8),
        "num_stages": (1, 2),
        "waves_per_eu": (0, 2),
    },
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    shape_config=shape_config,
    flops=flops,
    bytes=lambda shape: (
        shape["B"] * shape["H"] * shape["S"] * (2 * (shape["DQK"] + shape["DV"]) * size_of(shape["dtype"]) + 8)
    ),
)
