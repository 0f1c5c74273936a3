"""AITER: find the configuration files of its Triton GEMM and MoE kernels (``ops/triton/utils`` at e4048607a5)."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import ClassVar

from kprof.inputs.weight_format import WeightFormat
from kprof_servers.served.aiter_attention import GLUON, PARTS, TABLES, chosen, tables
from kprof_servers.served.aiter_experts import experts_table
from kprof_servers.served.aiter_further import KERNELS, further
from kprof_servers.served.aiter_launches import REDUCED, product
from kprof_servers.served.aiter_tables import table_files
from kprof_servers.served.devices import ServedGpu
from kprof_servers.served.document import Found, NeededFile
from kprof_servers.served.interface import LookupAnswer, LookupCall, ModelServer, NeededLookup
from kprof_servers.served.lookup import ServerCode
from kprof_servers.served.nearest import launched_experts
from kprof_servers.served.shapes import LayerShapes, ProductShape, by_shape

_PLAIN = WeightFormat("bf16")
_UTILS = "aiter/ops/triton/utils"
_FAMILIES = {
    "bf16": "GEMM-A16W16",
    "fp8": "GEMM-A8W8",
    "int8": "GEMM-A8W8",
    "fp8-block": "GEMM-A8W8_BLOCKSCALE",
    # With MXFP4, only the experts are quantised (as in gpt-oss), so the products are bfloat16.
    "mxfp4": "GEMM-A16W16",
}
_KERNELS = "aiter/ops/triton/_triton_kernels"
_EXPERTS = {"bf16": None, "fp8": "FP8_W8A8", "fp8-block": "FP8_W8A8", "int8": "INT8_W8A8", "w4a16": "INT4_W4A16",
            "mxfp4": "MX_FP4"}  # fmt: skip

_SWITCHES = {"FP8_W8A8": "use_fp8_w8a8", "INT8_W8A8": "use_int8_w8a8", "INT4_W4A16": "use_int4_w4a16",
             "MX_FP4": "use_mxfp4"}  # fmt: skip


class AiterServer(ModelServer):
    """See :class:`ModelServer`."""

    name: ClassVar[str] = "aiter"
    shown: ClassVar[str] = "AITER"
    version: ClassVar[str] = "e4048607a5"
    package: ClassVar[str] = "aiter"
    sign: ClassVar[str] = "ops"
    nearest: ClassVar[bool] = False
    kernels: ClassVar[Mapping[str, tuple[tuple[str, str], ...]]] = {
        "GEMM-A16W16": ((f"{_KERNELS}/gemm/basic/gemm_a16w16.py", "_gemm_a16_w16_kernel"),),
        "GEMM-A8W8": ((f"{_KERNELS}/gemm/basic/gemm_a8w8.py", "_gemm_a8w8_kernel"),),
        "GEMM-A8W8_BLOCKSCALE": ((f"{_KERNELS}/gemm/basic/gemm_a8w8_blockscale.py", "_gemm_a8w8_blockscale_kernel"),),
        "MoE": ((f"{_KERNELS}/moe/moe_op.py", "_fused_moe_kernel"),),
        "MoE, w4a16": ((f"{_KERNELS}/moe/moe_op.py", "_fused_moe_kernel_gptq_awq"),),
        **KERNELS,
        **TABLES,
    }
    parts: ClassVar[Mapping[str, tuple[tuple[str, str], ...]]] = {
        REDUCED: ((f"{_KERNELS}/common/splitk_reduce.py", "_gemm_splitk_reduce_kernel"),),
        **PARTS,
    }

    def needed(self, shapes: LayerShapes, weights: WeightFormat, batches: Sequence[int]) -> list[NeededLookup]:
        """See :class:`ModelServer`."""
        family = None if weights.everywhere else _FAMILIES.get(weights.name)
        found = [] if family is None else _products(family, shapes.products, weights, batches)
        found += _products("GEMM-A16W16", shapes.plain, _PLAIN, batches)
        if shapes.experts is not None and weights.name in _EXPERTS:
            dtype = _EXPERTS[weights.name]
            found.append(
                NeededLookup(
                    kernel="MoE",
                    layer="experts",
                    layers=shapes.experts.layers,
                    shape={"E": shapes.experts.count, "N": shapes.experts.inner},
                    name=f"{{arch}}-MOE-{dtype or 'DEFAULT'}.json",
                    folder="aiter/ops/triton/configs/moe",
                    calls={
                        rows: LookupCall(
                            (f"{_UTILS}/moe_config_utils.py",),
                            "get_optimal_moe_config",
                            {"dtype": "bfloat16", **({} if dtype is None else {_SWITCHES[dtype]: True}), "M": rows},
                        )
                        for rows in batches
                    },
                    launch=launched_experts(shapes.experts, weights),
                )
            )
        return [*found, *further(shapes, weights, batches), *tables(shapes.attention)]

    def notes(self, weights: WeightFormat, arch: str) -> list[str]:  # noqa: ARG002 - the same on all of them
        """See :class:`ModelServer`."""
        found = [
            "AITER's callers choose between Triton's JSON files and the CSV tables of CK, assembly and FlyDSL kernels",
        ]
        if weights.name == "w4a16":
            found.append("AITER has no CSV table of w4a16 products")
        if weights.name in {"fp8-block", "mxfp4", "fp8", "bf16"}:
            found.append("AITER's caller uses one of several families for the same weights; only the first is in sums")
        if weights.name not in _FAMILIES:
            found.append(f"for {weights.name} products kprof knows no family of AITER's Triton kernels")
        return found

    def tables(
        self, shapes: LayerShapes, weights: WeightFormat, gpu: ServedGpu, root: Path, batches: Sequence[int]
    ) -> list[NeededFile]:
        """See :class:`ModelServer`."""
        found = table_files(shapes.products, weights, gpu, root, batches)
        found += table_files(shapes.plain, _PLAIN, gpu, root, batches)
        if shapes.experts is None:
            return found
        shared = any(each.layer.startswith("shared_experts.") for each in shapes.products)
        return found + experts_table(shapes.experts, weights, gpu, root, batches, shared=shared)

    def unranked(self, need: NeededLookup, file: NeededFile, arch: str) -> str:
        """See :class:`ModelServer`."""
        if arch == GLUON and "GEMM" in need.kernel:
            return f"on {arch} AITER launches Gluon's kernels, which kprof does not rank"
        if file.status == "none" and "GEMM" in need.kernel:
            return f"AITER launches {need.kernel} only where it has a file for all shapes, and {arch} has none"
        return ""

    def in_code(self, root: Path, shapes: LayerShapes, gpu: ServedGpu, batches: Sequence[int]) -> list[str]:
        """See :class:`ModelServer`."""
        return chosen(ServerCode(root, ""), shapes.attention, gpu, batches)

    def wanted(self, answer: LookupAnswer) -> str:
        """Return the path that AITER tried last: the file named for this shape."""
        return answer.asked[-1]

    def status(self, answer: LookupAnswer) -> Found:
        """Return the status; a file for all shapes, whose name does not contain the shape's sizes, is a "fallback"."""
        if answer.opened is None:
            # Without a file, AITER does not launch a GEMM kernel; the lookup of MoE returns defaults.
            return "none" if answer.error else "default"
        return "exact" if PurePosixPath(answer.opened).name == PurePosixPath(self.wanted(answer)).name else "fallback"


def _products(
    family: str, products: Sequence[ProductShape], weights: WeightFormat, batches: Sequence[int]
) -> list[NeededLookup]:
    """Return one lookup per distinct shape of the products, in the files of a kernel family."""
    return [
        NeededLookup(
            kernel=family,
            layer=each.layer,
            layers=each.layers,
            shape={"N": each.n, "K": each.k},
            name=f"{{arch}}-{family}-N={each.n}-K={each.k}.json",
            folder="aiter/ops/triton/configs/gemm",
            calls={
                rows: LookupCall(
                    (f"{_UTILS}/gemm_config_utils.py",),
                    "get_gemm_config",
                    {"config_name": family, "M": rows, "N": each.n, "K": each.k},
                )
                for rows in batches
            },
            launch=product(family, each.n, each.k, weights.name, weights.block),
        )
        for each in by_shape(products)
    ]
