"""Knobs that a rule proposes to turn, and which of them a kernel still has to turn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from msgspec import UNSET

from kprof.analysis import KernelFacts
from kprof.findings import Advice
from kprof.knobs import role_names

_OPTIONS = ("num_stages", "num_warps", "waves_per_eu", "matrix_instr_nonkdim", "kpack")
_TILES = {"BLOCK_M": "m", "BLOCK_N": "n", "BLOCK_K": "k", "SPLIT_K": "split"}
# These go up and down by one, all others by a factor of two.
_BY_ONE = {"num_stages", "waves_per_eu"}
_LEAST = {"num_stages": 1, "waves_per_eu": 0, "num_warps": 1, "SPLIT_K": 1}
# Values below count as this one: Triton compiles num_stages=0 to the code of num_stages=1, byte for byte.
_COUNTS_AS = {"num_stages": 1}
_SMALLEST_TILE = 16
_ON = {"1", "true", "on", "yes", "y"}


@dataclass(frozen=True)
class Lever:
    """A knob and which way to turn it.

    Attributes:
        knob: one of Triton's options, an environment switch, or ``BLOCK_M``, ``BLOCK_N``, ``BLOCK_K``, ``SPLIT_K`` for
            whatever the kernel calls its tile sizes and the splits of its reduction.
        to: ``lower``, ``higher``, or the value to set.
        note: when it helps and what it costs; goes on from ``num_stages lower:``.
        limit: value beyond which it is not turned; the hardware's and Triton's limits hold besides.
        when: kernels for which it is worth proposing; all when ``None``.
    """

    knob: str
    to: int | str
    note: str = ""
    limit: int | None = None
    when: Callable[[KernelFacts], bool] | None = None

    @property
    def words(self) -> str:
        """``lower `num_stages` `` or `` `kpack=2` ``, for documentation."""
        return f"{self.to} `{self.knob}`" if self.to in {"lower", "higher"} else f"`{self.knob}={self.to}`"

    def advice(self, facts: KernelFacts) -> Advice | None:
        """The change for one kernel; ``None`` where the kernel has no such knob or has turned it already."""
        if self.when is not None and not self.when(facts):
            return None
        found = _current(self.knob, facts)
        if found is None:
            return None
        name, now = found
        value = self._value(now, facts)
        if value is None or value == now or not _exists(self.knob, value, facts):
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
    """The changes that are left to a kernel, in the rule's order."""
    return [advice for lever in levers if (advice := lever.advice(facts)) is not None]


def smaller_blocks(facts: KernelFacts, times: int) -> str:
    """The change that makes at least so many times the workgroups of a launch: ``BLOCK 1024 → 256: 512 workgroups``.

    Where the kernel has another number of tile sizes than one, none of them is named.
    """
    times = 1 << (times - 1).bit_length()
    workgroups = f"{times * prod(facts.grid or ()):,} workgroups"
    tiles = [item for item in facts.specialization.constexprs.items() if item[0].startswith("BLOCK")]
    if len(tiles) == 1 and isinstance(tiles[0][1], int) and tiles[0][1] // times >= _SMALLEST_TILE:
        name, size = tiles[0]
        return f"{name} {size} → {size // times}: {workgroups}"
    return f"choose blocks of 1/{times} of the size: {workgroups}"


def _current(knob: str, facts: KernelFacts) -> tuple[str, Any] | None:
    """What the kernel calls the knob, and its value."""
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
    """Whether a value makes a difference on the architecture."""
    known = {"kpack": facts.arch.triton.kpack, "matrix_instr_nonkdim": facts.arch.triton.matrix_instr_nonkdim}
    return knob not in known or value in (known[knob] or ())


def _most(knob: str, facts: KernelFacts) -> int | None:
    occupancy = facts.arch.occupancy
    return {
        "num_warps": occupancy.max_workgroup_size // facts.arch.wavefront_size,
        "waves_per_eu": occupancy.max_waves_per_simd,
    }.get(knob)
