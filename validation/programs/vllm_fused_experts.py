"""vllm: fused_experts through torch's dispatcher, with rows and with one row for each expert; its C++ is torch here."""

import absent

absent.without("llguidance")

from typing import Any  # noqa: E402

import torch  # noqa: E402
from torch.nn import functional  # noqa: E402

moe, own = torch.library.Library("_moe_C", "FRAGMENT"), torch.library.Library("_C", "FRAGMENT")
moe.define(
    "moe_align_block_size(Tensor ids, int experts, int block, Tensor! sorted, Tensor! owners, Tensor! padded,"
    " Tensor? expert_map, Tensor? scatter) -> ()"
)
moe.define("moe_sum(Tensor x, Tensor! out, Tensor? ids, Tensor? expert_map) -> ()")
own.define("silu_and_mul(Tensor! out, Tensor x) -> ()")


def align(ids: Any, experts: int, block: int, *made: Any) -> None:
    """Return the positions of each expert's rows, padded to whole blocks."""
    order, owners, padded = made[:3]
    flat = ids.flatten()
    order.fill_(flat.numel())
    at = 0
    for expert in range(experts):
        rows = (flat == expert).nonzero().flatten()
        blocks = -(-rows.numel() // block)
        order[at : at + rows.numel()] = rows.to(order.dtype)
        owners[at // block : at // block + blocks] = expert
        at += blocks * block
    padded.fill_(at)


def total(x: Any, out: Any, *_maps: Any) -> None:
    """Compute the sum over each row's experts."""
    out.copy_(x.sum(1))


def gated(out: Any, x: Any) -> None:
    """Multiply SiLU of the first half by the second half."""
    gate, up = x.chunk(2, -1)
    out.copy_(functional.silu(gate) * up)


moe.impl("moe_align_block_size", align, "CUDA")
moe.impl("moe_sum", total, "CUDA")
own.impl("silu_and_mul", gated, "CUDA")

from vllm.model_executor.layers.fused_moe.fused_moe import fused_experts  # noqa: E402

E, K, N = 8, 2048, 1024
w1 = torch.randn(E, 2 * N, K, device="cuda", dtype=torch.bfloat16)
w2 = torch.randn(E, K, N, device="cuda", dtype=torch.bfloat16)
for rows in (512, 8):
    x = torch.randn(rows, K, device="cuda", dtype=torch.bfloat16)
    weights = torch.rand(rows, 2, device="cuda")
    ids = torch.randint(0, E, (rows, 2), device="cuda", dtype=torch.int32)
    try:
        print(tuple(fused_experts(x, w1, w2, weights, ids).shape))
    except Exception as error:  # noqa: BLE001  # is a line of the page
        print(f"failed fused_experts: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
