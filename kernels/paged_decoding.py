"""Paged decoding: one new query a sequence against keys and values that lie in pages anywhere in memory.

A server that grows many sequences at once gives each of them pages of ``PAGE`` tokens as it needs them (Kwon et al.,
2023). A block table holds, for each sequence, the numbers of its pages in order; only the last page is partly filled.

Layout: (page, key head, token, D), so that what a workgroup reads of a page, one head's tokens, is contiguous. Where a
block of keys lies within one page, the page's number is one scalar and the lanes' offsets are those of a plain cache.
Where it spans several pages, a tile is loaded as (page, token, D) and then seen as (key, D): offsets are 64-bit, and
one load depends on another. Triton's software pipeline then reads the tile from LDS two bytes at a time on gfx942;
there ``num_stages=1`` and a second workgroup on the CU hide the latency better.

As in ``flash_decoding`` the keys of a sequence are cut into ``SPLITS`` runs, because sequences and key heads alone are
fewer than compute units, and ``::reduce`` weighs the runs by exp(lse) and adds them up. The rows of a tile are the
query heads that share a key head, padded to the 16 of the smallest matrix instruction. The kernel is bound by reading
the pages: 4 N HK D bytes a sequence in 16 bits, and 4 / (HK D PAGE) of that again for the table.
"""

from collections.abc import Mapping
from itertools import chain
from random import Random
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


