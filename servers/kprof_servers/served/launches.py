"""How vLLM and SGLang launch their two Triton kernels: the value of each kernel parameter, by name.

The names are those of the kernels in vLLM 0.33.0, SGLang 0.5.23 and earlier versions, which have the same origin. An
unknown parameter is an error; its value is never guessed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from kprof.errors import KprofError
from kprof.kernel_spec import Launch, Tensor, resolve_fp8
from kprof_servers.served.routing import blocks, experts_of_blocks, rows_of_experts

TILE = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M")
"""Knobs that both kernels have."""

_OFF = {
    "MUL_ROUTED_WEIGHT": False, "use_fp8_w8a8": False, "use_int8_w8a8": False, "use_int8_w8a16": False,
    "use_int4_w4a16": False, "per_channel_quant": False, "HAS_BIAS": False, "SWAP_AB": False, "swap_ab": False,
    "USE_TD": False, "naive_block_assignment": False, "c_sorted": False, "FUSE_ADD_TO_OUTPUT": False,
    "MASK_OUTPUT": False, "FUSE_SUM_ALL_REDUCE": False, "FUSE_SWIGLU": False, "filter_expert": False,
    "USE_GDC": False, "has_zp": False, "GDC_EARLY": False, "ROUTER_TOPK": 1, "SPLIT_K": 1,
    "NUM_XCDS": 8, "A_OUTPUT_SLICES": 1, "A_OUTPUT_SLICE_WIDTH": 0, "A_OUTPUT_SLICE_K": 0,
}  # fmt: skip
"""Values of the kernels' on/off parameters in a launch on AMD, for a model without features that turn them on."""

SPACE: Mapping[str, tuple[Any, ...]] = {
    "BLOCK_SIZE_M": (16, 32, 64, 128, 256),
    "BLOCK_SIZE_N": (16, 32, 64, 128, 256),
    "BLOCK_SIZE_K": (32, 64, 128, 256),
    "GROUP_SIZE_M": (1, 4, 8, 16, 32),
    "num_warps": (2, 4, 8),
    "num_stages": (2,),
    "waves_per_eu": (0, 1, 2, 4),
    "matrix_instr_nonkdim": (16, 32),
    "kpack": (1, 2),
}
"""Search space of vLLM's own tuner for AMD (``benchmark_moe.py`` of 0.33.0), but without ``num_warps`` 1."""

_NONE = ("a_desc", "b_desc", "bias_ptr", "b_bias_ptr", "add_mask_ptr", "sorted_weights_ptr", "b_zp_ptr")
_ZERO = ("stride_bbe", "stride_bbn", "stride_bias_e", "stride_bias_n", "stride_bze", "stride_bzk", "stride_bzn")


