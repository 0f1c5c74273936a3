"""SGLang: the configuration files that a server needs for fused MoE and for block-FP8 products.

The files of fused MoE depend on Triton's version. File and function names follow SGLang 0.5.23.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from kprof.inputs.weight_format import WeightFormat
from kprof_servers.served.attention_constants import LAUNCHERS, constants
from kprof_servers.served.devices import ServedGpu
from kprof_servers.served.interface import ModelServer, NeededLookup
from kprof_servers.served.nearest import block_fp8, fused_moe
from kprof_servers.served.shapes import LayerShapes

_MOE = "sglang/srt/layers/moe/moe_runner/triton_utils"
_MOE_FILES = (
    f"{_MOE}/fused_moe_triton_config.py",
    "sglang/srt/layers/moe/fused_moe_triton/fused_moe_triton_config.py",
    "sglang/srt/layers/moe/fused_moe_triton/fused_moe.py",
)
_MOE_KERNEL_FILES = (
    "sglang/kernels/ops/moe/fused_moe_triton_kernels.py",
    f"{_MOE}/fused_moe_triton_kernels.py",
    "sglang/srt/layers/moe/fused_moe_triton/fused_moe_triton_kernels.py",
    "sglang/srt/layers/moe/fused_moe_triton/fused_moe.py",
)
_PRODUCT_FILES = ("sglang/kernels/ops/gemm/fp8_kernel.py", "sglang/srt/layers/quantization/fp8_kernel.py")
_ATTENTION = "sglang/kernels/ops/attention/decode_attention.py"
_DTYPES = {"bf16": None, "fp8": "fp8_w8a8", "fp8-block": "fp8_w8a8", "w4a16": "int4_w4a16", "int8": "int8_w8a8"}
"""Map from weight format to the result of SGLang's ``get_config_dtype_str``."""


class SglangServer(ModelServer):
    """See :class:`ModelServer`."""

    name: ClassVar[str] = "sglang"
    shown: ClassVar[str] = "SGLang"
    version: ClassVar[str] = "0.5.23"
    package: ClassVar[str] = "sglang"
    sign: ClassVar[str] = "srt"
    models: ClassVar[str] = "sglang/srt/models/*.py"
    kernels: ClassVar[Mapping[str, tuple[tuple[str, str], ...]]] = {
        "fused MoE": tuple((file, "fused_moe_kernel") for file in _MOE_KERNEL_FILES),
        "fused MoE, w4a16": tuple((file, "fused_moe_kernel_gptq_awq") for file in _MOE_KERNEL_FILES),
        "block FP8": tuple((file, "_w8a8_block_fp8_matmul") for file in _PRODUCT_FILES),
    }

    def needed(self, shapes: LayerShapes, weights: WeightFormat, batches: Sequence[int]) -> list[NeededLookup]:
        """See :class:`ModelServer`."""
        found = []
        if shapes.experts is not None and weights.name in _DTYPES:
            dtype, folder = _DTYPES[weights.name], f"{_MOE}/configs/triton_*"
            found.append(
                fused_moe(shapes.experts, weights, dtype, _MOE_FILES, folder, batches=batches, comma=", ", packed=True)
            )
        if weights.block is not None:
            folder = "sglang/kernels/ops/gemm/configs"
            found += block_fp8(shapes.products, weights.block, _PRODUCT_FILES, folder, ", ")
        return found

    def in_code(self, root: Path, shapes: LayerShapes, gpu: ServedGpu, batches: Sequence[int]) -> list[str]:  # noqa: ARG002
        """See :class:`ModelServer`."""
        return constants(root, [(_ATTENTION, function) for function in LAUNCHERS])

    def notes(self, weights: WeightFormat, arch: str) -> list[str]:  # noqa: ARG002 - the same on all of them
        """See :class:`ModelServer`."""
        found = [
            "these are Triton's kernels: with SGLANG_USE_AITER=1 AITER's run instead, see --server aiter",
            "shared experts count as layers of their own; where SGLang fuses them E is larger by their number",
        ]
        if weights.name not in _DTYPES:
            found.append(f"for {weights.name} experts kprof knows no file that SGLang looks up")
        if weights.name == "w4a16":
            found.append("weights of 4 bits are assumed to be quantised symmetrically, without zero points")
        if weights.block is None:
            found.append("outside of the experts, only products with FP8 blocks look up a file")
        return found