@triton.jit
def paged_decoding_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    table_ptr,
    lengths_ptr,
    run_out_ptr,
    run_lse_ptr,
    scale,
    table_stride,
    HK: tl.constexpr,
    GROUP: tl.constexpr,
    D: tl.constexpr,
    PAGE: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One run of one sequence for the heads of one group; grid: key heads, runs, sequences."""
    LOG2E: tl.constexpr = 1.4426950408889634
    ONE_PAGE: tl.constexpr = PAGE % BLOCK_N == 0
    hk = tl.program_id(0)
    split = tl.program_id(1)
    splits = tl.num_programs(1)
    sequence = tl.program_id(2)
    length = tl.load(lengths_ptr + sequence)
    # Runs are whole blocks, so that only the last one of a sequence needs a mask.
    blocks = tl.cdiv(tl.cdiv(length, BLOCK_N), splits)
    begin = tl.minimum(split * blocks * BLOCK_N, length)
    end = tl.minimum(begin + blocks * BLOCK_N, length)

    member = tl.arange(0, BLOCK_H)
    col = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    live_h = member < GROUP
    head = sequence * (HK * GROUP) + hk * GROUP + member
    q = tl.load(q_ptr + head[:, None] * D + d[None, :], mask=live_h[:, None], other=0.0)
    table_ptr += sequence * table_stride

    factor = scale * LOG2E
    acc = tl.zeros([BLOCK_H, D], tl.float32)
    total = tl.zeros([BLOCK_H], tl.float32)
    top = tl.full([BLOCK_H], -float("inf"), tl.float32)
    for start in range(begin, end, BLOCK_N):
        live = start + col < end
        if ONE_PAGE:
            page = tl.load(table_ptr + start // PAGE).to(tl.int64)
            at = (page * HK + hk) * (PAGE * D) + start % PAGE * D
            k = tl.load(k_ptr + at + col[None, :] * D + d[:, None], mask=live[None, :], other=0.0)
            v = tl.load(v_ptr + at + col[:, None] * D + d[None, :], mask=live[:, None], other=0.0)
        else:
            # Tiles of (page, token, D): a page is looked up once and not once a key.
            number = start // PAGE + tl.arange(0, BLOCK_N // PAGE)
            pages = tl.load(table_ptr + number, mask=number * PAGE < end, other=0).to(tl.int64)
            at = ((pages * HK + hk) * (PAGE * D))[:, None] + (tl.arange(0, PAGE) * D)[None, :]
            at = at[:, :, None] + d[None, None, :]
            used = live.reshape(BLOCK_N // PAGE, PAGE)[:, :, None]
            k = tl.load(k_ptr + at, mask=used, other=0.0).reshape(BLOCK_N, D).trans()
            v = tl.load(v_ptr + at, mask=used, other=0.0).reshape(BLOCK_N, D)
        scores = tl.where(live[None, :], tl.dot(q, k, input_precision="ieee"), -float("inf"))
        # A block has a key at least, so the maximum is finite.
        new_top = tl.maximum(top, tl.max(scores, axis=1) * factor)
        p = tl.exp2(scores * factor - new_top[:, None])
        fade = tl.exp2(top - new_top)
        total = total * fade + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None], input_precision="ieee")
        top = new_top

    # An empty run leaves zeros and a log-sum-exp of -inf, which weighs nothing in the reduction.
    total = tl.where(total > 0.0, total, 1.0)
    run = head * splits + split
    tl.store(run_out_ptr + run[:, None] * D + d[None, :], acc / total[:, None], mask=live_h[:, None])
    tl.store(run_lse_ptr + run, top + tl.log2(total), mask=live_h)


@triton.jit
def paged_decoding_reduce_kernel(
    run_out_ptr, run_lse_ptr, out_ptr, lse_ptr, SPLITS: tl.constexpr, BLOCK_S: tl.constexpr, D: tl.constexpr
):
    """Add up the partial results of one head of one sequence, each weighted by exp2(lse); ``run_lse`` is in base 2."""
    LOG2E: tl.constexpr = 1.4426950408889634
    head = tl.program_id(0)
    split = tl.arange(0, BLOCK_S)
    d = tl.arange(0, D)
    lse = tl.load(run_lse_ptr + head * SPLITS + split, mask=split < SPLITS, other=-float("inf"))
    top = tl.max(lse, axis=0)
    base = tl.where(top == -float("inf"), 0.0, top)
    weight = tl.exp2(lse - base)
    total = tl.sum(weight, axis=0)
    total = tl.where(total > 0.0, total, 1.0)
    at = (head * SPLITS + split)[:, None] * D + d[None, :]
    out = tl.load(run_out_ptr + at, mask=(split < SPLITS)[:, None], other=0.0)
    out = tl.sum(out * (weight / total)[:, None], axis=0)
    tl.store(out_ptr + head * D + d, out.to(out_ptr.dtype.element_ty))
    tl.store(lse_ptr + head, (top + tl.log2(total)) / LOG2E)


def page_counts(shape: Shape) -> list[int]:
    """Return the number of pages of each sequence."""
    return [triton.cdiv(length, shape["PAGE"]) for length in cache_lengths(shape)]


def cache_shape(shape: Shape) -> tuple[int, int, int, int]:
    """Return the shape of the key cache and of the value cache: every page in use, and one unused page."""
    return sum(page_counts(shape)) + 1, shape["HK"], shape["PAGE"], shape["D"]


def block_table(shape: Shape) -> list[list[int]]:
    """Return each sequence's pages, shuffled over the cache; unused entries point outside the cache."""
    order = list(range(cache_shape(shape)[0]))
    Random(0).shuffle(order)  # noqa: S311 - any order will do
    most, found = triton.cdiv(shape["N"], shape["PAGE"]), []
    for count in page_counts(shape):
        found.append([*order[:count], *[1 << 30] * (most - count)])
        order = order[count:]
    return found


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup for each run of keys of a sequence and key head."""
    b, h, hk, d = (shape[name] for name in ("B", "H", "HK", "D"))
    most = triton.cdiv(shape["N"], shape["PAGE"])
    splits = config["SPLITS"]
    args = {
        "q_ptr": Tensor(shape["dtype"], (b, h, d)),
        "k_ptr": Tensor(shape["dtype"], cache_shape(shape)),
        "v_ptr": Tensor(shape["dtype"], cache_shape(shape)),
        "table_ptr": Tensor("i32", (b, most), values=tuple(chain(*block_table(shape)))),
        "lengths_ptr": Tensor("i32", (b,), values=tuple(cache_lengths(shape))),
        "run_out_ptr": Tensor("fp32", (b, h, splits, d)),
        "run_lse_ptr": Tensor("fp32", (b, h, splits)),
        "scale": d**-0.5,
        "table_stride": most,
        "HK": hk,
        "GROUP": h // hk,
        "D": d,
        "PAGE": shape["PAGE"],
        "BLOCK_H": max(16, triton.next_power_of_2(h // hk)),
        "BLOCK_N": config["BLOCK_N"],
    }
    return Launch(args, (hk, splits, b))


def launch_reduce(shape: Shape, config: Config) -> Launch:
    """Return the launch of the reduction: one workgroup for each head of a sequence."""
    b, h, d = (shape[name] for name in ("B", "H", "D"))
    splits = config["SPLITS"]
    args = {
        "run_out_ptr": Tensor("fp32", (b, h, splits, d)),
        "run_lse_ptr": Tensor("fp32", (b, h, splits)),
        "out_ptr": Tensor(shape["dtype"], (b, h, d)),
        "lse_ptr": Tensor("fp32", (b, h)),
        "SPLITS": splits,
        "BLOCK_S": triton.next_power_of_2(splits),
        "D": d,
    }
    return Launch(args, (b * h,))


def shape_config(shape: Shape, arch: str) -> dict[str, Any]:
    """Return the tiles: larger ones for small pages, smaller ones for larger heads."""
    # Loads go straight to LDS on gfx950, whatever the tile's form; elsewhere only tiles of one page are pipelined.
    wide = shape["PAGE"] < 64 and arch != "gfx950"
    block = 32 if shape["D"] > 128 else 128 if wide else 64
    if arch.startswith(("gfx10", "gfx11", "gfx12")):
        # Half as many lanes a wave: half the tile, and no second one on its way.
        return {"BLOCK_N": block // 2, "num_stages": 1}
    if _reads_page_by_page(shape, arch):
        return {"BLOCK_N": shape["PAGE"], "num_stages": 2, "num_warps": 2}
    if _shares_keys(shape):
        return {"BLOCK_N": 64, "num_stages": 1, "num_warps": 2}
    return {"BLOCK_N": block, "num_stages": 1 if wide else 2}


def _shares_keys(shape: Shape) -> bool:
    """Return whether 32 or more query heads share a key head; then no registers are left for a second tile of keys."""
    return shape["H"] // shape["HK"] >= 32


def _reads_page_by_page(shape: Shape, arch: str) -> bool:
    """Return whether a tile is one page of small heads, 2 KiB of keys: its loads need no lookup for each token.

    A workgroup then has little to do at a time, so that many runs are needed, and sequences that suffice for them.
    """
    small = shape["D"] <= 64 and shape["PAGE"] == 16
    return small and shape["B"] * shape["HK"] >= 64 and arch in {"gfx90a", "gfx942"}


def gpu_config(shape: Shape, gpu: LaunchGpu) -> dict[str, Any]:
    """Return a number of runs for about three workgroups per CU, or as many runs as there may be for tiles of one page.

    No run has fewer than 256 keys, or 128 if many query heads share a key head.
    """
    wanted = max(1, 3 * gpu.compute_units // (shape["B"] * shape["HK"]))
    if _reads_page_by_page(shape, gpu.arch):
        wanted = 128
    longest = max(1, shape["N"] // (128 if _shares_keys(shape) else 256))
    return {"SPLITS": min(128, triton.next_power_of_2(min(wanted, longest)))}


def run(inputs: Mapping[str, Any], shape: Shape, config: Config) -> dict[str, Any]:
    """Return the attention of ``q`` (B, H, D) to pages ``k``, ``v`` by ``table`` and ``lengths``.

    The results are ``out`` (B, H, D) and ``lse`` (B, H).
    """
    import torch

    q = inputs["q"]
    made = {"device": q.device, "dtype": torch.float32}
    outputs = {"out": torch.empty_like(q), "lse": torch.empty(q.shape[:2], **made)}
    tensors = {f"{name}_ptr": tensor for name, tensor in {**inputs, **outputs}.items()}
    tensors["run_out_ptr"] = torch.empty((*q.shape[:2], config["SPLITS"], q.shape[2]), **made)
    tensors["run_lse_ptr"] = torch.empty((*q.shape[:2], config["SPLITS"]), **made)
    execute(paged_decoding_kernel, launch(shape, config), tensors, config)
    execute(paged_decoding_reduce_kernel, launch_reduce(shape, config), tensors, config)
    return outputs


def cache_lengths(shape: Shape) -> list[int]:
    """Return the number of keys of each sequence: N, or if ``ragged`` is set, falling evenly from N to 0."""
    b, n = shape["B"], shape["N"]
    return [n * (b - 1 - index) // max(1, b - 1) if shape["ragged"] else n for index in range(b)]


def inputs(shape: Shape, device: str, seed: int) -> dict[str, Any]:
    """Return normally distributed inputs in pages of random order.

    Unused tokens are infinities, and unused table entries point outside the cache.
    """
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    size, page, dtype = cache_shape(shape), shape["PAGE"], torch_dtype(shape["dtype"])
    result = {"q": torch.randn(shape["B"], shape["H"], shape["D"], device=device, generator=generator).to(dtype)}
    table = torch.tensor(block_table(shape), device=device, dtype=torch.int32)
    filled = [0] * size[0]
    for pages, length in zip(block_table(shape), cache_lengths(shape), strict=True):
        for number, which in enumerate(pages[: triton.cdiv(length, page)]):
            filled[which] = min(page, length - number * page)
    unused = torch.arange(page, device=device)[None, :] >= torch.tensor(filled, device=device)[:, None]
    for name in "kv":
        pages = torch.randn(size, device=device, generator=generator).to(dtype)
        result[name] = pages.masked_fill_(unused[:, None, :, None], torch.inf)
    lengths = torch.tensor(cache_lengths(shape), device=device, dtype=torch.int32)
    return result | {"table": table, "lengths": lengths}


def reference(inputs: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Compute the results in float64, one sequence at a time."""
    import torch

    q = inputs["q"]
    out = torch.zeros(q.shape, device=q.device, dtype=torch.float64)
    lse = torch.full(q.shape[:2], -torch.inf, device=q.device, dtype=torch.float64)
    for b, (count, length) in enumerate(zip(page_counts(shape), cache_lengths(shape), strict=True)):
        if length == 0:
            continue
        pages = inputs["table"][b, :count].long()
        k, v = (inputs[name][pages].transpose(0, 1).flatten(1, 2)[:, :length].double() for name in "kv")
        grouped = q[b].double().unflatten(0, (shape["HK"], -1))
        scores = torch.einsum("kgd,knd->kgn", grouped, k) * shape["D"] ** -0.5
        out[b] = torch.einsum("kgn,knd->kgd", scores.softmax(dim=2), v).flatten(0, 1)
        lse[b] = scores.logsumexp(dim=2).flatten()
    return {"out": out, "lse": lse}


