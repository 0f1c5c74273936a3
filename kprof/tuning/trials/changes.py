"""Which changes of knobs are worth a compile, the most promising ones first."""

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

# Where a kernel lists no values of its own for one of the compiler's options.
_OPTION_VALUES: Mapping[str, tuple[int, ...]] = {
    "num_warps": (2, 4, 8),
    "num_stages": (1, 2),
    "waves_per_eu": (0, 1, 2, 3),
}
# Instructions of 4 rows are for products that are hardly any larger.
_SMALLEST_MATRIX = 16

# What Triton does when a kernel says nothing: a change to it changes nothing.
_DEFAULTS: Mapping[str, int] = {"num_warps": 4, "num_stages": 2, "matrix_instr_nonkdim": 0, "kpack": 1}

LLVM_SWITCH = "DISABLE_LLVM_OPT"
"""Despite its name, it sets every LLVM option that it lists to true. LLVM ignores unknown names."""

SWITCHES: tuple[str, ...] = (*CODE_SWITCHES, LLVM_SWITCH)
"""Environment switches that change the code."""

_SCHEDULING: tuple[tuple[str, str, tuple[int, int]], ...] = (
    (LLVM_SWITCH, "amdgpu-use-amdgpu-trackers", (3, 7)),
    ("llvm_fn_attrs", "amdgpu-sched-strategy=max-ilp", (3, 8)),
)

_TRUE = {"1", "true", "on", "yes", "y"}

# Knobs that change how, not how much, a wavefront holds: behind the others when registers or LDS do not suffice.
_SHAPES = ("BLOCK", "TILE", "NUM_WARPS", "NUM_STAGES", "WAVES_PER_EU")


def values(
    kernel: "Kernel", config: Config, arch: Architecture, version: tuple[int, int]
) -> dict[str, tuple[Any, ...]]:
    """Every knob with the values to try, the present one included.

    Args:
        kernel: whose knobs.
        config: knobs and switches now.
        arch: architecture.
        version: Triton's, for what is on by default.
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
    """The compiler's options with the values worth trying."""
    sizes = tuple(n for n in arch.triton.matrix_instr_nonkdim or () if not n or n >= _SMALLEST_MATRIX)
    of_architecture = {"matrix_instr_nonkdim": sizes, "kpack": arch.triton.kpack or ()}
    return {**_OPTION_VALUES, **{name: found for name, found in of_architecture.items() if len(found) > 1}}


def option_changes(
    config: Config, arch: Architecture, rules: Collection[str], *, version: tuple[int, int]
) -> list[dict[str, Any]]:
    """Changes of one of the compiler's options, for a kernel whose own knobs cannot be changed.

    Args:
        config: knobs now.
        arch: architecture.
        rules: identifiers of the findings; they decide what comes first.
        version: Triton's, for what is on by default.
    """
    now = _now(config, version)
    single = [{name: value} for name, found in _options_of(arch).items() for value in found if value != now.get(name)]
    ordered = sorted(single, key=lambda change: _distance(change, config, rules, {}))
    return [*ordered, *scheduling_changes(config, rules, version)]


def scheduling_changes(config: Config, rules: Collection[str], version: tuple[int, int]) -> list[dict[str, Any]]:
    """Return changes of LLVM's instruction scheduling for a kernel that spills.

    Their effect differs between kernels, so that each is compiled and none is assumed to help.

    Args:
        config: knobs and switches now.
        rules: identifiers of the findings.
        version: Triton's.
    """
    if not any(rule.spills and rule.id in rules for rule in known_rules()):
        return []
    return [{name: value} for name, value, since in _SCHEDULING if version >= since and name not in config]


def left_to_triton(version: tuple[int, int]) -> dict[str, int]:
    """Options of the compiler with what they are where a kernel says nothing."""
    return {**_DEFAULTS, "waves_per_eu": waves_per_eu_default(version)}


def _now(config: Config, version: tuple[int, int]) -> dict[str, Any]:
    """Every knob's present value, also of those that the kernel leaves to Triton."""
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
    """Changes of one knob, of two tile sizes at once, and of a tile size with the number of wavefronts.

    Args:
        kernel: whose knobs.
        shape: the problem, for what is legal.
        config: knobs now.
        arch: architecture.
        rules: identifiers of the findings; they decide what comes first.
        version: Triton's, for what is on by default.

    Yields:
        Only the knobs that change. Combinations that the kernel calls pointless are left out.
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
    # Of two changes that go equally far the one with fewer knobs comes first.
    ordered = sorted(
        [*single, *pairs, *with_warps], key=lambda change: (_distance(change, config, rules, known), len(change))
    )
    for change in [*ordered, *scheduling_changes(config, rules, version)]:
        knobs = {name: value for name, value in {**config, **change}.items() if name not in SWITCHES}
        if kernel.legal is None or kernel.legal(shape, knobs, arch.name) is None:
            yield change


def _distance(change: Config, config: Config, rules: Collection[str], known: Mapping[str, tuple[Any, ...]]) -> float:
    """How far a change goes, in doublings or, where that is less, in values that the kernel has.

    The direction that cures a finding counts half, twice that way still less.

    Too many registers or too much LDS by far are rarely cured by one knob: two of them come right behind single ones.
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
