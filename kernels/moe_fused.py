"""Fused mixture of experts: each token goes through the SwiGLU networks of its ``TOP_K`` experts, which are weighed.

Tokens of an expert lie anywhere, but a matrix product needs them together. The pairs of a token and one of its
experts, called slots, are sorted by expert, and each expert's list is padded to a multiple of ``BLOCK_M``. Every
block of rows then has one expert, whose number it looks up. Three launches follow:

* The entry gathers the rows of its slots and multiplies them with the gate and the up half of the expert's first
  matrix in one loop, so that rows are loaded once for both, and stores silu(gate) * up in sorted order.
* ``::down`` multiplies that with the expert's second matrix, applies the router's weight, and scatters rows back.
* ``::sum`` adds the ``TOP_K`` rows of a token in order. Nothing is added atomically: every run gives the same result.

Layout: weights are (expert, row, column) with the summed dimension contiguous, gate rows before up rows. Columns are
numbered before blocks of rows. A GPU made of XCDs deals workgroups out in turn, so each XCD reads its own columns of
an expert's weights and finds them in its L2 for the next block of rows of the same expert.

With many tokens per expert, the matrix units bound the kernel. With few, the weights of each used expert are read
for a handful of rows, and memory bounds the kernel: 6 K F bytes per expert in 16 bits. The grid is sized for the
worst case, because a server does not wait for the router's result; blocks without an expert end immediately. ``run``
sorts with torch, which is not part of the predicted time.
"""

from collections.abc import Mapping
from functools import cache
from random import Random
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


@triton.jit
def moe_fused_kernel(
    x_ptr, gate_up_ptr, hidden_ptr, slots_ptr, experts_ptr, n_slots, K, F,
    TOP_K: tl.constexpr, EVEN: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Gate and up product of ``BLOCK_M`` slots and ``BLOCK_N`` columns; grid: columns, blocks of slots."""
    expert = tl.load(experts_ptr + tl.program_id(1))
    if expert < 0:
        return
    row = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    slot = tl.load(slots_ptr + row)
    # Padding reads the first token: its rows are never used, and a mask in the loop would take longer than they do.
    token = tl.where(slot < n_slots, slot // TOP_K, 0)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    # Uniform 64-bit parts go to the bases; the lanes' offsets stay within 32 bits (buffer loads).
    gate_up_ptr += expert.to(tl.int64) * (2 * F * K)
    x_ptrs = x_ptr + token[:, None] * K + k[None, :]
    gate_ptrs = gate_up_ptr + n[None, :] * K + k[:, None]
    up_ptrs = gate_ptrs + F * K
    gate = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    up = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        if EVEN:
            x = tl.load(x_ptrs + start)
            w_gate = tl.load(gate_ptrs + start)
            w_up = tl.load(up_ptrs + start)
        else:
            live = (start + k < K)[:, None] & (n < F)[None, :]
            x = tl.load(x_ptrs + start, mask=(start + k < K)[None, :], other=0.0)
            w_gate = tl.load(gate_ptrs + start, mask=live, other=0.0)
            w_up = tl.load(up_ptrs + start, mask=live, other=0.0)
        gate = tl.dot(x, w_gate, gate, input_precision="ieee")
        up = tl.dot(x, w_up, up, input_precision="ieee")
    hidden = gate / (1.0 + tl.exp2(gate * -1.4426950408889634)) * up
    at = row.to(tl.int64)[:, None] * F + n[None, :]
    tl.store(hidden_ptr + at, hidden.to(hidden_ptr.dtype.element_ty), mask=(n < F)[None, :])


@triton.jit
def moe_down_kernel(
    hidden_ptr, down_ptr, rows_ptr, slots_ptr, experts_ptr, weights_ptr, n_slots, K, F,
    EVEN: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Down product of ``BLOCK_M`` slots and ``BLOCK_N`` columns, times routing weights; grid: columns, slot blocks."""
    expert = tl.load(experts_ptr + tl.program_id(1))
    if expert < 0:
        return
    row = tl.arange(0, BLOCK_M)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    hidden_ptr += tl.program_id(1).to(tl.int64) * BLOCK_M * F
    down_ptr += expert.to(tl.int64) * (F * K)
    h_ptrs = hidden_ptr + row[:, None] * F + k[None, :]
    w_ptrs = down_ptr + n[None, :] * F + k[:, None]
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, F, BLOCK_K):
        if EVEN:
            h = tl.load(h_ptrs + start)
            w = tl.load(w_ptrs + start)
        else:
            h = tl.load(h_ptrs + start, mask=(start + k < F)[None, :], other=0.0)
            w = tl.load(w_ptrs + start, mask=(start + k < F)[:, None] & (n < K)[None, :], other=0.0)
        acc = tl.dot(h, w, acc, input_precision="ieee")
    slot = tl.load(slots_ptr + tl.program_id(1) * BLOCK_M + row)
    live = slot < n_slots
    acc *= tl.load(weights_ptr + slot, mask=live, other=0.0)[:, None]
    at = slot.to(tl.int64)[:, None] * K + n[None, :]
    tl.store(rows_ptr + at, acc.to(rows_ptr.dtype.element_ty), mask=live[:, None] & (n < K)[None, :])


