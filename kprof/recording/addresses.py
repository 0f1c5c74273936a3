"""Addresses that a program takes itself, and hands to a kernel in a tensor, as grouped products do."""

import sys
from typing import Any
from weakref import WeakValueDictionary

from kprof.recording import describe
from kprof.recording.device_marks import Mark, mark_of

_MOST = 1 << 16
"""Integers of a tensor that are looked through; tables of addresses are shorter."""


class Addresses:
    """Which storages' addresses the program has, and which of them a launch is given."""

    def __init__(self) -> None:
        self._taken: WeakValueDictionary[int, Mark] = WeakValueDictionary()

    def take(self, tensor: Any, pointer: int) -> None:
        """Python code asked for an address; what torch and Triton ask for is no news."""
        # The caller of the method that tells it.
        if pointer and not describe.is_machinery(sys._getframe(2).f_code):  # noqa: SLF001
            found = mark_of(tensor)
            if found is not None:
                self._taken[pointer] = found

    def hand_over(self, value: Any) -> None:
        """A kernel is given a tensor: what is at the addresses in it is not known from here on."""
        if not self._taken or str(getattr(value, "dtype", "")) not in {"torch.int64", "torch.uint64"}:
            return
        for number in describe.values_of(value, _MOST) or ():
            found = self._taken.get(number)
            if found is not None:
                found.unknown = True
