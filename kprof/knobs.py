"""Recognise the roles of knobs by the names that kernels commonly use."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

_NAMES: Mapping[str, tuple[str, ...]] = {
    "m": ("BLOCK_M", "BLOCK_SIZE_M", "BM", "TILE_M", "M_BLOCK", "BLOCKM"),
    "n": ("BLOCK_N", "BLOCK_SIZE_N", "BN", "TILE_N", "N_BLOCK", "BLOCKN"),
    "k": ("BLOCK_K", "BLOCK_SIZE_K", "BK", "TILE_K", "K_BLOCK", "BLOCKK"),
    "group": ("GROUP_M", "GROUP_SIZE_M", "GROUP"),
    "split": ("SPLIT_K", "NUM_KSPLIT", "KSPLIT", "SPLITK"),
    "workgroups": ("WORKGROUPS", "NUM_SMS", "NUM_CUS", "NUM_PROGRAMS"),
}

_SHORT = re.compile(r"B_?(M|N|K|Q|KV)")


def role_names(knobs: Iterable[str]) -> dict[str, str]:
    """Map each role (``m``, ``n``, ``k``, ``group``, ``split``, ``workgroups``) that a knob has to the knob's name."""
    known = {name.upper(): name for name in knobs}
    return {role: known[name] for role, names in _NAMES.items() for name in names if name in known}


def spellings(role: str) -> tuple[str, ...]:
    """Return the names that kernels use for a knob of this role."""
    return _NAMES[role]


def is_tile_name(name: str) -> bool:
    """Return whether a knob is a tile's size: ``BLOCK_M``, ``TILE_K`` or, shorter, ``BM``, ``B_N``, ``BQ``, ``BKV``."""
    upper = name.upper()
    return "BLOCK" in upper or "TILE" in upper or _SHORT.fullmatch(upper) is not None


def tile_names(knobs: Iterable[str]) -> tuple[str, ...]:
    """Return the knobs that define the tile of a workgroup: sizes of blocks and tiles, and the number of wavefronts."""
    names = list(knobs)
    roles = role_names(names)
    sizes = {roles[role] for role in "mnk" if role in roles}
    return tuple(name for name in names if name in sizes or is_tile_name(name) or name == "num_warps")


def tile_of(config: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the names and values of a configuration's tile knobs; all other knobs do not change the tile."""
    return tuple((name, config[name]) for name in sorted(tile_names(config)))


def number(config: Mapping[str, Any], name: str | None) -> int | None:
    """Return a knob's value if it is a positive integer, else ``None``."""
    value = config.get(name) if name is not None else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
