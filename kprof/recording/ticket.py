"""A compile that the recorded program waits for, or will ask for. Standard library only."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(eq=False)
class Ticket:
    """A compile that was asked for.

    Attributes:
        id: of the specialisation.
        name: of the kernel.
        folder: where its result is, or will be.
        stage: memory that the compiling process shares: what it is making.
        pid: of the process that compiles; 0 when the result is there, or the compile is queued.
        make: compiles, where it is queued.
        rank: place in the queue: the lowest is begun first.
    """

    id: str
    name: str
    folder: Path
    pid: int = 0
    stage: Any = field(default=None, repr=False)
    make: Callable[[Callable[[str], None]], Any] | None = field(default=None, repr=False)
    rank: int = 0
