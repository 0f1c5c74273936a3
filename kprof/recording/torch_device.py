"""torch without a GPU, answering as if it had one: tensors, devices, streams, memory, random numbers."""

import threading
from collections.abc import Callable
from typing import Any

from kprof.recording.marks import cuda_index, mark, mark_of
from kprof.recording.patches import Patches
from kprof.recording.recorder import Recorder
from kprof.recording.settings import Device as Gpu
from kprof.recording.torch_cuda import install as install_cuda
from kprof.recording.torch_guard import install as install_guard
from kprof.recording.torch_mode import install_fallback
from kprof.recording.torch_tensors import install as install_tensors
from kprof.recording.written import written_arguments


class Device:
    """The stand-in for torch's GPU in one process.

    Args:
        gpu: what to answer.
        recorder: is told what the program looks at.
        patches: how to get back.
    """

    def __init__(self, gpu: Gpu, recorder: Recorder, patches: Patches) -> None:
        self.gpu = gpu
        self.recorder = recorder
        self.patches = patches
        self._local = threading.local()
        self._modes: list[Any] = []
        self._remove_guard: Callable[[], None] = lambda: None
        self._library: Any = None

    def current_index(self) -> int:
        """The current device of this thread."""
        index: int = getattr(self._local, "index", 0)
        return index

    def set_index(self, index: int) -> int:
        """Make another device the current one; gives the one before."""
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

    def install(self) -> None:
        """Change torch."""
        self._remove_guard = install_guard()
        self._library = install_fallback(self.current_index)
        install_tensors(self)
        install_cuda(self)
        self._threads()
        self.recorder.after_launch.append(self._launched)
        self._enter()

    def remove(self) -> None:
        """Leave the operators alone again; the attributes go back with the patches."""
        self.recorder.after_launch.clear()
        for mode in self._modes:
            mode.__exit__(None, None, None)
        self._modes.clear()
        self._remove_guard()
        if self._library is not None:
            self._library._destroy()  # noqa: SLF001

    def _enter(self) -> None:
        from kprof.recording.torch_mode import make_mode

        mode = make_mode(self.recorder, self.current_index)
        mode.__enter__()
        self._modes.append(mode)

    def _threads(self) -> None:
        """Dispatch modes belong to a thread: each new one gets its own."""
        from kprof.recording.torch_mode import make_mode

        original: Callable[[Any], Any] = threading.Thread.run
        recorder, current = self.recorder, self.current_index

        def run(thread: Any) -> Any:
            with make_mode(recorder, current):
                return original(thread)

        self.patches.set(threading.Thread, "run", run)

    def _launched(self, function: Any, args: tuple[Any, ...]) -> None:
        """What a kernel would have written is not known from here on."""
        names = written_arguments(function)
        for name, value in zip(function.arg_names, args, strict=False):
            if (names is None or name in names) and hasattr(value, "untyped_storage"):
                found = mark_of(value)
                if found is None:
                    mark(value, self.current_index(), unknown=True)
                else:
                    found.unknown = True