class LaunchedKernel(Protocol):
    """How a server launches the kernel of a layer."""

    @property
    def knobs(self) -> tuple[str, ...]:
        """Knobs of a configuration besides the compiler's options."""
        ...

    @property
    def is_single_launch(self) -> bool:
        """Whether one launch does all the layer's work."""
        ...

    @property
    def parts(self) -> tuple[str, ...]:
        """Labels of launches that may follow the first launch, such as the sum of a split-K product."""
        ...

    @property
    def measured(self) -> bool:
        """Whether ``--verify`` can launch the kernel on a GPU and check its result."""
        ...

    @property
    def is_shape_independent(self) -> bool:
        """Whether one configuration serves all numbers of rows, because its file does not distinguish them."""
        ...

    @property
    def table(self) -> tuple[str, ...]:
        """Keys of the nested objects in a file that hold the configuration for all numbers of rows, outermost first."""
        ...

    @property
    def assumed(self) -> str:
        """Assumptions of the predicted times other than the number of rows, as a clause; "" if there are none."""
        ...

    @property
    def space(self) -> Mapping[str, tuple[Any, ...]]:
        """Knobs and values to try if no tuned file helps; empty if :attr:`candidates` are listed."""
        ...

    @property
    def default_knobs(self) -> Mapping[str, Any]:
        """Values that the server uses for knobs that are missing in a file."""
        ...

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """Configurations to try for every number of rows; empty if :attr:`space` lists the values to try."""
        ...

    def supports_rows(self, rows: int) -> bool:
        """Return whether the server launches the kernel in a step with this number of rows."""
        ...

    def tile(self, config: Mapping[str, Any]) -> int:
        """Return the number of result elements that a workgroup holds."""
        ...

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:
        """Return every launch of the layer by label; the first has an empty label."""
        ...

    def work(self, rows: int) -> int:
        """Return the number of operations of all launches together."""
        ...

    def sizes(self, rows: int) -> dict[str, int]:
        """Return the problem sizes that determine the order of the search."""
        ...

    def element_bytes(self) -> int:
        """Return the size in bytes of the multiplied elements."""
        ...

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Return the reason why the server would not launch a configuration; None if it would."""
        ...


class Tiled:
    """Common base of the launches of matrix products and MoE experts, which compute tiles for any number of rows."""

    parts: ClassVar[tuple[str, ...]] = ()
    is_shape_independent: ClassVar[bool] = False
    measured: ClassVar[bool] = True
    table: ClassVar[tuple[str, ...]] = ()
    assumed: ClassVar[str] = ""
    space: ClassVar[Mapping[str, tuple[Any, ...]]] = SPACE
    default_knobs: ClassVar[Mapping[str, Any]] = {}

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """Empty list, because candidates come from :attr:`space`."""
        return []

    def supports_rows(self, rows: int) -> bool:  # noqa: ARG002 - of any number
        """Return True for any number of rows."""
        return True

    def tile(self, config: Mapping[str, Any]) -> int:
        """Return the number of result elements that a workgroup holds."""
        return knob(config, TILE[0]) * knob(config, TILE[1])


@dataclass(frozen=True)
class ServedProduct(Tiled):
    """A product ``M x K`` by ``K x N`` of FP8 matrices, with one scale per ``block_n x block_k`` block of the weights.

    Attributes:
        n: columns of the result.
        k: elements that are summed.
        block_n: columns that share a scale.
        block_k: elements of a row that share a scale.
    """

    n: int
    k: int
    block_n: int
    block_k: int
    knobs: ClassVar[tuple[str, ...]] = TILE
    is_single_launch: ClassVar[bool] = True

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:
        """Return the single launch, under the label "".

        Args:
            rows: rows of the activations.
            config: the server's configuration.
            names: parameters of the kernel.
            arch: architecture, which determines the FP8 format.

        Raises:
            KprofError: the kernel has a parameter that kprof does not know, or the configuration lacks a knob.
        """
        fp8 = resolve_fp8({"dtype": "fp8_e4m3"}, arch)["dtype"]
        groups, rows_of_scales = -(-self.k // self.block_k), -(-self.n // self.block_n)
        known = {
            "A": Tensor(fp8, (rows, self.k)),
            "B": Tensor(fp8, (self.n, self.k)),
            "C": Tensor("bf16", (rows, self.n)),
            "As": Tensor("fp32", (rows, groups)),
            "Bs": Tensor("fp32", (rows_of_scales, groups)),
            "M": rows,
            "N": self.n,
            "K": self.k,
            "group_n": self.block_n,
            "group_k": self.block_k,
            "stride_am": self.k,
            "stride_ak": 1,
            "stride_bk": 1,
            "stride_bn": self.k,
            "stride_cm": self.n,
            "stride_cn": 1,
            "stride_As_m": groups,
            "stride_As_k": 1,
            "stride_Bs_k": 1,
            "stride_Bs_n": groups,
            "needs_masking": bool(self.k % knob(config, "BLOCK_SIZE_K")),
        }
        tiles = -(-rows // knob(config, "BLOCK_SIZE_M")) * -(-self.n // knob(config, "BLOCK_SIZE_N"))
        return {"": Launch(arguments(names, known, config), (tiles,))}

    def work(self, rows: int) -> int:
        """Return the number of operations of the product."""
        return 2 * rows * self.n * self.k

    def sizes(self, rows: int) -> dict[str, int]:
        """Return the problem sizes that determine the order of the search."""
        return {"M": rows, "N": self.n, "K": self.k}

    def element_bytes(self) -> int:
        """Return 1, the size of FP8."""
        return 1

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Refuse a tile that spans two scales."""
        return _spans(config, self.block_k)


