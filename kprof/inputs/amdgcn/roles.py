"""The role that each operand of an instruction plays."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Roles:
    """Which operands an instruction writes, and what it touches without naming it.

    Attributes:
        destinations: number of leading operands that are written.
        keeps: the destinations keep part of their old value and so are read as well.
        reads: implicit registers read.
        writes: implicit registers written.
        swapped: positions of operands beyond the destinations that are read and written.
        half_written: positions of operands of which only the lower half is written (compare-and-swap data).
    """

    destinations: int = 0
    keeps: bool = False
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    swapped: tuple[int, ...] = ()
    half_written: tuple[int, ...] = ()


EXEC = ("exec_lo", "exec_hi")
VCC = ("vcc_lo", "vcc_hi")
