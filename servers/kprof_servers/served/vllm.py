"""vLLM: lookups of fused MoE and block-FP8 products, as in ``fused_moe.py`` and ``fp8_utils.py`` of 0.33.0."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from kprof.inputs.weight_format import WeightFormat
from kprof_servers.served.attention_constants import LAUNCHERS, constants
from kprof_servers.served.devices import ServedGpu
from kprof_servers.served.document import Found, NeededFile
from kprof_servers.served.interface import LookupAnswer, LookupCall, ModelServer, NeededLookup
from kprof_servers.served.nearest import block_fp8, fused_moe
from kprof_servers.served.shapes import ExpertShape, LayerShapes

_LAYERS = "vllm/model_executor/layers"
_ATTENTION = "vllm/v1/attention/ops/triton_decode_attention.py"
_FLYDSL = "fused MoE, FlyDSL"
_DTYPES = {"bf16": None, "fp8": "fp8_w8a8", "fp8-block": "fp8_w8a8", "w4a16": "int4_w4a16", "int8": None}
"""Map from weight format to the result of vLLM's ``_get_config_dtype_str``."""


class VllmServer(ModelServer):
    """See :class:`ModelServer`."""

    name: ClassVar[str] = "vllm"
    shown: ClassVar[str] = "vLLM"
    version: ClassVar[str] = "0.33.0"
    package: ClassVar[str] = "vllm"
    sign: ClassVar[str] = "model_executor"
    models: ClassVar[str] = "vllm/model_executor/models/registry.py"
    kernels: ClassVar[Mapping[str, tuple[tuple[str, str], ...]]] = {
        "fused MoE": ((f"{_LAYERS}/fused_moe/fused_moe.py", "fused_moe_kernel"),),
        "fused MoE, w4a16": ((f"{_LAYERS}/fused_moe/fused_moe.py", "fused_moe_kernel_gptq_awq"),),
        "block FP8": (
            (f"{_LAYERS}/quantization/utils/fp8_utils.py", "_w8a8_triton_block_scaled_mm"),
            (f"{_LAYERS}/quantization/utils/fp8_utils.py", "_w8a8_block_fp8_matmul"),
        ),
    }

    def needed(self, shapes: LayerShapes, weights: WeightFormat, batches: Sequence[int]) -> list[NeededLookup]:
        """See :class:`ModelServer`."""
        found = []
        if shapes.experts is not None and weights.name in _DTYPES:
            files = (f"{_LAYERS}/fused_moe/fused_moe.py",)
            folder = f"{_LAYERS}/fused_moe/configs"
            found.append(fused_moe(shapes.experts, weights, _DTYPES[weights.name], files, folder, batches=batches))
            if weights.name == "w4a16":
                found.append(_flydsl(shapes.experts))
        if weights.block is not None:
            files = (f"{_LAYERS}/quantization/utils/fp8_utils.py",)
            found += block_fp8(shapes.products, weights.block, files, f"{_LAYERS}/quantization/utils/configs")
        return found

    def in_code(self, root: Path, shapes: LayerShapes, gpu: ServedGpu, batches: Sequence[int]) -> list[str]:  # noqa: ARG002
        """See :class:`ModelServer`."""
        return constants(root, [(_ATTENTION, function) for function in LAUNCHERS])

    def notes(self, weights: WeightFormat, arch: str) -> list[str]:  # noqa: ARG002 - the same on all of them
        """See :class:`ModelServer`."""
        found = ["these are Triton's kernels: with VLLM_ROCM_USE_AITER=1 AITER's run instead, see --server aiter"]
        if weights.name not in _DTYPES:
            found.append(f"for {weights.name} experts kprof knows no file that vLLM looks up")
        if weights.name == "w4a16":
            found.append("weights of 4 bits are assumed to be quantised symmetrically, without zero points")
        if weights.block is None:
            found.append("outside of the experts, only products with FP8 blocks look up a file")
        return found

    def unranked(self, need: NeededLookup, file: NeededFile, arch: str) -> str:  # noqa: ARG002
        """See :class:`ModelServer`."""
        return "FlyDSL's kernel is not a Triton kernel" if need.kernel == _FLYDSL else ""

    def device_call(self) -> LookupCall | None:
        """See :class:`ModelServer`."""
        return LookupCall(("vllm/platforms/rocm.py",), "_ROCM_DEVICE_ID_NAME_MAP", {})

    def wanted(self, answer: LookupAnswer) -> str:
        """Return the path in the package's folder; vLLM requests it after the path in VLLM_TUNED_CONFIG_FOLDER."""
        return answer.asked[-1]

    def status(self, answer: LookupAnswer) -> Found:
        """See :class:`ModelServer`."""
        return "default" if answer.opened is None else "exact"


def _flydsl(experts: ExpertShape) -> NeededLookup:
    """Return the lookup of FlyDSL's kernel for 4-bit experts, which vLLM uses on some AMD GPUs if AITER is enabled."""
    name = f"E={experts.count},N={experts.inner},device_name={{device}},dtype=int4_w4a16,backend=flydsl.json"
    return NeededLookup(
        kernel=_FLYDSL,
        layer="experts",
        layers=experts.layers,
        shape={"E": experts.count, "N": experts.inner},
        name=name,
        folder=f"{_LAYERS}/fused_moe/configs",
        calls={
            0: LookupCall(
                (f"{_LAYERS}/fused_moe/fused_flydsl_moe.py",),
                "try_get_optimal_config",
                {"num_experts": experts.count, "inter_dim": experts.inner},
            )
        },
        optional=True,
        alternative=True,
    )
