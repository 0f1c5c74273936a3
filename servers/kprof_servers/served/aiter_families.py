"""AITER's other GEMM families: pre-shuffled, MXFP4, batched and fused products. Taken from AITER e4048607a5.

AITER's caller chooses between families for the same weights. Each family has its own ``_get_config``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kprof.errors import KprofError
from kprof.hardware.machine import load
from kprof.kernel_spec import Launch, Tensor, resolve_fp8
from kprof_servers.served.aiter_launches import AiterProduct
from kprof_servers.served.launches import SPACE, TILE, Tiled, arguments, knob

SHUFFLED, FP4, FP4_SHUFFLED = "GEMM-A8W8_BLOCKSCALE_PRESHUFFLED", "GEMM-AFP4WFP4", "GEMM-AFP4WFP4_PRESHUFFLED"
BATCHED = "BATCHED_GEMM-A16W16"
BATCHED_QUANTISED = "BATCHED_GEMM-A8W8-A_PER_TOKEN_GROUP_PREQUANT_W_PER_BATCHED_TENSOR_QUANT"
_KNOBS = (*TILE, "NUM_KSPLIT", "cache_modifier")
_SHUFFLED_ROWS = 16
_SCALED = 32
"""Number of elements that share a scale in MXFP4."""
_FP4_DEPTH = 128
_FEW_ROWS = 32
"""From this number of rows on, pre-shuffled MXFP4 activations have shuffled scales.

