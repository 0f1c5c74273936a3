"""AITER's product with FP8 experts: ``python aiter_experts_fp8.py EXPERTS CHOSEN TOKENS DEPTH COLUMNS``.

Every expert gets an equal number of rows, in blocks of 16.
"""

import sys

from aiter_checkout_at import use_aiter

use_aiter()
import torch  # noqa: E402
from aiter.ops.triton.moe.moe_op_gemm_a8w8_blockscale import moe_gemm_a8w8_blockscale  # noqa: E402
from aiter.ops.triton.moe.moe_routing.routing import ExptData, RoutingData  # noqa: E402

experts, chosen, tokens, depth, columns = map(int, sys.argv[1:6])
rows, block = tokens * chosen, 16
counts = [rows // experts + (expert < rows % experts) for expert in range(experts)]


def numbers(values: list[int]) -> torch.Tensor:
    """Return a tensor of integers on the device."""
    return torch.tensor(values, dtype=torch.int32, device="cuda")


def starts(sizes: list[int]) -> list[int]:
    """Return the positions at which parts of these sizes begin, and the end."""
    return [sum(sizes[:count]) for count in range(len(sizes) + 1)]


blocks = [-(-count // block) for count in counts]
places = [expert | part << 16 for expert, count in enumerate(blocks) for part in range(count)]
routing = RoutingData(block, torch.empty(rows, device="cuda"), numbers(counts), experts, chosen)
places += [-1] * (routing.n_blocks(rows, block) - len(places))
routing.expt_data = ExptData(numbers(counts), numbers(starts(counts)), numbers(starts(blocks)), numbers(places))
moe_gemm_a8w8_blockscale(
    torch.empty(rows, depth, device="cuda", dtype=torch.float8_e4m3fn),
    torch.empty(experts, columns, depth, device="cuda", dtype=torch.float8_e4m3fn).transpose(-1, -2),
    torch.empty(-(-rows // 128), depth // 128, device="cuda"),
    torch.empty(experts, depth // 128, columns // 128, device="cuda"),
    routing_data=routing,
)