@dataclass(frozen=True)
class ServedExperts(Tiled):
    """The two products of a mixture of experts: the up and gate projections as one, then the down projection.

    Attributes:
        count: experts on this GPU.
        everywhere: total number of experts on all GPUs.
        inner: columns of an expert's intermediate result on this GPU.
        hidden: size of the residual stream.
        chosen: experts per token.
        weights: ``bf16``, ``fp8`` (one scale per tensor), ``fp8-block`` or ``w4a16`` (two per byte, no zero points).
        block: rows and columns of the weights that share a scale.
        group: elements of a row that share a scale, if the weights are ``w4a16``.
    """

    count: int
    everywhere: int
    inner: int
    hidden: int
    chosen: int
    weights: str
    block: tuple[int, int] | None = None
    group: int | None = None
    knobs: ClassVar[tuple[str, ...]] = TILE
    is_single_launch: ClassVar[bool] = False

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:
        """Return both launches by label: "" and "down". Arguments as in :meth:`ServedProduct.launches`.

        Raises:
            KprofError: as :meth:`ServedProduct.launches`.
        """
        height = knob(config, "BLOCK_SIZE_M")
        draws = [load[: self.count] for load in rows_of_experts(self.everywhere, rows, self.chosen)]
        count = blocks(draws, height)
        owners = experts_of_blocks(draws[0], height, count) if any(draws[0]) else (0,) * count
        return {
            "": self._side(config, names, arch, rows, owners, up=True),
            "down": self._side(config, names, arch, rows, owners, up=False),
        }

    def work(self, rows: int) -> int:
        """Return the number of operations of both products, averaged over random routings of tokens to experts."""
        return 6 * rows * self.chosen * self.inner * self.hidden * self.count // self.everywhere

    def sizes(self, rows: int) -> dict[str, int]:
        """Return the sizes that determine the order of the search: this GPU's rows, and the first product's N and K."""
        return {"M": max(1, rows * self.chosen // self.everywhere), "N": 2 * self.inner, "K": self.hidden}

    def element_bytes(self) -> int:
        """Return the size in bytes of the multiplied elements; packed weights are unpacked before the product."""
        return 2 if self.weights in {"bf16", "w4a16"} else 1

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Refuse a tile that spans two scales."""
        return _spans(config, (self.block or (0, 0))[1])

    def _side(
        self, config: Mapping[str, Any], names: Sequence[str], arch: str, rows: int, owners: Sequence[int], *, up: bool
    ) -> Launch:
        n, k = (2 * self.inner, self.hidden) if up else (self.hidden, self.inner)
        routed = rows * self.chosen
        if self.weights == "w4a16":
            config = _with_packed_tile(config, rows if up else routed)
        height, depth = knob(config, "BLOCK_SIZE_M"), knob(config, "BLOCK_SIZE_K")
        block = self.block or (0, 0)
        if self.block is not None:
            # A tile must not span two scales, so the servers' launchers limit the depth to the size of a scale's block.
            depth = min(depth, *block)
        padded = len(owners) * height
        fp8 = self.weights in {"fp8", "fp8-block"}
        packed = self.weights == "w4a16"
        bytes_of_row = k // 2 if packed else k
        kind = resolve_fp8({"dtype": "fp8_e4m3"}, arch)["dtype"] if fp8 else "bf16"
        given = rows if up else routed
        known = {
            "a_ptr": Tensor(kind, (given, k)),
            "b_ptr": Tensor("u8" if packed else kind, (self.count, n, bytes_of_row)),
            "c_ptr": Tensor("bf16", (rows, self.chosen, n)),
            "topk_weights_ptr": Tensor("fp32", (rows, self.chosen)),
            "sorted_token_ids_ptr": Tensor("i32", (padded,)),
            "expert_ids_ptr": Tensor("i32", (len(owners),), values=tuple(owners)),
            "num_tokens_post_padded_ptr": Tensor("i32", (1,), values=(padded,)),
            "N": n, "K": k, "EM": padded, "num_valid_tokens": routed,
            "stride_am": k, "stride_ak": 1, "stride_be": n * bytes_of_row, "stride_bk": 1, "stride_bn": bytes_of_row,
            "stride_cm": n, "stride_cn": 1, "group_size": self.group or 0,
            "group_n": block[0], "group_k": block[1],
            "top_k": self.chosen if up else 1,
            "compute_type": _bf16(),
            "even_Ks": k % depth == 0,
            "block_k_diviable": k % depth == 0,
            **_OFF,
            **self._scales(given, n, k),
            "use_fp8_w8a8": fp8,
            "use_int4_w4a16": packed,
            "MUL_ROUTED_WEIGHT": not up,
            **dict.fromkeys(_NONE),
            **dict.fromkeys(_ZERO, 0),
        }  # fmt: skip
        grid = (len(owners) * -(-n // knob(config, "BLOCK_SIZE_N")),)
        return Launch(arguments(names, known, {**config, "BLOCK_SIZE_K": depth}), grid)

    def _scales(self, rows: int, n: int, k: int) -> dict[str, Any]:
        """Return the arguments for scales and their strides, by weight format: none, or per tensor, block or group."""
        strides = dict.fromkeys(("stride_asm", "stride_ask", "stride_bse", "stride_bsk", "stride_bsn"), 0)
        if self.weights == "bf16":
            return {"a_scale_ptr": None, "b_scale_ptr": None, **strides}
        if self.weights == "w4a16":
            if not self.group:
                raise KprofError("weights of 4 bits without a group have no scales that kprof knows of")
            groups = -(-k // self.group)
            shared = Tensor("bf16", (self.count, n, groups))
            sides = {"stride_bse": n * groups, "stride_bsk": 1, "stride_bsn": groups}
            return {"a_scale_ptr": None, "b_scale_ptr": shared, **strides, **sides}
        if self.block is None:
            scales = {"a_scale_ptr": Tensor("fp32", (1,)), "b_scale_ptr": Tensor("fp32", (self.count,))}
            return {**scales, **strides, "stride_bse": 1}
        groups, columns = -(-k // self.block[1]), -(-n // self.block[0])
        return {
            "a_scale_ptr": Tensor("fp32", (rows, groups)),
            "b_scale_ptr": Tensor("fp32", (self.count, columns, groups)),
            "stride_asm": groups,
            "stride_ask": 1,
            "stride_bse": columns * groups,
            "stride_bsk": 1,
            "stride_bsn": groups,
        }


def _spans(config: Mapping[str, Any], block: int) -> str | None:
    return "a tile would span two scales" if block and config["BLOCK_SIZE_K"] > block else None


def _with_packed_tile(config: Mapping[str, Any], rows: int) -> Mapping[str, Any]:
    """Add the tile's columns and depth unless both are set, as vLLM's ``get_moe_wna16_block_config`` does."""
    if "BLOCK_SIZE_N" in config and "BLOCK_SIZE_K" in config:
        return config
    columns, depth = (32, 64) if rows == 1 else (64, 32)
    return {**config, "BLOCK_SIZE_N": columns, "BLOCK_SIZE_K": depth}


def knob(config: Mapping[str, Any], name: str) -> int:
    """Return a positive integer of a configuration.

    Raises:
        KprofError: the configuration has no such value.
    """
    value = config.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise KprofError(f"a configuration without {name}")
    return value


def arguments(names: Sequence[str], known: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of each parameter in ``names``: from ``config`` if it has the name, otherwise from ``known``."""
    found = {}
    for name in names:
        if name in config:
            found[name] = config[name]
        elif name in known:
            found[name] = known[name]
        else:
            raise KprofError(f"the server's kernel has the unknown parameter {name}; kprof supports no version with it")
    return found


def _bf16() -> Any:
    import triton.language as tl

    return tl.bfloat16
