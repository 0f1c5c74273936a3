"""Compute the LDS bank conflicts of one access by a wavefront.

The hardware serves the lanes of a wavefront in groups (phases). In each group, every bank delivers one dword per cycle;
lanes that read the same dword share it. Each additional dword that a group requests from a bank costs a cycle. The
hardware files list the groups of each access width.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kprof.hardware.machine import Architecture


@dataclass(frozen=True)
class BankCost:
    """Bank cycles of one LDS instruction of a wavefront.

    Attributes:
        cycles: cycles without any conflict, one per phase.
        conflicts: additional cycles, because lanes of a phase request different dwords of one bank.
    """

    cycles: int
    conflicts: int

    def __add__(self, other: "BankCost") -> "BankCost":
        """Return the cost of two instructions executed one after the other."""
        return BankCost(self.cycles + other.cycles, self.conflicts + other.conflicts)


class PhasesUnknownError(ValueError):
    """The hardware file has no lane groups for this access; the message names the access."""


def access_cost(addresses: Sequence[int | None], width: int, arch: Architecture, *, write: bool = False) -> BankCost:
    """Return the cost of one LDS read or write instruction of a wavefront.

    Args:
        addresses: byte address of each lane, ``None`` for an inactive lane.
        width: bytes per lane: 1, 2, 4, 8 or 16.
        arch: hardware model with banks and phases.
        write: whether the access is a write; writes have their own lane groups.

    Raises:
        PhasesUnknownError: the lane groups of this width are unknown on this architecture.
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
    # Lane groups without a source, such as a measurement, must not be used.
    if name not in arch.lds.phases or not arch.is_sourced(f"lds.phases.{name}"):
        raise PhasesUnknownError(f"the lane groups of {name} on {arch.name} are not known")
    return arch.lds.phases[name]
