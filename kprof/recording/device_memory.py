"""Account for the GPU memory of a program: storages, rounded up like in torch's allocator."""

import threading
from collections import deque

BLOCK = 512
"""Block size in bytes to which torch's caching allocator rounds up (``kMinBlockSize`` in ``CUDACachingAllocator``)."""


class DeviceMemory:
    """Present and peak allocation per device: ``torch.cuda.memory_allocated`` and its maximum.

    Segments that the allocator keeps in addition to its blocks, and workspaces of libraries, are not included.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        # A storage may be deleted at any time, even during a sum; its bytes are queued here.
        self._freed: deque[tuple[int, int]] = deque()
        self._now: dict[int, int] = {}
        self._peak: dict[int, int] = {}
        self._highest: dict[int, int] = {}

    def take(self, index: int, size: int) -> int:
        """Add a new storage of ``size`` bytes; return the bytes that it occupies."""
        taken = -(-size // BLOCK) * BLOCK
        with self._lock:
            now = self.now(index) + taken
            self._now[index] = now
            self._peak[index] = max(now, self._peak.get(index, 0))
            self._highest[index] = max(now, self._highest.get(index, 0))
        return taken

    def give(self, index: int, taken: int) -> None:
        """Remove a storage; ``taken`` is the value returned by :meth:`take`."""
        self._freed.append((index, taken))

    def now(self, index: int) -> int:
        """Return the bytes that are allocated on a device."""
        with self._lock:
            while self._freed:
                at, taken = self._freed.popleft()
                self._now[at] = self._now.get(at, 0) - taken
            return self._now.get(index, 0)

    def peak(self, index: int) -> int:
        """Return the peak since the start, or since :meth:`reset`."""
        return self._peak.get(index, 0)

    def reset(self, index: int) -> None:
        """Reset the peak of a device to the present allocation."""
        with self._lock:
            self._peak[index] = self.now(index)

    def totals(self) -> dict[int, tuple[int, int]]:
        """Return, by device, the peak since the start (ignoring resets) and the present allocation."""
        with self._lock:
            return {index: (highest, self.now(index)) for index, highest in sorted(self._highest.items()) if highest}


MEMORY = DeviceMemory()
"""GPU memory that this process has allocated."""
