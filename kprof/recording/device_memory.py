"""How much of the GPU's memory a program holds: storages, rounded up as torch's allocator rounds them."""

import threading
from collections import deque

BLOCK = 512
"""Bytes that torch's caching allocator rounds a request up to (``kMinBlockSize`` in ``CUDACachingAllocator``)."""


class DeviceMemory:
    """What is allocated on each device now, and was at most: ``torch.cuda.memory_allocated`` and its maximum.

    Segments that the allocator keeps beyond its blocks, and workspaces of libraries, are in neither.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        # A storage may die anywhere, also while a sum is being made: what it gives back waits here.
        self._freed: deque[tuple[int, int]] = deque()
        self._now: dict[int, int] = {}
        self._peak: dict[int, int] = {}
        self._highest: dict[int, int] = {}

    def take(self, index: int, size: int) -> int:
        """A storage of so many bytes comes to be; gives what it takes."""
        taken = -(-size // BLOCK) * BLOCK
        with self._lock:
            now = self.now(index) + taken
            self._now[index] = now
            self._peak[index] = max(now, self._peak.get(index, 0))
            self._highest[index] = max(now, self._highest.get(index, 0))
        return taken

    def give(self, index: int, taken: int) -> None:
        """A storage is no more; ``taken`` is what :meth:`take` gave."""
        self._freed.append((index, taken))

    def now(self, index: int) -> int:
        """Bytes that are allocated on a device."""
        with self._lock:
            while self._freed:
                at, taken = self._freed.popleft()
                self._now[at] = self._now.get(at, 0) - taken
            return self._now.get(index, 0)

    def peak(self, index: int) -> int:
        """The most since the start, or since :meth:`reset`."""
        return self._peak.get(index, 0)

    def reset(self, index: int) -> None:
        """Begin the peak of a device anew."""
        with self._lock:
            self._peak[index] = self.now(index)

    def totals(self) -> dict[int, tuple[int, int]]:
        """By device the most since the start, whatever was reset, and what is left now."""
        with self._lock:
            return {index: (highest, self.now(index)) for index, highest in sorted(self._highest.items()) if highest}


MEMORY = DeviceMemory()
"""Of this process."""
