"""Define levers, the changes of knobs that rules propose, and select the levers that apply to a kernel."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from msgspec import UNSET

from kprof.analysis import KernelFacts
from kprof.findings import Advice
from kprof.knobs import role_names
from kprof_analyzers.memory.moving_tiles import grid_divides, tiles_advance

_OPTIONS = ("num_stages", "num_warps", "waves_per_eu", "matrix_instr_nonkdim", "kpack")
_TILES = {"BLOCK_M": "m", "BLOCK_N": "n", "BLOCK_K": "k", "SPLIT_K": "split"}
# Lowering these tile sizes is only correct if the grid or a loop then covers the rest of the data.
_MOVING = {"BLOCK_M", "BLOCK_N", "BLOCK_K"}
# Knobs that change in steps of one; all other knobs change by a factor of two.
_BY_ONE = {"num_stages", "waves_per_eu"}
_LEAST = {"num_stages": 1, "waves_per_eu": 0, "num_warps": 1, "SPLIT_K": 1}
# Smallest effective value of a knob. Triton compiles num_stages=0 to the same code as num_stages=1.
_COUNTS_AS = {"num_stages": 1}
_SMALLEST_TILE = 16
_ON = {"1", "true", "on", "yes", "y"}


@dataclass(frozen=True)
class Lever:
    """A knob and the direction in which to change it.

    Attributes:
        knob: a Triton option, an environment switch, or one of the roles ``BLOCK_M``, ``BLOCK_N``, ``BLOCK_K`` and
            ``SPLIT_K``, which stand for the kernel's own names of its tile sizes and of the number of reduction splits.
        to: ``lower``, ``higher``, or the value to set.
        note: when the change helps and what it costs, as a continuation of a text such as ``num_stages lower:``.
        limit: last value to propose; the limits of the hardware and of Triton also apply.
        when: function that returns whether to propose the change for a kernel; ``None`` proposes it for all.
    """

    knob: str
    to: int | str
    note: str = ""
    limit: int | None = None
    when: Callable[[KernelFacts], bool] | None = None

    @property
    def words(self) -> str:
        """The change as Markdown for documentation: ``lower `num_stages` `` or `` `kpack=2` ``."""
        return f"{self.to} `{self.knob}`" if self.to in {"lower", "higher"} else f"`{self.knob}={self.to}`"

    def advice(self, facts: KernelFacts) -> Advice | None:
        """Return the change for a kernel, or ``None`` if the lever does not apply or the knob already has the value."""
        if self.when is not None and not self.when(facts):
            return None
        found = _current(self.knob, facts)
        if found is None:
            return None
        name, now = found
        value = self._value(now, facts)
        if value is None or value == now or not _exists(self.knob, value, facts):
            return None
        if self.to == "lower" and self.knob in _MOVING and not _advances(now, facts):
            return None
        return Advice(knob=name, from_=now, to=value, note=self.note or UNSET)

    def _value(self, now: Any, facts: KernelFacts) -> Any:
        if self.to not in {"lower", "higher"}:
            return self.to
        if not isinstance(now, int) or isinstance(now, bool):
            return None
        now = max(now, _COUNTS_AS.get(self.knob, now))
        if self.to == "lower":
            value = now - 1 if self.knob in _BY_ONE else now // 2
            least = _LEAST.get(self.knob, _SMALLEST_TILE) if self.limit is None else self.limit
            return value if value >= least else None
        value = now + 1 if self.knob in _BY_ONE else now * 2
        most = _most(self.knob, facts) if self.limit is None else self.limit
        return value if most is None or value <= most else None


def proposed(levers: Sequence[Lever], facts: KernelFacts) -> list[Advice]:
    """Return the changes that still apply to a kernel, in the rule's order."""
    return [advice for lever in levers if (advice := lever.advice(facts)) is not None]


def _advances(size: Any, facts: KernelFacts) -> bool:
    return facts.ttgir is None or not isinstance(size, int) or tiles_advance(facts.ttgir, size)