The tile's height must then be at least this number. With fewer rows, the height must be below it.
"""
_LARGEST = {"fp8e4b8": 240.0, "fp8e4nv": 448.0}
"""Largest finite value of each FP8 format."""


@dataclass(frozen=True)
class ShuffledProduct(AiterProduct):
    """A product of block-scaled FP8 whose weights are pre-shuffled: in the order that a matrix instruction reads."""

    measured: ClassVar[bool] = False

    def full(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the configuration as ``gemm_a8w8_blockscale_preshuffle`` uses it: K split evenly, tile unchanged."""
        full = {**self.default_knobs, **config}
        return {**full, "SPLITK_BLOCK_SIZE": -(-self.k // knob(full, "NUM_KSPLIT"))}

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Refuse numbers of columns that are not multiples of 16, and tiles not as deep as a block of the scales."""
        if self.n % _SHUFFLED_ROWS:
            return f"pre-shuffled weights have columns in groups of {_SHUFFLED_ROWS}"
        return super().refusal(config)

    def known(self, rows: int, parts: int, arch: str) -> dict[str, Any]:
        """Return the arguments of the product that is not shuffled, with shuffled weights and A's scales transposed."""
        found = super().known(rows, parts, arch)
        deep = self.k * _SHUFFLED_ROWS
        kind = found["b_ptr"].dtype
        weights = {"b_ptr": Tensor(kind, (self.n // _SHUFFLED_ROWS, deep)), "stride_bn": deep, "stride_bk": 1}
        return {**found, **weights, "stride_ascale_m": 1, "stride_ascale_k": rows}


@dataclass(frozen=True)
class Fp4Product(AiterProduct):
    """A product with MXFP4 on both sides: two elements per byte, one scale per 32 elements.

    Attributes:
        shuffled: whether weights and scales are pre-shuffled.
    """

    shuffled: bool = False
    measured: ClassVar[bool] = False
    reduced: ClassVar[tuple[int, int]] = (16, 64)
    space: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        **AiterProduct.space, "BLOCK_SIZE_K": (128, 256, 512), "NUM_KSPLIT": (1, 2, 4, 8),
    }  # fmt: skip

    def full(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the configuration as ``gemm_afp4wfp4`` uses it: K in bytes, or in elements if pre-shuffled."""
        full: dict[str, Any] = {**self.default_knobs, **config}
        size = self.k if self.shuffled else self.k // 2
        parts, depth, part = knob(full, "NUM_KSPLIT"), knob(full, "BLOCK_SIZE_K"), self.k
        if parts > 1:
            part, depth, parts = fp4_split(size, depth, parts)
        if depth >= self.k:
            depth, part, parts = 1 << (self.k - 1).bit_length(), self.k, parts if self.shuffled else 1
        if not self.shuffled:
            depth = max(depth, _FP4_DEPTH)
        columns = max(knob(full, "BLOCK_SIZE_N"), _SCALED) if self.shuffled else full["BLOCK_SIZE_N"]
        return {
            **full, "BLOCK_SIZE_N": columns, "BLOCK_SIZE_K": depth, "NUM_KSPLIT": parts, "SPLITK_BLOCK_SIZE": part,
        }  # fmt: skip

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:
        """Return the launches, as :meth:`AiterProduct.launches` does.

        Raises:
            KprofError: as :meth:`AiterProduct.launches`, or AITER does not support the GPU or the tile.
        """
        if not any("f8f6f4" in name for name in load(arch).matrix_instructions):
            raise KprofError(f"AITER refuses MXFP4 on {arch}")
        height = knob(config, "BLOCK_SIZE_M")
        if self.shuffled and (height < _FEW_ROWS) != (rows < _FEW_ROWS):
            raise KprofError(f"AITER uses tiles of less than {_FEW_ROWS} rows only for less than {_FEW_ROWS} rows")
        return super().launches(rows, config, names, arch)

    def element_bytes(self) -> int:
        """Return 1: two MXFP4 elements share a byte, but the size must be an integer."""
        return 1

    def known(self, rows: int, parts: int, arch: str) -> dict[str, Any]:
        """Return the arguments, with operands as tensors of bytes."""
        found = super().known(rows, parts, arch)
        n, wide, groups = self.n, self.k // 2, self.k // _SCALED
        made = {
            **found, "a_ptr": Tensor("u8", (rows, wide)), "b_ptr": Tensor("u8", (n, wide)), "stride_am": wide,
            "stride_bn": wide, "K": self.k if self.shuffled else wide,
            "a_scales_ptr": Tensor("u8", (rows, groups)), "b_scales_ptr": Tensor("u8", (n, groups)),
            "stride_asm": groups, "stride_ask": 1, "stride_bsn": groups, "stride_bsk": 1,
        }  # fmt: skip
        if not self.shuffled:
            return made
        deep = wide * _SHUFFLED_ROWS
        made |= {"b_ptr": Tensor("u8", (n // _SHUFFLED_ROWS, deep)), "stride_bn": deep}
        shuffled = {"b_scales_ptr": Tensor("u8", (n // _SCALED, self.k)), "stride_bsn": self.k}
        if rows >= _FEW_ROWS:
            shuffled |= {"a_scales_ptr": Tensor("u8", (rows // _SCALED, self.k)), "stride_asm": self.k}
        return {**made, **shuffled}


def fp4_split(k: int, depth: int, parts: int) -> tuple[int, int, int]:
    """Return the K elements per workgroup, the tile's depth and the number of parts, as AITER's ``get_splitk`` does.

    Args:
        k: K in the unit of AITER's wrapper: bytes, or elements for pre-shuffled weights.
        depth: depth of the tile in elements.
        parts: number of parts of K in the configuration.
    """
    part = -(-2 * -(-k // parts) // depth) * depth
    while parts > 1 and depth > _SHUFFLED_ROWS:
        if k % (part // 2) == 0 and part % depth == 0 and k % (depth // 2) == 0:
            break
        if k % (part // 2) or part % depth:
            parts //= 2
        else:
            depth //= 2
        part = -(-2 * -(-k // parts) // depth) * depth
    return part, depth, -(-k // (part // 2))


@dataclass(frozen=True)
class BatchedProduct(Tiled):
    """One product per head, for the absorbed keys or values of latent attention.

    Attributes:
        batch: number of heads.
        n: columns of each result.
        k: elements that are summed.
        quantised: whether weights are FP8 with one scale each and the kernel quantises activations; else bfloat16.
    """

    batch: int
    n: int
    k: int
    quantised: bool = False
    is_single_launch: ClassVar[bool] = True
    measured: ClassVar[bool] = False

    @property
    def knobs(self) -> tuple[str, ...]:
        """Knobs of a configuration. The group size of quantised activations fixes the tile's depth. K is not split."""
        if self.quantised:
            return ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "GROUP_SIZE_M", "cache_modifier")
        return (*TILE, "NUM_KSPLIT", "cache_modifier")

    @property
    def default_knobs(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Values that AITER uses for knobs that a file leaves out."""
        return {"cache_modifier": None} if self.quantised else {"NUM_KSPLIT": 1, "cache_modifier": None}

    @property
    def space(self) -> Mapping[str, tuple[Any, ...]]:  # type: ignore[override]
        """Knobs and their possible values."""
        ranges = {**SPACE, "cache_modifier": (None, ".cg"), "NUM_KSPLIT": (1,)}
        return {name: values for name, values in ranges.items() if name in self.knobs or name not in _KNOBS}

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:
        """Return the single launch; arguments and errors as in :meth:`AiterProduct.launches`."""
        full = {"NUM_KSPLIT": 1, "cache_modifier": None, **config, "SPLITK_BLOCK_SIZE": self.k}
        if self.quantised:
            full["BLOCK_SIZE_K"] = _FP4_DEPTH
        if knob(full, "NUM_KSPLIT") > 1:
            raise KprofError("kprof does not know the launch that sums the parts of K of a batched product")
        b, n, k = self.batch, self.n, self.k
        kind = resolve_fp8({"dtype": "fp8_e4m3"}, arch)["dtype"] if self.quantised else "bf16"
        most = _LARGEST.get(kind, 0.0)
        known: dict[str, Any] = {
            "a_ptr": Tensor("bf16", (b, rows, k)), "b_ptr": Tensor(kind, (b, n, k)),
            "c_ptr": Tensor("bf16", (b, rows, n)), "b_scale_ptr": Tensor("fp32", (1,)), "bias_ptr": None,
            "M": rows, "N": n, "K": k, "HAS_BIAS": False, "DTYPE_MAX": most, "DTYPE_MIN": -most, "stride_ck": 0,
        }  # fmt: skip
        sizes = {"ab": rows * k, "am": k, "ak": 1, "bb": n * k, "bk": 1, "bn": k, "cb": rows * n, "cm": n, "cn": 1,
                 "biasb": 0}  # fmt: skip
        for side, stride in sizes.items():
            known |= {f"stride_{side}": stride, f"stride_in_{side}": stride}
        tiles = -(-rows // knob(full, "BLOCK_SIZE_M")) * -(-n // knob(full, "BLOCK_SIZE_N"))
        return {"": Launch(arguments(names, known, full), (b, tiles))}

    def work(self, rows: int) -> int:
        """Return the number of operations of all products."""
        return 2 * self.batch * rows * self.n * self.k

    def sizes(self, rows: int) -> dict[str, int]:
        """Return the problem sizes that determine the order of the search."""
        return {"M": rows, "N": self.n, "K": self.k}

    def element_bytes(self) -> int:
        """Return the size in bytes of the multiplied elements."""
        return 1 if self.quantised else 2

    def refusal(self, config: Mapping[str, Any]) -> str | None:  # noqa: ARG002 - the compiler says what does not fit
        """Return None, because AITER is not known to refuse any configuration."""
        return None
