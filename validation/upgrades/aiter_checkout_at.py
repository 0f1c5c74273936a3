"""AITER's Triton operators from the checkout ``AITER_SOURCE``, without what its packages build on import."""

import os
import sys
import types

import torch


def use_aiter() -> None:
    """Make the checkout importable, without the ``__init__`` of its subpackages."""
    root = os.environ["AITER_SOURCE"]
    for name in (
        "aiter",
        "aiter.ops",
        "aiter.ops.triton",
        "aiter.ops.triton._triton_kernels",
        "aiter.ops.triton._triton_kernels.attention",
        "aiter.ops.triton._triton_kernels.flash_attn_triton_amd",
        "aiter.ops.triton.attention",
    ):
        module = types.ModuleType(name)
        module.__path__ = [f"{root}/{name.replace('.', '/')}"]
        sys.modules[name] = module
    sys.modules["aiter"].dtypes = types.SimpleNamespace(fp8=torch.float8_e4m3fn)  # type: ignore[attr-defined]