def more_workgroups(knob: str) -> Callable[[KernelFacts], bool]:
    """Return a condition for :attr:`Lever.when`: whether a smaller tile along an axis increases the workgroup count."""

    def divides(facts: KernelFacts) -> bool:
        found = _current(knob, facts)
        if found is None or facts.ttgir is None or not isinstance(found[1], int):
            return True
        return grid_divides(facts.ttgir, found[1])

    return divides


def grid_numbers_tiles(facts: KernelFacts) -> bool:
    """Return whether the tile size determines the number of workgroups; True if that is unknown."""
    sizes = [size for _, size in _tile_sizes(facts) if isinstance(size, int)]
    return facts.ttgir is None or not sizes or any(grid_divides(facts.ttgir, size) for size in sizes)


def _tile_sizes(facts: KernelFacts) -> list[tuple[str, Any]]:
    return [item for item in facts.specialization.constexprs.items() if item[0].startswith("BLOCK")]


def smaller_blocks(facts: KernelFacts, times: int) -> str:
    """Describe how to get at least ``times`` times as many workgroups, such as ``BLOCK 1024 → 256: 512 workgroups``.

    The text names the tile size only if the kernel has exactly one. If the grid does not depend on the tile size,
    smaller tiles add no workgroups. The text then proposes fewer iterations for each workgroup or, without loops, to
    split its tile, for example a row that it reduces.
    """
    times = 1 << (times - 1).bit_length()
    workgroups = f"{times * prod(facts.grid or ()):,} workgroups"
    tiles = _tile_sizes(facts)
    if not grid_numbers_tiles(facts):
        if facts.loops:
            return f"launch {workgroups}, each with fewer iterations of its loop"
        return (
            f"split each workgroup's work over {times} ({workgroups}) and combine their results in a second kernel; "
            "a smaller tile alone would leave elements out"
        )
    if len(tiles) == 1 and isinstance(tiles[0][1], int) and tiles[0][1] // times >= _SMALLEST_TILE:
        name, size = tiles[0]
        return f"{name} {size} → {size // times}: {workgroups}"
    return f"choose blocks of 1/{times} of the size: {workgroups}"


def _current(knob: str, facts: KernelFacts) -> tuple[str, Any] | None:
    """Return the kernel's name for a knob and its current value, or None if the kernel lacks the knob."""
    specialization = facts.specialization
    if knob in _TILES:
        name = role_names(specialization.constexprs).get(_TILES[knob])
        return None if name is None else (name, specialization.constexprs[name])
    if knob in _OPTIONS:
        for known in (facts.metadata, specialization.options):
            if known.get(knob) is not None:
                return knob, known[knob]
        return None
    return _switch(knob, facts)


def _switch(knob: str, facts: KernelFacts) -> tuple[str, str] | None:
    """Return an environment switch and its value, ``0`` or ``1``; None if it has no effect on the architecture."""
    if facts.triton is None or knob not in (facts.arch.triton.switches or {}):
        return None
    given = facts.specialization.environment.get(knob)
    if given is not None:
        return knob, "1" if given.lower() in _ON else "0"
    major, minor = (int(part) if part.isdecimal() else 0 for part in (*facts.triton.split("."), "0")[:2])
    return knob, "1" if facts.arch.triton.is_on(knob, (major, minor)) else "0"


def _exists(knob: str, value: Any, facts: KernelFacts) -> bool:
    """Return whether the architecture supports a value of a knob."""
    known = {"kpack": facts.arch.triton.kpack, "matrix_instr_nonkdim": facts.arch.triton.matrix_instr_nonkdim}
    return knob not in known or value in (known[knob] or ())


def _most(knob: str, facts: KernelFacts) -> int | None:
    occupancy = facts.arch.occupancy
    return {
        "num_warps": occupancy.max_workgroup_size // facts.arch.wavefront_size,
        "waves_per_eu": occupancy.max_waves_per_simd,
    }.get(knob)