def tolerance(shape: Shape) -> tuple[float, float]:
    """Return the relative and the absolute tolerance.

    The weights and the result are each rounded once to the dtype, with relative error u. A weighted mean of values up
    to 4 with each weight off by u is off by less than 4 u; the float32 sums over the head and the keys add a few
    2**-20. The runs are kept in float32.
    """
    relative, _ = rounding(shape["dtype"])
    return relative + 2.0**-19, 4 * relative + 2.0**-19


def flops(shape: Shape) -> int:
    """Return the FLOPs: two products of 2 D per key and head."""
    return 4 * shape["H"] * shape["D"] * sum(cache_lengths(shape))


def traffic(shape: Shape) -> int:
    """Return the bytes of memory traffic.

    The filled pages and the page table are read once, q is read, and out is written. The partial results of the runs
    stay in caches.
    """
    elements = 2 * sum(cache_lengths(shape)) * shape["HK"] * shape["D"] + 2 * shape["B"] * shape["H"] * shape["D"]
    return elements * size_of(shape["dtype"]) + 4 * shape["B"] * (1 + shape["H"]) + 4 * sum(page_counts(shape))


def unsupported(arch: str, shape: Shape) -> str | None:
    """Return why the page or head size is not a power of two, or None. This kernel does not pad heads."""
    if shape["PAGE"] & (shape["PAGE"] - 1):
        return f"pages of {shape['PAGE']} tokens are not a power of two, on {arch} as elsewhere"
    if shape["D"] < 16 or shape["D"] & (shape["D"] - 1):
        return f"head size {shape['D']} is not a power of two from 16, on {arch} as elsewhere"
    return None


