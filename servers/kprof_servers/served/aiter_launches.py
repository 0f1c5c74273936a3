"""Launches of AITER's Triton products: the split of K, the product, and the sum over the parts of K.

The values are those of ``ops/triton/gemm/basic`` and ``gemm_config_utils.compute_splitk_params`` at e4048607a5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kprof.kernel_spec import Launch, Tensor, resolve_fp8
from kprof_servers.served.launches import SPACE, TILE, Tiled, arguments, knob

REDUCED = "reduce"
"""Label of the launch that sums the parts of K."""
_REDUCED_TILE = 32
_SMALLEST_DEPTH = 16


@dataclass(frozen=True)
class AiterProduct(Tiled):
    """A product ``M x K`` by ``K x N`` of an AITER family, and the sum over the parts of K if K is split.

    Attributes:
        family: ``GEMM-A16W16``, ``GEMM-A8W8`` (one scale per row and column) or ``GEMM-A8W8_BLOCKSCALE``.
        n: columns of the result.
        k: elements that are summed.
        kind: type of the elements: ``bf16``, ``fp8_e4m3`` or ``i8``.
        block_n: columns that share a scale in ``GEMM-A8W8_BLOCKSCALE``.
        block_k: elements of a row that share a scale in ``GEMM-A8W8_BLOCKSCALE``.
    """

    family: str
    n: int
    k: int
    kind: str
    block_n: int = 0
    block_k: int = 0
    knobs: ClassVar[tuple[str, ...]] = (*TILE, "NUM_KSPLIT", "cache_modifier")
    is_single_launch: ClassVar[bool] = True
    parts: ClassVar[tuple[str, ...]] = (REDUCED,)
    reduced: ClassVar[tuple[int, int]] = (_REDUCED_TILE, _REDUCED_TILE)
    space: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        **SPACE, "NUM_KSPLIT": (1, 2, 4, 8, 16), "cache_modifier": (None, ".cg"),
    }  # fmt: skip
    default_knobs: ClassVar[Mapping[str, Any]] = {"NUM_KSPLIT": 1, "cache_modifier": None}

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:
        """Return the launches by label: the product under "" and, if K is split, the sum under "reduce".

        Args:
            rows: rows of the activations.
            config: AITER's configuration.
            names: parameters of the product's kernel, without those that its heuristics compute.
            arch: architecture, which determines the FP8 format.

        Raises:
            KprofError: the kernel has a parameter that kprof does not know, or the configuration lacks a knob.
        """
        full = self.full(config)
        parts = full["NUM_KSPLIT"]
        tiles = -(-rows // knob(full, "BLOCK_SIZE_M")) * -(-self.n // knob(full, "BLOCK_SIZE_N"))
        made = {"": Launch(arguments(names, self.known(rows, parts, arch), full), (parts * tiles,))}
        if parts > 1:
            made[REDUCED] = self._sum(rows, full)
        return made

    def work(self, rows: int) -> int:
        """Return the number of operations of the product."""
        return 2 * rows * self.n * self.k

    def sizes(self, rows: int) -> dict[str, int]:
        """Return the problem sizes that determine the order of the search."""
        return {"M": rows, "N": self.n, "K": self.k}

    def element_bytes(self) -> int:
        """Return the size in bytes of the multiplied elements."""
        return 2 if self.kind == "bf16" else 1

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Return the reason why AITER would not launch a configuration; None if it would."""
        if self.block_k and config["BLOCK_SIZE_K"] != self.block_k:
            return f"AITER requires tiles of {self.block_k} elements of K, the size of a scale's block"
        return None

    def full(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return a configuration with the values that AITER changes or adds before the launch."""
        return with_split(config, self.k)

    def known(self, rows: int, parts: int, arch: str) -> dict[str, Any]:
        """Return the values of those parameters of the product's kernel that are not knobs of a configuration."""
        kind = resolve_fp8({"dtype": self.kind}, arch)["dtype"]
        n, k = self.n, self.k
        result = Tensor("bf16", (rows, n)) if parts == 1 else Tensor("fp32", (parts, rows, n))
        return {
            "a_ptr": Tensor(kind, (rows, k)), "b_ptr": Tensor(kind, (n, k)), "c_ptr": result, "bias_ptr": None,
            "M": rows, "N": n, "K": k,
            "stride_am": k, "stride_ak": 1, "stride_bk": 1, "stride_bn": k,
            "stride_ck": 0 if parts == 1 else rows * n, "stride_cm": n, "stride_cn": 1,
            "activation": "", "use_activation": False, "ADD_BIAS": False, "HAS_BIAS": False, "SKIP_REDUCE": False,
            **self._scales(rows),
        }  # fmt: skip

    def _scales(self, rows: int) -> dict[str, Any]:
        if not self.block_k:
            return {"a_scale_ptr": Tensor("fp32", (rows, 1)), "b_scale_ptr": Tensor("fp32", (1, self.n))}
        groups = -(-self.k // self.block_k)
        return {
            "a_scale_ptr": Tensor("fp32", (rows, groups)),
            "b_scale_ptr": Tensor("fp32", (-(-self.n // self.block_n), groups)),
            "stride_ascale_m": groups,
            "stride_ascale_k": 1,
            "stride_bscale_k": 1,
            "stride_bscale_n": groups,
            "GROUP_K": self.block_k,
            "GROUP_N": self.block_n,
        }

    def _sum(self, rows: int, full: Mapping[str, Any]) -> Launch:
        parts, n = full["NUM_KSPLIT"], self.n
        known = {
            "c_in_ptr": Tensor("fp32", (parts, rows, n)), "c_out_ptr": Tensor("bf16", (rows, n)), "bias_ptr": None,
            "M": rows, "N": n,
            "stride_c_in_k": rows * n, "stride_c_in_m": n, "stride_c_in_n": 1, "stride_c_out_m": n,
            "stride_c_out_n": 1, "BLOCK_SIZE_M": self.reduced[0], "BLOCK_SIZE_N": self.reduced[1],
            "ACTUAL_KSPLIT": -(-self.k // full["SPLITK_BLOCK_SIZE"]), "MAX_KSPLIT": _power_of_two(parts),
            "ADD_BIAS": False, "activation": "", "use_activation": False,
        }  # fmt: skip
        return Launch(known, (-(-rows // self.reduced[0]), -(-n // self.reduced[1])))


def with_split(config: Mapping[str, Any], k: int) -> dict[str, Any]:
    """Return a configuration as AITER launches it.

    ``SPLITK_BLOCK_SIZE`` becomes the number of K elements per workgroup, and the tile is made no deeper than that.

    Args:
        config: configuration from the file.
        k: elements that are summed.

    Raises:
        KprofError: the configuration has no tile.
    """
    full = {"NUM_KSPLIT": 1, "cache_modifier": None, **config}
    parts, depth = knob(full, "NUM_KSPLIT"), knob(full, "BLOCK_SIZE_K")
    part = -(-k // parts)
    while parts > 1 and depth > part:
        parts //= 2
        part = -(-k // parts)
    if depth > part:
        depth = _power_of_two(part)
        depth = depth // 2 if depth > part else depth
    depth = max(depth, _SMALLEST_DEPTH)
    if parts > 1 and part % depth:
        part = -(-part // depth) * depth
        parts = -(-k // part)
    return {**full, "NUM_KSPLIT": parts, "SPLITK_BLOCK_SIZE": part, "BLOCK_SIZE_K": depth}


def product(family: str, n: int, k: int, weights: str, block: tuple[int, int] | None) -> AiterProduct | None:
    """Return how a product of a family is launched, or ``None`` if kprof does not know that.

    Args:
        family: AITER's name of the family.
        n: columns of the result.
        k: elements that are summed.
        weights: format of the weights.
        block: number of columns and number of elements along K that share a scale.
    """
    kinds = {"bf16": "bf16", "mxfp4": "bf16", "fp8": "fp8_e4m3", "fp8-block": "fp8_e4m3", "int8": "i8"}
    if weights not in kinds or (weights == "fp8-block" and block is None):
        return None
    return AiterProduct(family, n, k, kinds[weights], *(block or (0, 0)))


def _power_of_two(value: int) -> int:
    return 1 << max(value - 1, 0).bit_length()
