"""AITER from the checkout $AITER_SOURCE, without its package's initialisation, which builds C++."""

import importlib
import os
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch
import triton

root = os.environ["AITER_SOURCE"]
package = types.ModuleType("aiter")
package.__path__ = [f"{root}/aiter"]
_fp8 = torch.float8_e4m3fn
if triton.runtime.driver.active.get_current_target().arch == "gfx942":
    _fp8 = torch.float8_e4m3fnuz
# The real module queries the GPU with ROCm's tools. Operators only import these types from it.
_dtypes = types.ModuleType("aiter.utility.dtypes")
vars(_dtypes).update(fp8=_fp8, fp8_e8m0=torch.uint8, fp4x2=torch.uint8)
package.dtypes = _dtypes  # type: ignore[attr-defined]
sys.modules |= {"aiter": package, _dtypes.__name__: _dtypes}


def accept_old_autotune_keys() -> None:
    """Let kernels declare autotuner keys that are not arguments, which newer Triton versions reject.

    Some of AITER's backward kernels have such a key, and its attention cannot be imported without them.
    """
    own = triton.autotune

    def autotune(configs: Any, key: list[str], **options: Any) -> Callable[[Any], Any]:
        return lambda function: own(configs, [name for name in key if name in function.arg_names], **options)(function)

    triton.autotune = autotune


def half(*shape: int) -> torch.Tensor:
    """Return a bfloat16 tensor on the device."""
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def of(module: str, name: str) -> Callable[..., Any]:
    """Return a function of AITER."""
    found: Callable[..., Any] = getattr(importlib.import_module(f"aiter.ops.triton.{module}"), name)
    return found


def unified_attention() -> None:
    """Run unified attention of two sequences over a paged cache."""
    length, heads, size, page = 256, 8, 128, 64
    q, out = half(2 * length, heads, size), half(2 * length, heads, size)
    k, v = half(64, page, 2, size), half(64, page, 2, size)
    starts = torch.tensor([0, length, 2 * length], dtype=torch.int32, device="cuda")
    used = torch.tensor([length, length], dtype=torch.int32, device="cuda")
    table = torch.arange(64, dtype=torch.int32, device="cuda").reshape(2, 32)
    of("attention.unified_attention", "unified_attention")(
        q, k, v, out, starts, length, used, length, 0.1, True, (-1, -1), table, 0.0, None, None, None
    )


def flash_attention() -> None:
    """Run attention of 256 tokens, forward."""
    of("attention.mha", "flash_attn_func")(half(1, 256, 8, 128), half(1, 256, 8, 128), half(1, 256, 8, 128))


def each(calls: Mapping[str, Callable[[], Any]]) -> None:
    """Make several calls one after the other."""
    for name, call in calls.items():
        try:
            call()
        except Exception as error:  # noqa: BLE001  # one operator's failure is a line of the page
            print(f"failed {name}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
