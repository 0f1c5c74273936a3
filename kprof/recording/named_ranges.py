"""Ranges that a program names, for example ``with torch.profiler.record_function("prefill"):``."""

import functools
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.simulation.patches import Patches

_MAX_NESTING = 8
_MAX_NAME_LENGTH = 100


class _Open(threading.local):
    def __init__(self) -> None:
        self.names: list[str] = []


_OPEN = _Open()


def current_range() -> str:
    """Return the names of this thread's open ranges, outermost first, joined by `` > ``; empty if none is open."""
    return " > ".join(_OPEN.names[:_MAX_NESTING])


def install(patches: "Patches") -> None:
    """Track ranges from now on."""
    from torch.autograd.profiler import record_function

    enter: Any = record_function.__enter__
    leave: Any = record_function.__exit__

    @functools.wraps(enter)
    def entered(self: Any) -> Any:
        _OPEN.names.append(" ".join(str(self.name).split())[:_MAX_NAME_LENGTH])
        return enter(self)

    @functools.wraps(leave)
    def left(self: Any, *error: Any) -> None:
        if _OPEN.names:
            _OPEN.names.pop()
        leave(self, *error)

    patches.set(record_function, "__enter__", entered)
    patches.set(record_function, "__exit__", left)