@triton.jit
def moe_sum_kernel(rows_ptr, out_ptr, K, TOP_K: tl.constexpr, BLOCK: tl.constexpr):
    """Add the rows of one token's experts in order; grid: columns, tokens."""
    token = tl.program_id(1).to(tl.int64)
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for choice in tl.static_range(TOP_K):
        total += tl.load(rows_ptr + (token * TOP_K + choice) * K + n, mask=n < K, other=0.0).to(tl.float32)
    tl.store(out_ptr + token * K + n, total.to(out_ptr.dtype.element_ty), mask=n < K)


@cache
def chosen(tokens: int, experts: int, top_k: int, routing: str) -> tuple[int, ...]:
    """Return the expert of each slot: every expert in turn (``even``), or low numbers more often (``skewed``)."""
    if routing == "even":
        return tuple(slot % experts for slot in range(tokens * top_k))
    draw, found = Random(0), []  # noqa: S311 - any routing will do
    for _ in range(tokens):
        mine: list[int] = []
        while len(mine) < top_k:
            expert = int(experts * draw.random() ** 2)
            if expert not in mine:
                mine.append(expert)
        found += mine
    return tuple(found)


def most_blocks(shape: Shape, block_m: int) -> int:
    """Return the number of blocks that is sufficient for any routing.

    Each used expert pads its list with up to ``block_m - 1`` rows.
    """
    slots = shape["T"] * shape["TOP_K"]
    return triton.cdiv(slots + min(shape["E"], slots) * (block_m - 1), block_m)


