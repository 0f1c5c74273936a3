"""AITER's Triton kernels from a checkout, and helpers of the programs in this folder."""

import os
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch


def use_aiter() -> None:
    """Make the checkout named by ``AITER_SOURCE`` importable, without what its packages build on import."""
    root = os.environ["AITER_SOURCE"]
    for name in ("aiter", "aiter.ops.triton._triton_kernels.flash_attn_triton_amd"):
        module = types.ModuleType(name)
        module.__path__ = [f"{root}/{name.replace('.', '/')}"]
        sys.modules[name] = module
    sys.modules["aiter"].dtypes = types.SimpleNamespace(fp8=torch.float8_e4m3fnuz)  # type: ignore[attr-defined]


def half(*shape: int) -> torch.Tensor:
    """Return a bfloat16 tensor on the device."""
    return torch.empty(*shape, device="cuda", dtype=torch.bfloat16)


@contextmanager
def replaced(place: Any, name: str, value: Callable[..., Any]) -> Iterator[None]:
    """Replace a function of a module, as the issues' authors do to change a configuration."""
    before = getattr(place, name)
    setattr(place, name, value)
    try:
        yield
    finally:
        setattr(place, name, before)


def unified_attention(
    settings: dict[str, Any], *, tokens: int, heads: tuple[int, int], size: int, page: int = 64, fp8: bool = False
) -> None:
    """Run attention of one causal sequence of new tokens over a paged cache, with these settings of the 2D kernel."""
    import aiter.ops.triton.attention.unified_attention as module
    from aiter.ops.triton.utils.types import e4m3_dtype

    kind = e4m3_dtype if fp8 else torch.bfloat16
    q = torch.empty(tokens, heads[0], size, device="cuda", dtype=kind)
    cache = [torch.empty(tokens // page, page, heads[1], size, device="cuda", dtype=kind) for _ in range(2)]
    starts = torch.tensor([0, tokens], dtype=torch.int32, device="cuda")
    used = torch.tensor([tokens], dtype=torch.int32, device="cuda")
    table = torch.arange(tokens // page, dtype=torch.int32, device="cuda")[None]
    scale = torch.ones(1, device="cuda") if fp8 else None
    plain = module.select_2d_config

    def chosen(*args: Any, **options: Any) -> Any:
        found = plain(*args, **options)
        found.update(settings)
        if "BLOCK_M" in settings:
            found["BLOCK_Q"] = settings["BLOCK_M"] // (heads[0] // heads[1])
        return found

    with replaced(module, "select_2d_config", chosen):
        module.unified_attention(
            q, *cache, half(tokens, heads[0], size), starts, tokens, used, tokens, size**-0.5, True, (-1, -1),
            table, 0.0, None if scale is None else scale, scale, scale,
        )  # fmt: skip
