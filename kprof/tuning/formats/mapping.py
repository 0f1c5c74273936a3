"""Map a kernel's knobs to the keys of a format."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kprof.errors import KprofError, near
from kprof.knobs import spellings
from kprof.output.assignments import assigned

_REQUIRED = object()


@dataclass(frozen=True)
class FormatKey:
    """One key of a format.

    Attributes:
        name: name in the file.
        knobs: names that kernels use for it; the first one that the configuration has is used.
        default: value that the kernel uses implicitly if no knob matches. A key without a default is required.
        optional: True if the key is omitted when no knob matches.
    """

    name: str
    knobs: tuple[str, ...]
    default: Any = _REQUIRED
    optional: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether a file is unusable without this key."""
        return self.default is _REQUIRED and not self.optional


TILES = (
    FormatKey("BLOCK_SIZE_M", spellings("m")),
    FormatKey("BLOCK_SIZE_N", spellings("n")),
    FormatKey("BLOCK_SIZE_K", spellings("k")),
    FormatKey("GROUP_SIZE_M", spellings("group")),
)
"""Keys of every matrix product's configuration."""

OPTIONS = (
    FormatKey("num_warps", ("num_warps",), 4),
    FormatKey("num_stages", ("num_stages",), 2),
    FormatKey("waves_per_eu", ("waves_per_eu",), 0),
    FormatKey("matrix_instr_nonkdim", ("matrix_instr_nonkdim",), 0),
)
"""Compiler options with Triton's default values for AMD."""


def translate(
    config: Mapping[str, Any], keys: Sequence[FormatKey], given: Mapping[str, Any], form: str, kernel: str
) -> dict[str, Any]:
    """Return a configuration under a format's keys.

    Args:
        config: the kernel's knobs.
        keys: keys of the format, in its order.
        given: the user's knob name or value for a key.
        form: the format's name, for messages.
        kernel: the kernel's name, for messages.

    Raises:
        KprofError: if a required key has no knob, or the user names an unknown key.
    """
    names = [key.name for key in keys]
    for name in given:
        if name not in names:
            raise KprofError(f"{form} has no key {name!r}{near(name, names)}", hint=f"its keys are {', '.join(names)}")
    found: dict[str, Any] = {}
    for key in keys:
        if key.name in given:
            value = given[key.name]
            found[key.name] = config[value] if isinstance(value, str) and value in config else value
            continue
        knob = next((name for name in key.knobs if name in config), None)
        if knob is not None:
            found[key.name] = config[knob]
        elif key.is_needed:
            raise KprofError(
                f"{form} needs {key.name}, but {kernel} has no knob for it",
                hint=f"name the knob or value: --key {key.name}=NAME or --key {key.name}=1",
            )
        elif not key.optional:
            found[key.name] = key.default
    return found


def left_out(config: Mapping[str, Any], keys: Sequence[FormatKey], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the knobs that have no key in a format."""
    placed = {name for key in keys for name in key.knobs} | {v for v in given.values() if isinstance(v, str)}
    return {name: value for name, value in config.items() if name not in placed}


def lost(config: Mapping[str, Any], keys: Sequence[FormatKey], given: Mapping[str, Any], form: str) -> tuple[str, ...]:
    """Return a sentence about knobs that the format cannot express, or an empty tuple if there are none."""
    missing = left_out(config, keys, given)
    if not missing:
        return ()
    said = assigned(missing, ", ")
    return (f"{form} cannot store {said}: its kernel must use the same values",)


def device_name(product: str) -> str:
    """Return PyTorch's device name on ROCm with underscores: ``AMD_Instinct_MI300X`` for ``MI300X``."""
    if product.startswith("MI"):
        return f"AMD_Instinct_{product}"
    words = re.fullmatch(r"(RX)(\d+)([A-Z]*)", product)
    return "AMD_Radeon_" + ("_".join(filter(None, words.groups())) if words else product)


def operand_bytes(shape: Mapping[str, Any]) -> int | None:
    """Return the bytes of an operand's element, from the problem's ``dtype``."""
    from kprof.kernel_spec import ELEMENT_TYPES

    kind = ELEMENT_TYPES.get(str(shape.get("dtype")))
    return kind.size if kind is not None else None
