"""The stand-in for torch's GPU: which device and stream are current in each thread."""

import sys
import threading
from typing import Any
from weakref import WeakValueDictionary

from kprof.recording import describe
from kprof.recording.device_marks import Mark, cuda_index, mark_of
from kprof.recording.recorder import Recorder
from kprof.simulation.gpu import SimulatedGpu
from kprof.simulation.patches import Patches

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


class StandInDevice:
    """The stand-in for torch's GPU in one process.

    Args:
        gpu: what to answer.
        recorder: is told what the program looks at.
        patches: how to get back.
    """

    def __init__(self, gpu: SimulatedGpu, recorder: Recorder, patches: Patches) -> None:
        self.gpu = gpu
        self.recorder = recorder
        self.patches = patches
        self.addresses = Addresses()
        self._local = threading.local()

    def current_index(self) -> int:
        """The current device of this thread."""
        index: int = getattr(self._local, "index", 0)
        return index

    def set_index(self, index: int) -> int:
        """Set the current device and return the previous one. A negative index leaves the current device unchanged."""
        before = self.current_index()
        if index >= 0:
            self._local.index = index
        return before

    def index_of(self, device: Any) -> int | None:
        """The index of a device as a program names it; ``None`` for the CPU."""
        return cuda_index(device, self.current_index())

    @property
    def stream(self) -> Any:
        """The current stream of this thread, ``None`` for the default one."""
        return getattr(self._local, "stream", None)

    @stream.setter
    def stream(self, stream: Any) -> None:
        self._local.stream = stream

    def raw_stream(self, index: int = 0) -> int:
        """The current stream as Triton is given it."""
        del index
        return 0 if self.stream is None else int(self.stream.cuda_stream)
