"""LDS bank conflicts of one access of a wavefront, counted exactly as the hardware serves it.

The lanes of a wavefront are served in groups (phases). Inside a group every bank delivers one dword a cycle; lanes that
read the same dword share it. Each further dword that a group wants of a bank costs a cycle. The groups of each access
width are in the hardware files.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kprof.hardware.machine import Architecture


@dataclass(frozen=True)
class BankCost:
    """What one LDS instruction of a wavefront costs in the banks.

    Attributes:
        cycles: cycles without any conflict: one for each phase.
        conflicts: further cycles because lanes of a phase want different dwords of one bank.
    """

    cycles: int
    conflicts: int

    def __add__(self, other: "BankCost") -> "BankCost":
        """Cost of two instructions one after the other."""
        return BankCost(self.cycles + other.cycles, self.conflicts + other.conflicts)


class PhasesUnknownError(ValueError):
    """The hardware file has no lane groups for this access; the message names it."""


def access_cost(addresses: Sequence[int | None], width: int, arch: Architecture, *, write: bool = False) -> BankCost:
    """Cost of one LDS read or write.

    Args:
        addresses: byte address of each lane, ``None`` for a lane that is switched off.
        width: bytes per lane: 1, 2, 4, 8 or 16.
        arch: hardware model with banks and phases.
        write: a write; it has groups of its own.

    Raises:
        PhasesUnknownError: no groups are known for this width on this architecture.
    """
    conflicts = 0
    groups, banks = _groups(width, arch, write=write), arch.lds.banks
    for lanes in groups:
        wanted: set[int] = set()
        for lane in lanes:
            address = addresses[lane] if lane < len(addresses) else None
            if address is not None:
                wanted.update(range(address // 4, (address + width - 1) // 4 + 1))
        each = Counter([dword % banks for dword in wanted])
        conflicts += max(each.values(), default=1) - 1
    return BankCost(len(groups), conflicts)


def _groups(width: int, arch: Architecture, *, write: bool) -> tuple[tuple[int, ...], ...]:
    name = f"{'write' if write else 'read'}_b{max(32, width * 8)}"
    # Without measured groups the cost is not known.
    if name not in arch.lds.phases or not arch.is_sourced(f"lds.phases.{name}"):
        raise PhasesUnknownError(f"the lane groups of {name} on {arch.name} are not known")
    return arch.lds.phases[name]
