"""A product of 16-bit rows with the 4-bit experts of gpt-oss, by the copy of triton_kernels in vLLM's package."""

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from checkouts import half, replaced

HIDDEN, EXPERTS, CHOSEN = 2880, 32, 4
# The multiple to which vLLM pads the width if scales are swizzled.
FILLED = 3072


def use_copy() -> None:
    """Make the copy importable without importing vLLM."""
    found = importlib.util.find_spec("vllm")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("No module named 'vllm'")
    sys.path.append(str(Path(found.origin).parent / "third_party"))


def product(tokens: int, *, swizzled: bool, flags: Mapping[str, Any]) -> None:
    """Compute gate and up projections of a layer.

    Args:
        tokens: number of rows, each of which uses four of 32 experts.
        swizzled: whether scales have the order in which CDNA4 reads them.
        flags: values that replace the copy's own choice of the tile.
    """
    import triton_kernels.matmul_ogs as module
    from triton_kernels.routing import routing_torch
    from triton_kernels.tensor import FP4, convert_layout, wrap_torch_tensor
    from triton_kernels.tensor_details.layout import CDNA4MXScaleLayout

    width = FILLED if swizzled else HIDDEN
    rows = torch.arange(tokens, device="cuda")
    logits = torch.zeros(tokens, EXPERTS, device="cuda")
    for offset in range(CHOSEN):
        logits[rows, (rows + offset * 7) % EXPERTS] = 4.0 - offset
    routing, gather, _ = routing_torch(logits, CHOSEN)
    weights = torch.empty(EXPERTS, 2 * width, width // 2, device="cuda", dtype=torch.uint8).transpose(-1, -2)
    scales = torch.empty(EXPERTS, 2 * width, width // 32, device="cuda", dtype=torch.uint8).transpose(-1, -2)
    scale = wrap_torch_tensor(scales)
    precision = module.PrecisionConfig(weight_scale=convert_layout(scale, CDNA4MXScaleLayout) if swizzled else scale)
    chosen = module.make_opt_flags

    def given(*arguments: Any) -> Any:
        found = chosen(*arguments)
        for name, value in flags.items():
            setattr(found, name, value)
        return found

    with replaced(module, "make_opt_flags", given):
        module.matmul_ogs(
            half(tokens, width),
            wrap_torch_tensor(weights, dtype=FP4),
            None,
            routing,
            gather_indx=gather,
            precision_config=precision,
        )
