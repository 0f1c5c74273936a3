"""The simulated GPU for torch: the current device and stream of each thread."""

import sys
import threading
from typing import Any
from weakref import WeakValueDictionary

from kprof.recording import describe
from kprof.recording.device_marks import Mark, cuda_index, mark_of
from kprof.recording.recorder import Recorder
from kprof.simulation.gpu import SimulatedGpu
from kprof.simulation.patches import Patches

_MAX_INTEGERS = 1 << 16
"""Maximum number of integers in a tensor that is searched for addresses; tables of addresses are shorter."""


class Addresses:
    """Addresses of storages that the program's Python code has read and may pass to launches inside tensors."""

    def __init__(self) -> None:
        self._taken: WeakValueDictionary[int, Mark] = WeakValueDictionary()

    def take(self, tensor: Any, pointer: int) -> None:
        """Record an address that the program's Python code reads; addresses read by torch and Triton are ignored."""
        # Two frames up is the code that called ``data_ptr``.
        if pointer and not describe.is_machinery(sys._getframe(2).f_code):  # noqa: SLF001
            found = mark_of(tensor)
            if found is not None:
                self._taken[pointer] = found

    def hand_over(self, value: Any) -> None:
        """Mark the storages whose addresses a launch argument contains as unknown: the kernel may write to them."""
        if not self._taken or str(getattr(value, "dtype", "")) not in {"torch.int64", "torch.uint64"}:
            return
        for number in describe.values_of(value, _MAX_INTEGERS) or ():
            found = self._taken.get(number)
            if found is not None:
                found.unknown = True


class StandInDevice:
    """The simulated GPU for torch in one process.

    Args:
        gpu: the GPU to simulate.
        recorder: records what the program reads.
        patches: collects the changes for a later removal.
    """

    def __init__(self, gpu: SimulatedGpu, recorder: Recorder, patches: Patches) -> None:
        self.gpu = gpu
        self.recorder = recorder
        self.patches = patches
        self.addresses = Addresses()
        self._local = threading.local()

    def current_index(self) -> int:
        """Return the current device of this thread."""
        index: int = getattr(self._local, "index", 0)
        return index

    def set_index(self, index: int) -> int:
        """Set the current device and return the previous one. A negative index leaves the current device unchanged."""
        before = self.current_index()
        if index >= 0:
            self._local.index = index
        return before

    def index_of(self, device: Any) -> int | None:
        """Return the index of a device named by the program; ``None`` for the CPU."""
        return cuda_index(device, self.current_index())

    @property
    def stream(self) -> Any:
        """The current stream of this thread; ``None`` for the default stream."""
        return getattr(self._local, "stream", None)

    @stream.setter
    def stream(self, stream: Any) -> None:
        self._local.stream = stream

    def raw_stream(self, index: int = 0) -> int:
        """Return the current stream in the form that Triton expects."""
        del index
        return 0 if self.stream is None else int(self.stream.cuda_stream)
