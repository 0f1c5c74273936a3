"""AITER's product of FP8 matrices with a scale for each row: ``python aiter_per_token.py M N K``."""

import sys

from aiter_checkout_at import use_aiter

use_aiter()
import torch  # noqa: E402
from aiter.ops.triton.gemm.basic.gemm_a8w8_per_token_scale import gemm_a8w8_per_token_scale  # noqa: E402
from aiter.ops.triton.utils.types import get_fp8_e4m3_dtype  # noqa: E402

rows, columns, depth = map(int, sys.argv[1:4])
kind = get_fp8_e4m3_dtype()
gemm_a8w8_per_token_scale(
    torch.empty(rows, depth, device="cuda", dtype=kind),
    torch.empty(columns, depth, device="cuda", dtype=kind),
    torch.empty(rows, 1, device="cuda", dtype=torch.float32),
    torch.empty(columns, 1, device="cuda", dtype=torch.float32),
)
