"""AITER's further GEMM families: pre-shuffled, MXFP4, batched and fused products. Taken from AITER e4048607a5.

Which of the families for the same weights runs is the caller's choice; each is asked for by its own ``_get_config``.
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
"""Elements that share a scale in MXFP4."""
_FP4_DEPTH = 128
_FEW_ROWS = 32
"""From here on the scales of pre-shuffled MXFP4 activations are shuffled, and a tile has as many rows at least."""
_LARGEST = {"fp8e4b8": 240.0, "fp8e4nv": 448.0}
"""Of each FP8 format."""


@dataclass(frozen=True)
class ShuffledProduct(AiterProduct):
    """Block-scaled FP8 whose weights are in the order that 16 columns of a matrix instruction read them in."""

    measured: ClassVar[bool] = False

    def full(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """As ``gemm_a8w8_blockscale_preshuffle`` has it: K is split evenly, the tile stays."""
        full = {**self.unsaid, **config}
        return {**full, "SPLITK_BLOCK_SIZE": -(-self.k // knob(full, "NUM_KSPLIT"))}

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Columns in groups of 16, and a tile as deep as a block."""
        if self.n % _SHUFFLED_ROWS:
            return f"pre-shuffled weights have columns in groups of {_SHUFFLED_ROWS}"
        return super().refusal(config)

    def known(self, rows: int, parts: int, arch: str) -> dict[str, Any]:
        """As of the plain product; weights in rows of 16 columns, scales of the activations transposed."""
        found = super().known(rows, parts, arch)
        deep = self.k * _SHUFFLED_ROWS
        kind = found["b_ptr"].dtype
        weights = {"b_ptr": Tensor(kind, (self.n // _SHUFFLED_ROWS, deep)), "stride_bn": deep, "stride_bk": 1}
        return {**found, **weights, "stride_ascale_m": 1, "stride_ascale_k": rows}


@dataclass(frozen=True)
class Fp4Product(AiterProduct):
    """Both sides MXFP4: two elements a byte, a scale for 32 of them.

    Attributes:
        shuffled: weights and scales are pre-shuffled.
    """

    shuffled: bool = False
    measured: ClassVar[bool] = False
    reduced: ClassVar[tuple[int, int]] = (16, 64)
    space: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        **AiterProduct.space, "BLOCK_SIZE_K": (128, 256, 512), "NUM_KSPLIT": (1, 2, 4, 8),
    }  # fmt: skip

    def full(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """As ``gemm_afp4wfp4`` has it; of K in bytes there, in elements where it is pre-shuffled."""
        full: dict[str, Any] = {**self.unsaid, **config}
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
            KprofError: as :meth:`AiterProduct.launches`, or AITER refuses the GPU or the tile.
        """
        if not any("f8f6f4" in name for name in load(arch).matrix_instructions):
            raise KprofError(f"AITER refuses MXFP4 on {arch}")
        height = knob(config, "BLOCK_SIZE_M")
        if self.shuffled and (height < _FEW_ROWS) != (rows < _FEW_ROWS):
            raise KprofError(f"AITER takes tiles of less than {_FEW_ROWS} rows for less than {_FEW_ROWS} rows only")
        return super().launches(rows, config, names, arch)

    def element_bytes(self) -> int:
        """Two a byte; the least that there is a word for."""
        return 1

    def known(self, rows: int, parts: int, arch: str) -> dict[str, Any]:
        """Tensors of bytes."""
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
    """The part of K that a workgroup has, the tile's depth and the number of parts: ``get_splitk``.

    Args:
        k: as the wrapper counts it.
        depth: of the tile, in elements.
        parts: as the configuration has it.
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
    """A product for each head: keys or values of latent attention, absorbed.

    Attributes:
        batch: heads.
        n: columns of each result.
        k: elements that are summed.
        quantised: weights in FP8 with a scale each, activations quantised in the kernel; else bfloat16.
    """

    batch: int
    n: int
    k: int
    quantised: bool = False
    alone: ClassVar[bool] = True
    measured: ClassVar[bool] = False

    @property
    def knobs(self) -> tuple[str, ...]:
        """What a configuration says: where activations are quantised, their group is the depth, and K is not split."""
        if self.quantised:
            return ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "GROUP_SIZE_M", "cache_modifier")
        return (*TILE, "NUM_KSPLIT", "cache_modifier")

    @property
    def unsaid(self) -> Mapping[str, Any]:  # type: ignore[override]
        """What AITER takes where a file leaves it out."""
        return {"cache_modifier": None} if self.quantised else {"NUM_KSPLIT": 1, "cache_modifier": None}

    @property
    def space(self) -> Mapping[str, tuple[Any, ...]]:  # type: ignore[override]
        """Knobs and values to choose from."""
        ranges = {**SPACE, "cache_modifier": (None, ".cg"), "NUM_KSPLIT": (1,)}
        return {name: values for name, values in ranges.items() if name in self.knobs or name not in _KNOBS}

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:
        """The one launch; arguments and errors as of a product."""
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
        """Operations of all products."""
        return 2 * self.batch * rows * self.n * self.k

    def sizes(self, rows: int) -> dict[str, int]:
        """What the search's order is made from."""
        return {"M": rows, "N": self.n, "K": self.k}

    def element_bytes(self) -> int:
        """As they are multiplied."""
        return 1 if self.quantised else 2

    def refusal(self, config: Mapping[str, Any]) -> str | None:  # noqa: ARG002 - the compiler says what does not fit
        """None is known."""
        return None
