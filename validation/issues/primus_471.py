"""AMD-AGI/Primus-Turbo#471: a tile of 256x256x64 spills in a grouped product since Triton 3.8 (gfx942)."""

import os
import sys
import types

root = os.environ["PRIMUS_SOURCE"]
for package in ("primus_turbo", "primus_turbo.pytorch", "primus_turbo.pytorch.core"):
    # Packages that these modules would build or load on import.
    sys.modules[package] = types.ModuleType(package)
    sys.modules[package].__path__ = [f"{root}/{package.replace('.', '/')}"]

import primus_turbo.triton.grouped_gemm.grouped_gemm_kernel as module  # noqa: E402
import torch  # noqa: E402
from checkouts import half, replaced  # noqa: E402

ARCH, KERNEL, CAUSES, KNOBS = "MI300X", "_grouped_variable_k_gemm_kernel", ("KP301", "KP302"), ("BLOCK_SIZE_K",)
# Relative times: 1.6 to 3.5 times as fast, depending on the tokens per expert, which the issue does not name.
CONFIGS = {"BLOCK_K=64": 1.6, "BLOCK_K=32": 1.0}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations, 64 experts of 1,024 tokens."""
    plain = module._get_gg_bf16_vk_config  # noqa: SLF001
    depth = int(name.partition("=")[2])
    tokens, groups = 1024, 64
    offsets = torch.arange(groups + 1, dtype=torch.int64, device="cuda") * tokens
    with replaced(module, "_get_gg_bf16_vk_config", lambda *sizes: (*plain(*sizes)[:2], depth, *plain(*sizes)[3:])):
        module.grouped_gemm_variable_k_triton_kernel(half(tokens * groups, 1408), half(tokens * groups, 2048), offsets)