def legal(shape: Shape, config: Config, arch: str) -> str | None:
    """Return why a configuration is rejected, or None.

    If there are more runs than blocks of keys, some workgroups have nothing to do, on any architecture.
    """
    blocks = triton.cdiv(shape["N"], config["BLOCK_N"])
    return f"{config['SPLITS']} runs of {blocks} blocks, on {arch}" if config["SPLITS"] > blocks else None


def _case(b: int, h: int, hk: int, n: int, d: int, page: int, dtype: str = "fp16", **flags: Any) -> dict[str, Any]:
    return {"B": b, "H": h, "HK": hk, "N": n, "D": d, "PAGE": page, "ragged": False, "dtype": dtype, **flags}


KERNEL = Kernel(
    name="paged_decoding",
    entry=paged_decoding_kernel,
    summary="Paged decoding: one query a sequence, keys and values by a block table, split over workgroups, reduced",
    launch=launch,
    shapes={
        "llama70b_page16": _case(16, 64, 8, 8192, 128, 16),
        "llama70b_page64": _case(16, 64, 8, 8192, 128, 64),
        "llama70b_page256": _case(16, 64, 8, 8192, 128, 256),
        "llama8b_b64": _case(64, 32, 8, 4096, 128, 16, "bf16"),
        "long": _case(1, 64, 8, 131072, 128, 64),
        "mqa": _case(4, 32, 1, 16384, 128, 16),
        "ragged": _case(32, 32, 8, 8192, 128, 16, ragged=True),
        "gpt_oss": _case(32, 64, 8, 8192, 64, 16, "bf16"),
    },
    config={"BLOCK_N": 64, "SPLITS": 8, "num_warps": 4, "num_stages": 1, "waves_per_eu": 2},
    shape_config=shape_config,
    gpu_config=gpu_config,
    configs=[
        {"BLOCK_N": 64},
        {"BLOCK_N": 128},
        {"BLOCK_N": 64, "num_stages": 2},
        {"BLOCK_N": 32, "num_warps": 2},
    ],
    space={
        "BLOCK_N": (16, 32, 64, 128),
        "SPLITS": (1, 2, 4, 8, 16, 32, 64, 128),
        "num_warps": (1, 2, 4, 8),
        "num_stages": (1, 2, 3),
        "waves_per_eu": (0, 1, 2, 4),
    },
    legal=legal,
    run=run,
    inputs=inputs,
    reference=reference,
    tolerance=tolerance,
    flops=flops,
    bytes=traffic,
    unsupported=unsupported,
    checks={
        "pages_in_blocks": Check(_case(2, 4, 2, 100, 32, 8, "fp32"), {"BLOCK_N": 16, "SPLITS": 3}),
        "blocks_in_pages": Check(_case(2, 4, 2, 100, 32, 64, "fp32"), {"BLOCK_N": 32, "SPLITS": 2}),
        "page_of_1": Check(_case(2, 2, 2, 64, 64, 1), {"BLOCK_N": 32, "SPLITS": 2}),
        "mqa_bf16": Check(_case(1, 20, 1, 70, 32, 16, "bf16"), {"BLOCK_N": 16, "SPLITS": 4}),
        "one_run": Check(_case(1, 2, 1, 50, 16, 16), {"BLOCK_N": 32, "SPLITS": 1}),
        "ragged_and_empty": Check(_case(4, 4, 2, 90, 32, 16, "fp32", ragged=True), {"BLOCK_N": 32, "SPLITS": 4}),
        "more_runs_than_blocks": Check(_case(1, 2, 2, 20, 32, 4, "fp32"), {"BLOCK_N": 16, "SPLITS": 5}),
    },
    parts={"reduce": Part(paged_decoding_reduce_kernel, launch_reduce)},
)
