"""SGLang's attention over a prefix: ``python sglang_extend.py QUERY_SIZE VALUE_SIZE HEADS NEW PREFIX BLOCK_N [fp8]``.

With ``fp8`` the cache of the prefix has 8 bits. Only the kernel's file and the two files that it imports are loaded.
``SGLANG_SOURCE`` is the folder that contains ``sglang``.
"""

import os
import sys
import types
from typing import Any

import torch

ROOT = os.environ["SGLANG_SOURCE"]


def module(name: str, **contents: Any) -> None:
    """Create a package of the folder with this name, without its ``__init__``."""
    made = types.ModuleType(name)
    made.__path__ = [f"{ROOT}/{name.replace('.', '/')}"]
    made.__dict__.update(contents)
    sys.modules[name] = made


class Settings:
    """Settings of SGLang's environment, all off."""

    def __getattr__(self, _name: str) -> Any:
        return types.SimpleNamespace(get=lambda: False)


for package in ("sglang", "sglang.srt", "sglang.kernels", "sglang.kernels.ops", "sglang.kernels.ops.attention"):
    module(package)
module("sglang.srt.environ", envs=Settings())
answers = {"is_cuda": False, "is_hip": True, "is_gfx95_supported": True}
module("sglang.srt.utils")
sys.modules["sglang.srt.utils"].__getattr__ = lambda name: lambda *_: answers.get(name, False)  # type: ignore[method-assign]

import sglang.kernels.ops.attention.extend_attention as kernels  # noqa: E402

size, value_size, heads, new, prefix, columns = map(int, sys.argv[1:7])
cached = torch.float8_e4m3fn if sys.argv[7:] == ["fp8"] else torch.bfloat16
plain = kernels._get_block_sizes_for_extend_attention  # noqa: SLF001
kernels._get_block_sizes_for_extend_attention = lambda *sizes: (*plain(*sizes)[:4], columns, plain(*sizes)[5])  # noqa: SLF001


def half(*shape: int) -> torch.Tensor:
    """Return a bfloat16 tensor on the device."""
    return torch.empty(*shape, device="cuda", dtype=torch.bfloat16)


kernels.extend_attention_fwd(
    half(new, heads, size),
    half(new, 1, size),
    half(new, 1, value_size),
    half(new, heads, value_size),
    half(prefix, 1, size).to(cached),
    half(prefix, 1, value_size).to(cached),
    torch.tensor([0, new], dtype=torch.int32, device="cuda"),
    torch.tensor([0, prefix], dtype=torch.int32, device="cuda"),
    torch.arange(prefix, dtype=torch.int64, device="cuda"),
    None,
    True,
    None,
    new,
    1.0,
    1.0,
)
