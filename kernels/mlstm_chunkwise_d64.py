"""mLSTM chunkwise forward, the form for heads of 64: a chunk and the whole head are one tile.

The equations are those of ``mlstm_chunkwise``. What the small head allows: q, k and v of a chunk are read once each,
there is no loop over the head and none over the chunk's blocks, so no running maximum and no rescaling, and no masks.
The launches and the layout of the states are those of ``mlstm_chunkwise``, and ``scan`` is the same function.
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
HEAD = 64


@triton.jit
def contributions(k, v, input_gate, forget_gate, decay, memory, peak, S, CHUNK: tl.constexpr, BLOCK_DV: tl.constexpr):
    """Compute what a chunk of ``CHUNK`` steps adds to C and n by itself: ``BLOCK_DV`` columns of C a workgroup.

    ``k``, ``v`` [B*H, S, 64], gates [B*H, S]; ``decay`` [B*H, S] becomes the logarithm of the product of the forget
    gates since the chunk's begin; ``memory`` [B*H, chunks, 65, 64] holds C transposed and n as its last row, divided by
    exp2 of ``peak`` [B*H, chunks]; these are float32. S is a multiple of CHUNK.
    """
    head = tl.program_id(2).to(tl.int64)
    inner = tl.arange(0, 64)
    columns = tl.program_id(0) * BLOCK_DV + tl.arange(0, BLOCK_DV)
    step = head * S + tl.program_id(1) * CHUNK + tl.arange(0, CHUNK)
    keys = tl.load(k + step[:, None] * 64 + inner[None, :])
    values = tl.load(v + step[:, None] * 64 + columns[None, :])
    gate = tl.load(input_gate + step) * LOG2_E
    forget = tl.load(forget_gate + step) * LOG2_E
    log_forget = tl.minimum(forget, 0.0) - tl.log2(1.0 + tl.exp2(-tl.abs(forget)))
    since_begin = tl.cumsum(log_forget, axis=0)
    total = tl.sum(log_forget, axis=0)
    until_end = total - since_begin + gate
    # At least the maximum that a state of maximum 0 would have at the end: finite even if no input gate is.
    top = tl.maximum(total, tl.max(until_end, axis=0))
    state = head * tl.num_programs(1) + tl.program_id(1)
    weighted = keys.to(tl.float32) * tl.exp2(until_end - top)[:, None]
    memory += state * 4160
    if tl.program_id(0) == 0:
        tl.store(peak + state, top)
        tl.store(decay + step, since_begin)
        tl.store(memory + 4096 + inner, tl.sum(weighted, axis=0))
    own = tl.dot(tl.trans(values), weighted.to(values.dtype), input_precision="ieee")
    tl.store(memory + columns[:, None] * 64 + inner[None, :], own)


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
def mlstm_chunkwise_d64(q, k, v, input_gate, decay, memory, maximum, h, S, scale, CHUNK: tl.constexpr):
    """``h`` [B*H, S, 64] for one chunk: the state's part and the chunk's own, in one tile."""
    head = tl.program_id(1).to(tl.int64)
    chunk = tl.program_id(0)
    state = head * (S // CHUNK) + chunk
    local = tl.arange(0, CHUNK)
    inner = tl.arange(0, 64)
    step = head * S + chunk * CHUNK + local
    tile = step[:, None] * 64 + inner[None, :]
    queries = tl.load(q + tile)
    scores = tl.dot(queries, tl.load(k + step[None, :] * 64 + inner[:, None]), input_precision="ieee")
    since_begin = tl.load(decay + step)
    gate = tl.load(input_gate + step) * LOG2_E
    exponent = since_begin[:, None] + (gate - since_begin)[None, :]
    exponent = tl.where(local[None, :] <= local[:, None], exponent, float("-inf"))
    before = since_begin + tl.load(maximum + state)
    m = tl.maximum(before, tl.max(exponent, axis=1))
    scores *= tl.exp2(exponent - m[:, None])
    fade = tl.exp2(before - m)
    memory += state * 4160
    norm = tl.load(memory + 4096 + inner)
    weights = tl.sum(scores, axis=1) + fade * tl.sum(queries.to(tl.float32) * norm[None, :], axis=1)
    total = tl.load(memory + inner[None, :] * 64 + inner[:, None])
    total = tl.dot(queries, total.to(queries.dtype), input_precision="ieee") * fade[:, None]
    total += tl.dot(scores.to(queries.dtype), tl.load(v + tile), input_precision="ieee")
    divisor = tl.maximum(tl.abs(weights * scale), tl.exp2(-m))
    tl.store(h + tile, (total * (scale / divisor)[:, None]).to(h.dtype.element_ty))


def _tensors(shape: Shape, config: Config) -> dict[str, Tensor]:
    heads, chunks = shape["B"] * shape["H"], max(1, shape["S"] // config["CHUNK"])
    rows = Tensor(shape["dtype"], (heads, shape["S"], shape["DQK"]))
    gate = Tensor("fp32", (heads, shape["S"]))
    return {
        **dict.fromkeys(("q", "k", "v", "h"), rows),
        **dict.fromkeys(("input_gate", "forget_gate", "decay"), gate),
        "memory": Tensor("fp32", (heads, chunks, HEAD + 1, HEAD)),
        **dict.fromkeys(("peak", "maximum"), Tensor("fp32", (heads, chunks))),
    }


def _named(shape: Shape, config: Config, *names: str) -> dict[str, Any]:
    return {name: _tensors(shape, config)[name] for name in names}


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch that computes ``h``: one workgroup for each chunk.

    ``q``, ``k``, ``v`` and ``h`` are [B*H, S, 64]; gates and states are float32.
    """
    tensors = _named(shape, config, "q", "k", "v", "input_gate", "decay", "memory", "maximum", "h")
    args = {**tensors, "S": shape["S"], "scale": HEAD**-0.5, "CHUNK": config["CHUNK"]}
    return Launch(args=args, grid=(max(1, shape["S"] // config["CHUNK"]), shape["B"] * shape["H"]))


def launch_contributions(shape: Shape, config: Config) -> Launch:
    """Return the launch of ``contributions``.

    Each workgroup computes ``BLOCK_DV`` columns of what one chunk adds to a head's matrix memory.
    """
    tensors = _named(shape, config, "k", "v", "input_gate", "forget_gate", "decay", "memory", "peak")
    args = {**tensors, "S": shape["S"], "CHUNK": config["CHUNK"], "BLOCK_DV": config["BLOCK_DV"]}
    grid = (HEAD // config["BLOCK_DV"], max(1, shape["S"] // config["CHUNK"]), shape["B"] * shape["H"])
    return Launch(args=args, grid=grid)


def launch_scan(shape: Shape, config: Config) -> Launch:
    """Return the launch of ``scan``: a workgroup of one wavefront for 128 elements of a head's state."""
    tensors = _named(shape, config, "memory", "decay", "peak", "maximum")
    blocks = {"CHUNK": config["CHUNK"], "BLOCK": 128, "AHEAD": 4}
    size = (HEAD + 1) * HEAD
    grid = (triton.cdiv(size, blocks["BLOCK"]), shape["B"] * shape["H"])
    return Launch(args={**tensors, "S": shape["S"], "SIZE": size, **blocks}, grid=grid)


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed ``q``, ``k`` and ``v``, and gates.

    The gates are as in a trained model, or so large that exp would overflow.
    """
    import torch

    draw = {"device": device, "generator": torch.Generator(device=device).manual_seed(seed)}
    heads, dtype = shape["B"] * shape["H"], torch_dtype(shape["dtype"])
    tensors = {name: torch.randn(heads, shape["S"], HEAD, **draw).to(dtype) for name in ("q", "k", "v")}
    input_gate = torch.randn(heads, shape["S"], **draw)
    forget_gate = torch.randn(heads, shape["S"], **draw) + 4
    if shape["gates"] == "extreme":
        input_gate, forget_gate = 60 * input_gate, 20 * forget_gate - 60
    return {**tensors, "input_gate": input_gate, "forget_gate": forget_gate}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``h`` [B*H, S, 64]."""
    import torch

    wanted = _named(shape, config, "decay", "memory", "peak", "maximum", "h")
    device = inputs["q"].device
    scratch = {n: torch.empty(t.shape, device=device, dtype=torch_dtype(t.dtype)) for n, t in wanted.items()}
    tensors = {**inputs, **scratch}
    execute(contributions, launch_contributions(shape, config), tensors, config)
    execute(scan, launch_scan(shape, config), tensors, SCAN_OPTIONS)
    execute(mlstm_chunkwise_d64, launch(shape, config), tensors, config)
    return {"h": tensors["h"]}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the recurrence in float64, step by step, for all heads at once."""
    import torch

    q, k, v, gate, forget = (inputs[n].double() for n in ("q", "k", "v", "input_gate", "forget_gate"))
    forget = torch.nn.functional.logsigmoid(forget)
    heads = q.shape[0]
    memory = torch.zeros(heads, HEAD, HEAD, device=q.device, dtype=torch.float64)
    normaliser = torch.zeros(heads, HEAD, device=q.device, dtype=torch.float64)
    m = torch.zeros(heads, device=q.device, dtype=torch.float64)
    h = torch.empty_like(v)
    for t in range(shape["S"]):
        new_m = torch.maximum(forget[:, t] + m, gate[:, t])
        fade, weight = torch.exp(forget[:, t] + m - new_m), torch.exp(gate[:, t] - new_m)
        key = weight[:, None] * k[:, t]
        memory = fade[:, None, None] * memory + key[:, :, None] * v[:, t, None, :]
        normaliser = fade[:, None] * normaliser + key
        query = q[:, t] * HEAD**-0.5
        divisor = torch.maximum((normaliser * query).sum(-1).abs(), torch.exp(-new_m.clamp_min(-700)))
        h[:, t] = torch.einsum("hkv,hk->hv", memory, query) / divisor[:, None]
        m = new_m
    return {"h": h}


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


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why a shape is not supported, or None. Only heads of 64 and whole chunks are supported."""
    if shape["DQK"] != HEAD or shape["DV"] != HEAD:
        return f"heads of {shape['DQK']} and {shape['DV']}: this form is for 64, mlstm_chunkwise takes any"
    if shape["S"] % HEAD:
        return f"{shape['S']} steps are no multiple of {HEAD}, mlstm_chunkwise takes any number"
    return None


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why the sequence is not a whole number of chunks, or None if it is."""
    return f"S is no multiple of CHUNK={config['CHUNK']}" if shape["S"] % config["CHUNK"] else None


# The fastest by the model over all cases: docs/validation/defaults.md says what a longer search finds.
_FASTEST: Mapping[str, Config] = {"gfx942": {"num_warps": 1}, "gfx950": {"CHUNK": 128, "num_warps": 2}}


def shape_config(shape: Shape, arch: str) -> Config:
    """Return 256 lanes per workgroup for every wavefront size, and fewer on MI300 and MI350.

    There each wavefront has a larger tile: fewer wavefronts share the weights of a chunk's steps, which go through LDS
    from one product to the next.
    """
    found: dict[str, Any] = {"num_warps": 4 if arch.startswith("gfx9") else 8, **_FASTEST.get(arch, {})}
    return {**found, "CHUNK": HEAD} if shape["S"] % found.get("CHUNK", HEAD) else found


def _case(batch: int, steps: int) -> Shape:
    """Return a problem with 8 heads; the published cases name only batch size, sequence length and head size."""
    return {"B": batch, "S": steps, "H": 8, "DQK": HEAD, "DV": HEAD, "dtype": "bf16", "gates": "usual"}


def _check(steps: int, dtype: str, gates: str = "usual") -> Shape:
    return {"B": 1, "S": steps, "H": 2, "DQK": HEAD, "DV": HEAD, "dtype": dtype, "gates": gates}


SCAN_OPTIONS = {"num_warps": 1}

KERNEL = Kernel(
    name="mlstm_chunkwise_d64",
    entry=mlstm_chunkwise_d64,
    summary="mLSTM (xLSTM) chunkwise forward, the form for heads of 64",
    launch=launch,
    parts={
        "contributions": Part(contributions, launch_contributions),
        "scan": Part(scan, launch_scan, options=SCAN_OPTIONS),
    },
    shapes={
        "b1_s2048_h64": _case(1, 2048),
        "b1_s4096_h64": _case(1, 4096),
        "b2_s2048_h64": _case(2, 2048),
        "b2_s4096_h64": _case(2, 4096),
        "b4_s4096_h64": _case(4, 4096),
    },
    checks={
        "chunks": Check(_check(128, "fp32"), {"CHUNK": 32}),
        "fp16": Check(_check(128, "fp16")),
        "long_chunks": Check(_check(256, "fp32"), {"CHUNK": 128}),
        # More chunks than the scan loads ahead.
        "many_chunks": Check(_check(192, "fp32"), {"CHUNK": 16}),
        "bf16": Check(_check(128, "bf16"), {"CHUNK": 32, "BLOCK_DV": 32}),
        "extreme_gates": Check(_check(64, "fp32", "extreme"), {"CHUNK": 16}),
    },
    config={"CHUNK": 64, "BLOCK_DV": 64, "num_warps": 4, "num_stages": 1},
    # WMMA of gfx1100 needs its operands twice, in both halves of a wavefront, so only smaller tiles stay in registers.
    arch_config={"gfx1100": {"CHUNK": 32}},
    configs=(
        {"CHUNK": 32, "BLOCK_DV": 32, "num_warps": 2},
        {"CHUNK": 64, "BLOCK_DV": 16},
        {"CHUNK": 128, "BLOCK_DV": 32, "num_warps": 8},
        {"CHUNK": 64, "BLOCK_DV": 64, "num_warps": 1},
    ),
    space={"CHUNK": (16, 32, 64, 128), "BLOCK_DV": (16, 32, 64), "num_warps": (1, 2, 4, 8), "waves_per_eu": (0, 2, 4)},
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    unsupported=unsupported,
    alternatives=("mlstm_chunkwise",),
    shape_config=shape_config,
    flops=lambda shape: shape["B"] * shape["H"] * shape["S"] * (4 * HEAD * HEAD + 2 * HEAD * (HEAD + 1)),
    bytes=lambda shape: shape["B"] * shape["H"] * shape["S"] * (4 * HEAD * size_of(shape["dtype"]) + 8),
)
