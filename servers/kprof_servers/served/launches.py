"""How servers launch their two Triton kernels: the value of each parameter, by its name.

The names are those of vLLM's and SGLang's kernels (vLLM 0.33.0, SGLang 0.5.23 and those before them: both come from
one origin). A parameter that none of them has is an error, never a guess.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from kprof.errors import KprofError
from kprof.kernel_spec import Launch, Tensor, resolve_fp8
from kprof_servers.served.routing import blocks, experts_of_blocks, rows_of_experts

TILE = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M")
"""Knobs that all these kernels have."""

_OFF = {
    "MUL_ROUTED_WEIGHT": False, "use_fp8_w8a8": False, "use_int8_w8a8": False, "use_int8_w8a16": False,
    "use_int4_w4a16": False, "per_channel_quant": False, "HAS_BIAS": False, "SWAP_AB": False, "swap_ab": False,
    "USE_TD": False, "naive_block_assignment": False, "c_sorted": False, "FUSE_ADD_TO_OUTPUT": False,
    "MASK_OUTPUT": False, "FUSE_SUM_ALL_REDUCE": False, "FUSE_SWIGLU": False, "filter_expert": False,
    "USE_GDC": False, "has_zp": False, "GDC_EARLY": False, "ROUTER_TOPK": 1, "SPLIT_K": 1,
    "NUM_XCDS": 8, "A_OUTPUT_SLICES": 1, "A_OUTPUT_SLICE_WIDTH": 0, "A_OUTPUT_SLICE_K": 0,
}  # fmt: skip
"""Switches as a launch on AMD has them where no feature of the model turns them on."""

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
"""Knobs and values that vLLM's own tuner has for AMD (``benchmark_moe.py`` of 0.33.0), without one wavefront."""

_NONE = ("a_desc", "b_desc", "bias_ptr", "b_bias_ptr", "add_mask_ptr", "sorted_weights_ptr", "b_zp_ptr")
_ZERO = ("stride_bbe", "stride_bbn", "stride_bias_e", "stride_bias_n", "stride_bze", "stride_bzk", "stride_bzn")


class LaunchedKernel(Protocol):
    """How a server launches the kernel of a layer."""

    @property
    def knobs(self) -> tuple[str, ...]:
        """What a configuration says besides the compiler's options."""
        ...

    @property
    def alone(self) -> bool:
        """Whether one launch does all the layer's work."""
        ...

    @property
    def parts(self) -> tuple[str, ...]:
        """Labels of launches that may follow, of other kernels."""
        ...

    @property
    def measured(self) -> bool:
        """``--verify`` can launch it on a GPU and knows its result."""
        ...

    @property
    def single(self) -> bool:
        """One configuration serves all numbers of rows: its file does not tell them apart."""
        ...

    @property
    def table(self) -> tuple[str, ...]:
        """Where the configuration stands in such a file: keys, one in another."""
        ...

    @property
    def assumed(self) -> str:
        """What its times rest on besides the rows, a clause; empty where nothing."""
        ...

    @property
    def space(self) -> Mapping[str, tuple[Any, ...]]:
        """Knobs and values to choose from where no tuned file says more; empty where :attr:`candidates` are listed."""
        ...

    @property
    def unsaid(self) -> Mapping[str, Any]:
        """What the server takes for knobs that a file leaves out."""
        ...

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """Configurations to look at, the same for all rows; empty where there is a space."""
        ...

    def takes(self, rows: int) -> bool:
        """Whether the server launches it in a step of so many rows."""
        ...

    def tile(self, config: Mapping[str, Any]) -> int:
        """Elements of the result that a workgroup holds."""
        ...

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:
        """Every launch of the layer, by its label; the first has none."""
        ...

    def work(self, rows: int) -> int:
        """Operations of all launches together."""
        ...

    def sizes(self, rows: int) -> dict[str, int]:
        """What the search's order is made from."""
        ...

    def element_bytes(self) -> int:
        """Of what is multiplied."""
        ...

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Why the server would not launch a configuration."""
        ...


class Tiled:
    """Of products and experts: a tile of the result, by rows."""

    parts: ClassVar[tuple[str, ...]] = ()
    single: ClassVar[bool] = False
    measured: ClassVar[bool] = True
    table: ClassVar[tuple[str, ...]] = ()
    assumed: ClassVar[str] = ""
    space: ClassVar[Mapping[str, tuple[Any, ...]]] = SPACE
    unsaid: ClassVar[Mapping[str, Any]] = {}

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """None: it has a space."""
        return []

    def takes(self, rows: int) -> bool:  # noqa: ARG002 - of any number
        """Always."""
        return True

    def tile(self, config: Mapping[str, Any]) -> int:
        """Elements of the result that a workgroup holds."""
        return knob(config, TILE[0]) * knob(config, TILE[1])


@dataclass(frozen=True)
class ServedProduct(Tiled):
    """``M x K`` by ``K x N``, both FP8, with a scale for each ``block_n x block_k`` of the weights.

    Attributes:
        n: columns of the result.
        k: elements that are summed.
        block_n: columns that share a scale.
        block_k: elements of a row that share one.
    """

    n: int
    k: int
    block_n: int
    block_k: int
    knobs: ClassVar[tuple[str, ...]] = TILE
    alone: ClassVar[bool] = True

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:
        """The one launch, under an empty name.

        Args:
            rows: of the activations.
            config: the server's configuration.
            names: parameters of the kernel.
            arch: decides the FP8 format.

        Raises:
            KprofError: the kernel has a parameter that no known version has, or the configuration lacks one.
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
        """Operations of the product."""
        return 2 * rows * self.n * self.k

    def sizes(self, rows: int) -> dict[str, int]:
        """What the search's order is made from."""
        return {"M": rows, "N": self.n, "K": self.k}

    def element_bytes(self) -> int:
        """FP8."""
        return 1

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """A tile that spans two scales."""
        return _spans(config, self.block_k)


