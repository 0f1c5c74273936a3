"""A compile that the recorded program waits for, or may need later. Imports only the standard library."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(eq=False)
class Ticket:
    """A requested compile.

    Attributes:
        id: identifier of the specialisation.
        name: name of the kernel.
        folder: folder of the result.
        stage: memory shared with the compiling process, which contains its present stage.
        pid: process that compiles; 0 if the result exists or the compile is queued.
        make: function that compiles, while the compile is queued.
        rank: priority in the queue: the lowest rank starts first.
    """

    id: str
    name: str
    folder: Path
    pid: int = 0
    stage: Any = field(default=None, repr=False)
    make: Callable[[Callable[[str], None]], Any] | None = field(default=None, repr=False)
    rank: int = 0
