"""Primus-Turbo's grouped product with a variable depth: ``python primus_grouped.py GROUPS ROWS COLUMNS TOKENS``.

``PRIMUS_SOURCE`` is a checkout. Its packages are not initialised, because that would build or load other code.
"""

import os
import sys
import types

for package in ("primus_turbo", "primus_turbo.pytorch", "primus_turbo.pytorch.core"):
    sys.modules[package] = types.ModuleType(package)
    sys.modules[package].__path__ = [f"{os.environ['PRIMUS_SOURCE']}/{package.replace('.', '/')}"]

import torch  # noqa: E402
from primus_turbo.triton.grouped_gemm.grouped_gemm_kernel import (  # noqa: E402
    grouped_gemm_variable_k_triton_kernel,
)

groups, rows, columns, tokens = map(int, sys.argv[1:5])
grouped_gemm_variable_k_triton_kernel(
    torch.empty(tokens * groups, rows, device="cuda", dtype=torch.bfloat16),
    torch.empty(tokens * groups, columns, device="cuda", dtype=torch.bfloat16),
    torch.arange(groups + 1, dtype=torch.int64, device="cuda") * tokens,
)