@cache
def _sorted(
    tokens: int, experts: int, top_k: int, routing: str, block_m: int, blocks: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the padded slots in the order of their experts, and the expert of each block (-1 if it has none)."""
    of_expert: list[list[int]] = [[] for _ in range(experts)]
    for slot, expert in enumerate(chosen(tokens, experts, top_k, routing)):
        of_expert[expert].append(slot)
    slots: list[int] = []
    experts_of_blocks: list[int] = []
    for expert, mine in enumerate(of_expert):
        count = triton.cdiv(len(mine), block_m)
        slots += mine + [tokens * top_k] * (count * block_m - len(mine))
        experts_of_blocks += [expert] * count
    slots += [tokens * top_k] * (blocks * block_m - len(slots))
    return tuple(slots), tuple(experts_of_blocks + [-1] * (blocks - len(experts_of_blocks)))


def _storage(shape: Shape, config: Config) -> dict[str, Tensor]:
    t, k, i, e, top, dtype = (shape[name] for name in ("T", "K", "F", "E", "TOP_K", "dtype"))
    blocks = most_blocks(shape, config["BLOCK_M"])
    slots, experts = _sorted(t, e, top, shape["routing"], config["BLOCK_M"], blocks)
    return {
        "x_ptr": Tensor(dtype, (t, k)),
        "gate_up_ptr": Tensor(dtype, (e, 2 * i, k)),
        "down_ptr": Tensor(dtype, (e, k, i)),
        "weights_ptr": Tensor("fp32", (t, top)),
        "slots_ptr": Tensor("i32", (len(slots),), values=slots),
        "experts_ptr": Tensor("i32", (blocks,), values=experts),
        "hidden_ptr": Tensor(dtype, (len(slots), i)),
        "rows_ptr": Tensor(dtype, (t * top, k)),
        "out_ptr": Tensor(dtype, (t, k)),
    }


def _launch(shape: Shape, config: Config, names: tuple[str, ...], columns: int, depth: int, prefix: str) -> Launch:
    memory = _storage(shape, config)
    block_n, block_k = config[f"{prefix}BLOCK_N"], config[f"{prefix}BLOCK_K"]
    args = {f"{name}_ptr": memory[f"{name}_ptr"] for name in (*names, "slots", "experts")}
    args |= {"n_slots": shape["T"] * shape["TOP_K"], "K": shape["K"], "F": shape["F"]}
    args |= {"EVEN": columns % block_n == 0 and depth % block_k == 0}
    args |= {"BLOCK_M": config["BLOCK_M"], "BLOCK_N": block_n, "BLOCK_K": block_k}
    return Launch(args, (triton.cdiv(columns, block_n), most_blocks(shape, config["BLOCK_M"])))


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for a block of slots and ``BLOCK_N`` columns each of gate and up."""
    made = _launch(shape, config, ("x", "gate_up", "hidden"), shape["F"], shape["K"], "")
    return Launch({**made.args, "TOP_K": shape["TOP_K"]}, made.grid)


def launch_down(shape: Shape, config: Config) -> Launch:
    """Return the launch of ``::down``: one workgroup for a block of slots and ``DOWN_BLOCK_N`` columns."""
    return _launch(shape, config, ("hidden", "down", "rows", "weights"), shape["K"], shape["F"], "DOWN_")


def launch_sum(shape: Shape, config: Config) -> Launch:
    """Return the launch of ``::sum``: one workgroup for 1,024 columns of a token."""
    memory = _storage(shape, config)
    args = {"rows_ptr": memory["rows_ptr"], "out_ptr": memory["out_ptr"], "K": shape["K"]}
    return Launch({**args, "TOP_K": shape["TOP_K"], "BLOCK": 1024}, (triton.cdiv(shape["K"], 1024), shape["T"]))


def sort(experts: Any, n_experts: int, block_m: int, blocks: int) -> tuple[Any, Any]:
    """Return the padded slots in the order of their experts and the expert of each block, computed on the device."""
    import torch

    flat = experts.flatten().long()
    order = flat.argsort(stable=True)
    counts = torch.bincount(flat, minlength=n_experts)
    padded = (counts + block_m - 1) // block_m * block_m
    # Each slot moves on by the padding of the experts before its own.
    moved = (padded.cumsum(0) - padded - (counts.cumsum(0) - counts))[flat[order]]
    slots = torch.full((blocks * block_m,), flat.numel(), device=flat.device, dtype=torch.int32)
    slots[torch.arange(flat.numel(), device=flat.device) + moved] = order.to(torch.int32)
    first = torch.arange(blocks, device=flat.device) * block_m
    found = torch.searchsorted(padded.cumsum(0), first, right=True)
    return slots, found.where(found < n_experts, -1).to(torch.int32)


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return ``out`` (T, K) of ``x``.

    The experts' matrices are ``gate_up`` and ``down``; the router's choice is ``experts`` and ``weights``.
    """
    import torch

    tensors = {f"{name}_ptr": tensor for name, tensor in inputs.items() if name != "experts"}
    blocks = most_blocks(shape, config["BLOCK_M"])
    tensors["slots_ptr"], tensors["experts_ptr"] = sort(inputs["experts"], shape["E"], config["BLOCK_M"], blocks)
    memory = _storage(shape, config)
    for name in ("hidden_ptr", "rows_ptr", "out_ptr"):
        made = {"device": inputs["x"].device, "dtype": inputs["x"].dtype}
        tensors[name] = torch.empty(memory[name].shape, **made)
    execute(moe_fused_kernel, launch(shape, config), tensors, config)
    execute(moe_down_kernel, launch_down(shape, config), tensors, config)
    execute(moe_sum_kernel, launch_sum(shape, config), tensors, {"num_warps": 4})
    return {"out": tensors["out_ptr"]}


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs with the shape's routing.

    The weights are scaled so that hidden values and results are about 1.
    """
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    t, k, i, e, top = (shape[name] for name in ("T", "K", "F", "E", "TOP_K"))
    dtype = torch_dtype(shape["dtype"])
    weights = torch.rand(t, top, device=device, generator=generator) + 0.1
    experts = torch.tensor(chosen(t, e, top, shape["routing"]), device=device, dtype=torch.int32)
    result = {"weights": weights / weights.sum(1, keepdim=True), "experts": experts.view(t, top)}
    for name, size, scale in (("x", (t, k), 1.0), ("gate_up", (e, 2 * i, k), k**-0.5), ("down", (e, k, i), i**-0.5)):
        result[name] = torch.empty(size, device=device, dtype=dtype)
        for part in result[name]:
            part.copy_(torch.randn(part.shape, device=device, generator=generator) * scale)
    return result


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the result in float64, one expert at a time."""
    import torch

    out = torch.zeros(inputs["x"].shape, device=inputs["x"].device, dtype=torch.float64)
    for expert in range(shape["E"]):
        token, choice = (inputs["experts"] == expert).nonzero(as_tuple=True)
        gate, up = (inputs["x"][token].double() @ inputs["gate_up"][expert].double().T).chunk(2, dim=1)
        rows = (torch.nn.functional.silu(gate) * up) @ inputs["down"][expert].double().T
        out.index_add_(0, token, rows * inputs["weights"][token, choice].double()[:, None])
    return {"out": out}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    Hidden values, each expert's row and the result are rounded once to the dtype, with relative error u.

    Hidden values of about 0.6, each off by up to u, change a sum with weights of 1 / sqrt(F) by 0.6 u / sqrt(3) (5
    deviations: 2 u); rows of up to 2 and results add u each. Float32 sums of K products are off by sqrt(K) 2**-24 a few
    times over.
    """
    relative, absolute = rounding(shape["dtype"])
    sums = 8 * (shape["K"] ** 0.5 + shape["F"] ** 0.5) * 2.0**-24
    return relative + 2.0**-22, 6 * relative + absolute + sums


def flops(shape: Shape) -> int:
    """Return the FLOPs: three products of 2 K F for each token and each of its experts."""
    return 6 * shape["T"] * shape["TOP_K"] * shape["K"] * shape["F"]


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic.

    The weights of the used experts are read once, the tokens are read, and the results are written. Hidden values and
    experts' rows stay in caches.
    """
    used = len(set(chosen(shape["T"], shape["E"], shape["TOP_K"], shape["routing"])))
    return (3 * used * shape["F"] + 2 * shape["T"]) * shape["K"] * size_of(shape["dtype"])


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return the tiles, with ``BLOCK_M`` by the average number of slots per expert so that few rows are padding.

    The LDS of gfx950 has room for tiles of 256 rows, which read the experts' weights half as often. They pay where busy
    experts fill two of them.
    """
    rows = shape["T"] * shape["TOP_K"] // shape["E"]
    block = next((m for m in (16, 32, 64) if rows <= m), 128)
    rdna = arch.startswith(("gfx10", "gfx11", "gfx12"))
    if block == 16:
        tile = {"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 128, "DOWN_BLOCK_N": 64, "DOWN_BLOCK_K": 128, "num_warps": 4}
        # On gfx950, weights go directly to LDS; elsewhere several workgroups hide the latency better than a pipeline.
        return tile | {"num_stages": 2 if arch == "gfx950" else 1}
    if rows * (1 if shape["routing"] == "even" else 2) >= 512 and arch == "gfx950":
        return {"BLOCK_M": 256, "BLOCK_N": 128, "DOWN_BLOCK_N": 256, "num_warps": 8}
    return {"BLOCK_M": min(block, 64) if rdna else block, "num_warps": 8 if rdna or block == 128 else 4}


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why the tiles do not fit registers or LDS, or None if they fit."""
    m, lanes = config["BLOCK_M"], config["num_warps"] * (32 if arch.startswith("gfx1") else 64)
    if m * max(2 * config["BLOCK_N"], config["DOWN_BLOCK_N"]) > 256 * lanes:
        return "too many registers: the accumulators do not fit"
    columns = max(2 * config["BLOCK_N"] * config["BLOCK_K"], config["DOWN_BLOCK_N"] * config["DOWN_BLOCK_K"])
    if (columns + m * config["BLOCK_K"]) * size_of(shape["dtype"]) > (163840 if arch == "gfx950" else 65536):
        return "the tiles do not fit LDS"
    return None


def _case(t: int, k: int, i: int, e: int, top: int, dtype: str = "bf16", routing: str = "even") -> dict[str, Any]:
    return {"T": t, "K": k, "F": i, "E": e, "TOP_K": top, "routing": routing, "dtype": dtype}


_SMALL = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 32, "DOWN_BLOCK_N": 32, "DOWN_BLOCK_K": 16}

KERNEL = Kernel(
    name="moe_fused",
    entry=moe_fused_kernel,
    summary="Fused mixture of experts: gather by expert, gate and up with SwiGLU, down, weighed sum of experts",
    launch=launch,
    shapes={
        "qwen3_30b_t4096": _case(4096, 2048, 768, 128, 8),
        "qwen3_30b_t64": _case(64, 2048, 768, 128, 8),
        "qwen3_30b_skewed": _case(4096, 2048, 768, 128, 8, routing="skewed"),
        "mixtral_t4096": _case(4096, 4096, 14336, 8, 2, "fp16"),
        "mixtral_t32": _case(32, 4096, 14336, 8, 2, "fp16"),
    },
    config={
        "BLOCK_M": 128,
        "BLOCK_N": 64,
        "BLOCK_K": 64,
        "DOWN_BLOCK_N": 128,
        "DOWN_BLOCK_K": 64,
        "num_warps": 8,
        "num_stages": 2,
        "waves_per_eu": 0,
        "matrix_instr_nonkdim": 16,
    },
    shape_config=shape_config,
    configs=[
        {"BLOCK_N": 64, "DOWN_BLOCK_N": 128},
        {"BLOCK_N": 128, "DOWN_BLOCK_N": 128, "BLOCK_K": 32},
        {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4},
    ],
    space={
        "BLOCK_M": (16, 32, 64, 128, 256),
        "BLOCK_N": (16, 32, 64, 128),
        "BLOCK_K": (32, 64, 128, 256),
        "DOWN_BLOCK_N": (32, 64, 128, 256),
        "DOWN_BLOCK_K": (32, 64, 128, 256),
        "num_warps": (2, 4, 8),
        "num_stages": (1, 2, 3),
        "waves_per_eu": (0, 2),
        "matrix_instr_nonkdim": (16, 32),
    },
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=flops,
    bytes=traffic,
    checks={
        "even": Check(_case(40, 64, 32, 4, 2, "fp32"), _SMALL),
        "skewed_fp16": Check(_case(70, 64, 32, 8, 2, "fp16", "skewed"), _SMALL),
        "masked_bf16": Check(_case(21, 50, 40, 3, 2, "bf16", "skewed"), _SMALL),
        "few_tokens": Check(_case(3, 64, 48, 8, 2, "fp32"), _SMALL),
        "one_choice": Check(_case(33, 32, 32, 2, 1, "fp16"), {**_SMALL, "BLOCK_M": 32}),
    },
    parts={
        "down": Part(moe_down_kernel, launch_down),
        "sum": Part(moe_sum_kernel, launch_sum, options={"num_warps": 4}),
    },
)