@dataclass(frozen=True)
class ServedExperts(Tiled):
    """The two products of a mixture of experts: up with the gate, then down.

    Attributes:
        count: experts on this GPU.
        everywhere: experts on all GPUs that they are distributed over.
        inner: columns of an expert's intermediate result on this GPU.
        hidden: size of the residual stream.
        chosen: experts for a token.
        weights: ``bf16``, ``fp8`` (a scale a tensor), ``fp8-block`` or ``w4a16`` (two a byte, without zero points).
        block: rows and columns of the weights that share a scale.
        group: elements of a row that share one, where the weights are ``w4a16``.
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
    alone: ClassVar[bool] = False

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:
        """Both launches, the first under an empty name, the second under ``down``; arguments as a product's.

        Raises:
            KprofError: as for a product.
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
        """Operations of both products, on average over where tokens go."""
        return 6 * rows * self.chosen * self.inner * self.hidden * self.count // self.everywhere

    def sizes(self, rows: int) -> dict[str, int]:
        """What the search's order is made from: a GPU's share of the rows, and the first product."""
        return {"M": max(1, rows * self.chosen // self.everywhere), "N": 2 * self.inner, "K": self.hidden}

    def element_bytes(self) -> int:
        """As they are multiplied: packed weights are unpacked before."""
        return 2 if self.weights in {"bf16", "w4a16"} else 1

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """A tile that spans two scales."""
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
            # As the servers' launchers have it: a tile must not span two scales.
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
        """Scales and their strides: none, one a tensor, one a block, or one a group of a row."""
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
    """Columns and depth that vLLM's launcher adds to a default without them: ``get_moe_wna16_block_config``."""
    if "BLOCK_SIZE_N" in config and "BLOCK_SIZE_K" in config:
        return config
    columns, depth = (32, 64) if rows == 1 else (64, 32)
    return {**config, "BLOCK_SIZE_N": columns, "BLOCK_SIZE_K": depth}


def knob(config: Mapping[str, Any], name: str) -> int:
    """A whole number of a configuration, 1 or more.

    Raises:
        KprofError: it has none.
    """
    value = config.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise KprofError(f"a configuration without {name}")
    return value


def arguments(names: Sequence[str], known: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """Each parameter's value: knobs by the configuration, else what is known of it."""
    found = {}
    for name in names:
        if name in config:
            found[name] = config[name]
        elif name in known:
            found[name] = known[name]
        else:
            raise KprofError(f"the server's kernel has a parameter {name}, which no version that kprof knows has")
    return found


def _bf16() -> Any:
    import triton.language as tl

    return tl.bfloat16
