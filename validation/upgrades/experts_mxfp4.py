"""A product of triton_kernels with experts of 4 bits: ``python experts_mxfp4.py EXPERTS DEPTH COLUMNS CHOSEN TOKENS``.

``TRITON_KERNELS_SOURCE`` is the folder that contains ``triton_kernels``. Each token uses other experts.
"""

import os
import sys

sys.path.insert(0, os.environ["TRITON_KERNELS_SOURCE"])

import torch
from triton_kernels.matmul_ogs import FlexCtx, GatherIndx, PrecisionConfig, RoutingData, matmul_ogs
from triton_kernels.tensor import FP4, make_ragged_tensor_metadata, wrap_torch_tensor

experts, depth, columns, chosen, tokens = map(int, sys.argv[1:6])
rows = tokens * chosen
index = torch.arange(rows, dtype=torch.int32, device="cuda")
counts = [sum(1 for row in range(rows) if row % experts == expert) for expert in range(experts)]
histogram = torch.tensor(counts, dtype=torch.int32, device="cuda")
weights = torch.empty(experts, columns, depth // 2, dtype=torch.uint8, device="cuda").transpose(-1, -2)
scales = torch.empty(experts, columns, depth // 32, dtype=torch.uint8, device="cuda").transpose(-1, -2)
matmul_ogs(
    torch.empty(tokens, depth, dtype=torch.bfloat16, device="cuda"),
    wrap_torch_tensor(weights, dtype=FP4),
    None,
    RoutingData(
        torch.empty(rows, dtype=torch.bfloat16, device="cuda"),
        histogram,
        experts,
        chosen,
        make_ragged_tensor_metadata(histogram, rows),
    ),
    gather_indx=GatherIndx(index, index),
    precision_config=PrecisionConfig(weight_scale=wrap_torch_tensor(scales), flex_ctx=FlexCtx()),
)
