"""Read the quantisation of a model's weights from ``quantization_config``, whose form differs between tools."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

LARGEST = 1 << 24
"""Maximum valid size. A larger value means that the file is damaged; products of smaller sizes are exact."""

_FOUR, _EIGHT = 4, 8
_EXCLUSION_KEYS = ("ignore", "modules_to_not_convert", "exclude", "exclude_layers", "ignored_layers")
"""Keys that list modules without quantisation."""
_PRODUCT = re.compile(
    r"attn|attention|mlp|feed_forward|expert|[qkvo]_proj|kv_|qkv|down_proj|up_proj|gate_proj", re.IGNORECASE
)
_NO_PRODUCT = re.compile(
    r"lm_head|embed|norm|router|vision|visual|multi_modal|mtp|(?:^|[._])gate$|(?:^|[._])gate[.*]|shared_expert_gate|bias"
)
_FP4 = ("fp4", "fp4_e2m1")


@dataclass(frozen=True)
class WeightFormat:
    """Quantisation of weights.

    Attributes:
        name: ``bf16`` without quantisation, ``fp8``, ``fp8-block``, ``int8``, ``w4a16``, ``mxfp4``, or another name
            from the file.
        block: rows and columns that share a scale, for ``fp8-block``.
        group: number of elements that share a scale, for ``w4a16``.
        everywhere: for ``mxfp4``, True if both operands of all GEMMs are quantised, False if only the experts' weights
            are.
    """

    name: str = "bf16"
    block: tuple[int, int] | None = None
    group: int | None = None
    everywhere: bool = False


def quantised(found: Mapping[str, Any]) -> tuple[WeightFormat, list[str]]:
    """Return the format of most weights, and sentences about parts of the configuration that kprof does not support.

    Args:
        found: ``quantization_config`` of the file.
    """
    reader = _Reader()
    chosen = reader.chosen(found)
    if chosen.name not in {"bf16", "w4a16"} and (chosen.name != "mxfp4" or chosen.everywhere):
        reader.kept(found)
    return chosen, reader.problems


class _Reader:
    def __init__(self) -> None:
        self.problems: list[str] = []

    def chosen(self, found: Mapping[str, Any]) -> WeightFormat:
        method = str(found.get("quant_method", "?"))
        if method == "compressed-tensors":
            return self.compressed(found)
        if method == "quark":
            return self.quark(found)
        if method == "fp8":
            return self.fp8(found.get("weight_block_size"))
        if method in {"gptq", "awq"} and found.get("bits") == _FOUR:
            return self.four_bits(found.get("group_size"))
        if method != "mxfp4":
            self.problems.append(
                f"the quantisation {method!r} is not known, so the configuration files for it are not known either"
            )
        return WeightFormat(method)

    def kept(self, found: Mapping[str, Any]) -> None:
        """Report that some GEMMs are not quantised, judging by the names of the modules without quantisation."""
        names = [name for key in _EXCLUSION_KEYS if isinstance(found.get(key), list) for name in found[key]]
        products = [str(n) for n in names if _PRODUCT.search(str(n)) and not _NO_PRODUCT.search(str(n))]
        if products:
            count = "1 exception" if len(products) == 1 else f"{len(products):,} exceptions"
            self.problems.append(
                f"not all GEMMs are quantised: {count}, for example {products[0][:60]!r}; "
                "kprof lists them as if they were quantised"
            )

    def compressed(self, found: Mapping[str, Any]) -> WeightFormat:
        """Read a configuration of ``compressed-tensors``; its first group is used for all weights."""
        groups = found.get("config_groups")
        listed = list(groups.values()) if isinstance(groups, dict) else []
        first = listed[0] if listed else None
        weights = first.get("weights") if isinstance(first, dict) else None
        if not isinstance(first, dict) or not isinstance(weights, dict):
            return self.unknown("compressed-tensors", "without a group of weights,")
        if any(isinstance(other, dict) and other.get("weights") != weights for other in listed[1:]):
            self.problems.append(f"the weights are quantised in {len(listed)} ways: the first is used for all of them")
        acts = first.get("input_activations")
        bits, kind, block, group = (weights.get(key) for key in ("num_bits", "type", "block_structure", "group_size"))
        if bits == _FOUR and kind == "int" and acts is None:
            return self.four_bits(group)
        if bits == _EIGHT and kind == "float":
            return self.fp8(block)
        if bits == _EIGHT and kind == "int" and acts is not None:
            return WeightFormat("int8")
        sides = "weights alone" if acts is None else "both sides"
        return self.unknown("compressed-tensors", f"{repr(bits)[:10]} bits of {repr(kind)[:20]}, {sides},")

    def quark(self, found: Mapping[str, Any]) -> WeightFormat:
        """Read a configuration of AMD's Quark: the global part or, without it, the part for the experts' layers."""
        layers = found.get("layer_quant_config")
        every = found.get("global_quant_config")
        kind = _quark_kind(every)
        if kind is None and isinstance(layers, dict) and layers and all("expert" in str(name) for name in layers):
            kinds = {_quark_kind(each) for each in layers.values()}
            if kinds <= set(_FP4):
                return WeightFormat("mxfp4")
        if layers:
            self.problems.append(
                "layer_quant_config has layers with a quantisation of their own, which kprof does not distinguish"
            )
        if kind in _FP4:
            return WeightFormat("mxfp4", everywhere=True)
        if kind in {"fp8_e4m3", "int8"}:
            return WeightFormat("fp8" if kind == "fp8_e4m3" else "int8")
        return self.unknown("quark", f"{repr(kind)[:40]}")

    def unknown(self, method: str, said: str) -> WeightFormat:
        """Report an unknown quantisation and return a format with the method's name."""
        self.problems.append(f"{method}, {said} is not known, so the configuration files for it are not known either")
        return WeightFormat(method)

    def fp8(self, block: Any) -> WeightFormat:
        """Return ``fp8``, or ``fp8-block`` if the file contains a valid block size."""
        if block is None:
            return WeightFormat("fp8")
        if isinstance(block, list) and len(block) == 2 and all(map(is_size, block)):
            return WeightFormat("fp8-block", (block[0], block[1]))
        self.problems.append("the block of weights that share a scale is not two sizes: fp8 without blocks is assumed")
        return WeightFormat("fp8")

    def four_bits(self, group: Any) -> WeightFormat:
        """Return ``w4a16`` (4-bit integers); a group size of -1 means a whole row."""
        if group is not None and group != -1 and not is_size(group):
            self.problems.append(f"group_size is not a valid size: {repr(group)[:40]}")
        return WeightFormat("w4a16", group=group if is_size(group) else None)


def _quark_kind(config: Any) -> str | None:
    """Return the type of the weights, or ``None`` if it is unknown or quantised in two steps."""
    weight = config.get("weight") if isinstance(config, dict) else None
    if isinstance(weight, list):
        weight = weight[0] if len(weight) == 1 else None
    kind = weight.get("dtype") if isinstance(weight, dict) else None
    return kind if isinstance(kind, str) else None


def is_size(value: Any) -> TypeGuard[int]:
    """Return whether a value is an integer from 1 to :data:`LARGEST`."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST
