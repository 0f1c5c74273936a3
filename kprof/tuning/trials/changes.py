"""Select the changes of knobs that are worth a compile, most promising first."""

import os
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from kprof.compiler.versions import CODE_SWITCHES, waves_per_eu_default
from kprof.hardware.machine import Architecture
from kprof.knobs import is_tile_name
from kprof_analyzers.rules import known_rules

if TYPE_CHECKING:
    from kprof.kernel_spec import Kernel, Shape

Config = Mapping[str, Any]

# Values of compiler options for kernels that do not list their own.
_OPTION_VALUES: Mapping[str, tuple[int, ...]] = {
    "num_warps": (2, 4, 8),
    "num_stages": (1, 2),
    "waves_per_eu": (0, 1, 2, 3),
}
# Minimum rows of a matrix instruction to try: instructions with 4 rows are meant for products of about that size.
_SMALLEST_MATRIX = 16

# Triton's values for options that a kernel does not set. A change to such a value has no effect.
_DEFAULTS: Mapping[str, int] = {"num_warps": 4, "num_stages": 2, "matrix_instr_nonkdim": 0, "kpack": 1}

LLVM_SWITCH = "DISABLE_LLVM_OPT"
"""Despite its name, this variable sets every LLVM option that it lists to true. LLVM ignores unknown names."""

SWITCHES: tuple[str, ...] = (*CODE_SWITCHES, LLVM_SWITCH)
"""Environment switches that change the generated code."""

_SCHEDULING: tuple[tuple[str, str, tuple[int, int]], ...] = (
    (LLVM_SWITCH, "amdgpu-use-amdgpu-trackers", (3, 7)),
    ("llvm_fn_attrs", "amdgpu-sched-strategy=max-ilp", (3, 8)),
)

_TRUE = {"1", "true", "on", "yes", "y"}

# Knobs that change how much a wavefront holds. Other knobs come later if registers or LDS do not suffice.
_SHAPES = ("BLOCK", "TILE", "NUM_WARPS", "NUM_STAGES", "WAVES_PER_EU")


def values(
    kernel: "Kernel", config: Config, arch: Architecture, version: tuple[int, int]
) -> dict[str, tuple[Any, ...]]:
    """Return the values to try for each knob, including the present one.

    Args:
        kernel: the kernel with its knobs.
        config: present knobs and switches.
        arch: architecture.
        version: version of Triton, for defaults.
    """
    known: dict[str, tuple[Any, ...]] = {name: tuple(found) for name, found in kernel.space.items()}
    for name, found in _options_of(arch).items():
        known.setdefault(name, found)
    for name, value in config.items():
        if name not in known and isinstance(value, bool):
            known[name] = (False, True)
        elif name not in known and _is_tile(name, value):
            known[name] = (value // 2, value, value * 2)
    for name in CODE_SWITCHES:
        if name in (arch.triton.switches or {}):
            set_to = config.get(name, os.environ.get(name))
            is_on = arch.triton.is_on(name, version) if set_to is None else str(set_to).lower() in _TRUE
            known[name] = ("0" if is_on else "1",)
    now = _now(config, version)
    return {name: found for name, found in known.items() if set(found) - {now.get(name)}}


def _options_of(arch: Architecture) -> dict[str, tuple[int, ...]]:
    """Return the compiler's options with the values worth trying."""
    sizes = tuple(n for n in arch.triton.matrix_instr_nonkdim or () if not n or n >= _SMALLEST_MATRIX)
    of_architecture = {"matrix_instr_nonkdim": sizes, "kpack": arch.triton.kpack or ()}
    return {**_OPTION_VALUES, **{name: found for name, found in of_architecture.items() if len(found) > 1}}


def option_changes(
    config: Config, arch: Architecture, rules: Collection[str], *, version: tuple[int, int]
) -> list[dict[str, Any]]:
    """Return changes of single compiler options, for a kernel whose own knobs cannot be changed.

    Args:
        config: present knobs.
        arch: architecture.
        rules: identifiers of the findings, which determine the order.
        version: version of Triton, for defaults.
    """
    now = _now(config, version)
    single = [{name: value} for name, found in _options_of(arch).items() for value in found if value != now.get(name)]
    ordered = sorted(single, key=lambda change: _distance(change, config, rules, {}))
    return [*ordered, *scheduling_changes(config, rules, version)]


def scheduling_changes(config: Config, rules: Collection[str], version: tuple[int, int]) -> list[dict[str, Any]]:
    """Return changes of LLVM's instruction scheduling for a kernel that spills registers.

    Their effect differs between kernels, so each change is compiled and no gain is assumed.

    Args:
        config: present knobs and switches.
        rules: identifiers of the findings.
        version: version of Triton.
    """
    if not any(rule.spills and rule.id in rules for rule in known_rules()):
        return []
    return [{name: value} for name, value, since in _SCHEDULING if version >= since and name not in config]


def left_to_triton(version: tuple[int, int]) -> dict[str, int]:
    """Return the compiler's options with their values for a kernel that does not set them."""
    return {**_DEFAULTS, "waves_per_eu": waves_per_eu_default(version)}


def _now(config: Config, version: tuple[int, int]) -> dict[str, Any]:
    """Return every knob's present value, including options that the kernel leaves to Triton."""
    return {**left_to_triton(version), **config}


def _is_tile(name: str, value: object) -> bool:
    power = isinstance(value, int) and not isinstance(value, bool) and value >= 16 and value & (value - 1) == 0
    return power and is_tile_name(name)


def neighbours(
    kernel: "Kernel",
    shape: "Shape",
    config: Config,
    arch: Architecture,
    rules: Collection[str],
    *,
    version: tuple[int, int],
) -> Iterator[dict[str, Any]]:
    """Yield changes of one knob, of two tile sizes at once, and of a tile size with the number of wavefronts.

    Args:
        kernel: the kernel with its knobs.
        shape: the problem, which determines legality.
        config: present knobs.
        arch: architecture.
        rules: identifiers of the findings, which determine the order.
        version: version of Triton, for defaults.

    Yields:
        Only the knobs that change. Combinations that the kernel's ``legal`` rejects are skipped.
    """
    known, now = values(kernel, config, arch, version), _now(config, version)
    single = [{name: value} for name, found in known.items() for value in found if value != now.get(name)]
    tiles = [n for n in known if n not in SWITCHES and is_tile_name(n)]
    pairs = [
        dict(zip(names, combination, strict=True))
        for names in combinations(tiles[:3], 2)
        for combination in product(*(known[name] for name in names))
        if all(value != config.get(name) for name, value in zip(names, combination, strict=True))
    ]
    with_warps = [
        {name: value, "num_warps": warps}
        for name in tiles[:3]
        for value in known[name]
        for warps in known.get("num_warps", ())
        if value != config.get(name) and warps != config.get("num_warps")
    ]
    # Among changes of equal distance, those with fewer knobs come first.
    ordered = sorted(
        [*single, *pairs, *with_warps], key=lambda change: (_distance(change, config, rules, known), len(change))
    )
    for change in [*ordered, *scheduling_changes(config, rules, version)]:
        knobs = {name: value for name, value in {**config, **change}.items() if name not in SWITCHES}
        if kernel.legal is None or kernel.legal(shape, knobs, arch.name) is None:
            yield change


def _distance(change: Config, config: Config, rules: Collection[str], known: Mapping[str, tuple[Any, ...]]) -> float:
    """Return the distance of a change in doublings, or in steps through the listed values if that is smaller.

    A step in the direction that cures a finding counts half, and two such knobs count even less. A severe lack of
    registers or LDS is rarely cured by one knob, so changes of two knobs follow right after single ones.
    """
    pressed = any(rule.lacks_room and rule.id in rules for rule in known_rules())
    aside = 0.25 if pressed else 0.0
    total, cures = 0.0, 0
    for name, value in change.items():
        now = config.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not isinstance(now, int):
            total += 1 + aside * (not name.upper().startswith(_SHAPES))
            continue
        steps = _steps(value, now, known.get(name, ()))
        smaller = value < now if name != "num_warps" else value > now
        cures += smaller
        total += steps * (0.5 if smaller and pressed else 1) + aside * (not name.upper().startswith(_SHAPES))
    return total * (0.75 if pressed and cures > 1 else 1)


def _steps(value: int, now: int, known: tuple[Any, ...]) -> int:
    doublings = abs(max(value, 1).bit_length() - max(now, 1).bit_length()) or 1
    if value not in known or now not in known:
        return doublings
    return min(doublings, abs(known.index(value) - known.index(now)))
