"""Patch torch to behave as if it had a GPU: tensors, devices, streams, memory, random numbers."""

import sys
import threading
from collections.abc import Callable
from typing import Any

from kprof.recording.device_marks import mark, mark_of
from kprof.recording.filled_arguments import fill
from kprof.recording.inductor import DYNAMO_PACKAGE
from kprof.recording.named_ranges import install as install_ranges
from kprof.recording.torch_comparisons import install as install_comparisons
from kprof.recording.torch_cuda import install as install_cuda
from kprof.recording.torch_device import StandInDevice
from kprof.recording.torch_guard import install as install_guard
from kprof.recording.torch_large import LIMIT, Large
from kprof.recording.torch_mode import install_fallback, make_mode_type, protect_from_dynamo
from kprof.recording.torch_operators import DeviceOperators
from kprof.recording.torch_tensors import install as install_tensors
from kprof.recording.written_arguments import written_arguments


class Installation:
    """The patches that make torch use a simulated device.

    Args:
        device: the simulated device.
    """

    def __init__(self, device: StandInDevice) -> None:
        self.device = device
        self._modes: list[Any] = []
        self._mode_type: Any = None
        self._remove_guard: Callable[[], None] = lambda: None
        self._fallback: Any = None
        noted = device.recorder.note_operator if device.recorder.settings.operators else None
        self._operators = DeviceOperators(lambda: device.recorder.answers, noted)
        self._large = None if device.recorder.settings.full_values else Large(LIMIT)

    def install(self) -> None:
        """Apply all changes to torch."""
        self._operators.install(self.device.patches)
        if self.device.recorder.settings.operators:
            install_ranges(self.device.patches)
            self._separate_attention()
        self._remove_guard = install_guard()
        self._fallback = install_fallback(self._operators, self.device.current_index)
        install_tensors(self.device)
        install_cuda(self.device)
        install_comparisons(self.device)
        self._mode_type = make_mode_type(self.device.recorder, self._operators, self._large, self.device.current_index)
        if DYNAMO_PACKAGE in sys.modules:
            self.dynamo_imported()
        self._threads()
        self.device.recorder.after_launch.append(self._launched)
        self._enter()

    def remove(self) -> None:
        """Remove the operator hooks; patched attributes are restored with the patches."""
        self.device.recorder.after_launch.clear()
        words = None if self._large is None else self._large.words()
        if words is not None and self.device.recorder.started:
            self.device.recorder.note(words)
        for mode in self._modes:
            mode.__exit__(None, None, None)
        self._modes.clear()
        self._operators.remove()
        self._remove_guard()
        if self._fallback is not None:
            self._fallback.remove()

    def dynamo_imported(self) -> None:
        """Prevent Dynamo, after its import, from compiling the dispatch modes."""
        protect_from_dynamo(self._mode_type)

    def _separate_attention(self) -> None:
        """Turn off the fused inference path of torch.nn's attention layers, which is recorded as a single operator.

        Its parts, such as products and norms, are separate operators without it, and have a time.
        """
        import torch

        self.device.patches.set(torch.backends.mha, "_is_fastpath_enabled", value=False)

    def _enter(self) -> None:
        mode = self._mode_type()
        mode.__enter__()
        self._modes.append(mode)

    def _threads(self) -> None:
        """Give each new thread its own dispatch mode, because dispatch modes belong to a thread."""
        original: Callable[[Any], Any] = threading.Thread.run
        make = self._mode_type

        def run(thread: Any) -> Any:
            with make():
                return original(thread)

        self.device.patches.set(threading.Thread, "run", run)

    def _launched(self, function: Any, args: tuple[Any, ...]) -> None:
        """Mark tensors that a kernel would have written as unknown, except tensors that it fills with a number.

        Args:
            function: the Triton function; ``None`` for a kernel of another language, which may write all its tensors.
            args: its arguments.
        """
        if function is None:
            for value in args:
                self._written(value)
            return
        names, filled = written_arguments(function), fill(function, args)
        for name, value in zip(function.arg_names, args, strict=False):
            self.device.addresses.hand_over(value)
            if (names is None or name in names) and name not in filled:
                self._written(value)

    def _written(self, value: Any) -> None:
        if not hasattr(value, "untyped_storage"):
            return
        found = mark_of(value)
        if found is None:
            mark(value, self.device.current_index(), unknown=True)
        else:
            found.unknown = True
