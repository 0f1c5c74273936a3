"""The recording of a process from start to end. Imports neither torch nor Triton by itself."""

import atexit
import contextlib
import os
import sys
import types
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.cache import location
from kprof.recording import helion, inductor, inductor_backward, specialized
from kprof.recording.files_read import Reads
from kprof.recording.settings import VARIABLE, Settings, from_json
from kprof.simulation import smi
from kprof.simulation.after_import import AfterImport
from kprof.simulation.patches import Patches

if TYPE_CHECKING:
    from kprof.recording.recorder import Recorder
    from kprof.recording.torch_install import Installation

FLYDSL_PACKAGE, FLYDSL_COMPILER = "flydsl", "flydsl.compiler"
"""Modules after whose import the functions of :mod:`kprof.recording.flydsl` have to run."""

_ACTIVE: list["RecordingSession"] = []


def start_from_environment() -> None:
    """Record this process until it ends, if its environment requests that."""
    text = os.environ.get(VARIABLE)
    if not text or _ACTIVE:
        return
    try:
        settings = from_json(text)
    except (ValueError, TypeError, KeyError):
        print(f"kprof capture: {VARIABLE} is damaged: this process is not recorded", file=sys.stderr)
        return
    location.settle(Path(settings.cache) if settings.cache is not None else None)
    session = RecordingSession(settings)
    session.start()
    atexit.register(session.finish)
    _watch_exceptions(session)


class RecordingSession:
    """The recording of a process, with all patches that it applies.

    Args:
        settings: settings of the recording.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.patches = Patches()
        self.interrupted = False
        self.files = Reads()
        self._closing: list[Callable[[], None]] = []
        self._watcher = AfterImport(
            {
                "torch": self._torch,
                "triton": self._triton,
                FLYDSL_PACKAGE: self._flydsl_gpu,
                FLYDSL_COMPILER: self._flydsl,
                inductor.MODULE: self._inductor,
                specialized.MODULE: self._specialized,
                inductor.TRIALS: self._inductor_trials,
                inductor.CHOICES: self._inductor_choices,
                inductor.DYNAMO: self._dynamo,
                inductor.DYNAMO_PACKAGE: self._dynamo_imported,
                inductor_backward.MODULE: self._inductor_backward,
                inductor_backward.FLEX: self._flex_attention,
                helion.SEARCH: self._helion_search,
                helion.CACHE: self._helion_cache,
            }
        )
        self._installation: Installation | None = None
        self._stream: Callable[[int], int] = lambda _device: 0
        self._device: Callable[[], int] = lambda: 0

    @cached_property
    def recorder(self) -> "Recorder":
        """The recorder, created when torch or Triton is imported, because most Python processes import neither."""
        from kprof.recording.recorder import Recorder

        return Recorder(self.settings, self.files)

    def start(self) -> None:
        """Start recording. Triton and torch are patched when they are imported."""
        _ACTIVE.append(self)
        if not _HOOKED:
            _HOOKED.append(True)
            os.register_at_fork(after_in_child=_after_fork)
        # Triton decides at import whether its library can be compiled.
        os.environ.pop("TRITON_INTERPRET", None)
        self._watcher.install()
        self.files.watch()

    def finish(self) -> None:
        """Wait for the compiles and remove all patches."""
        if self not in _ACTIVE:
            return
        _ACTIVE.remove(self)
        self.files.end()
        self._watcher.remove()
        while self._closing:
            self._closing.pop()()
        self.patches.undo()
        if "recorder" not in vars(self):
            return
        self.recorder.forget()
        waiting = self.recorder.compiler.unfinished
        if waiting > 2 * self.settings.jobs and not self.interrupted:
            print(f"kprof capture: compiling {waiting} more kernels", file=sys.stderr)
        try:
            self.recorder.finish("interrupted" if self.interrupted else "exit")
        except KeyboardInterrupt:
            self.recorder.finish("interrupted")
            raise

    def _torch(self) -> None:
        import torch

        real = torch.version.hip is not None and torch.cuda.is_available()
        self.recorder.executes = self.settings.execute and real
        if self.recorder.executes:
            return
        from kprof.recording.torch_device import StandInDevice
        from kprof.recording.torch_install import Installation

        self._closing += [inductor.prepare(self.settings.cache), smi.install(self.settings.device)]
        device = StandInDevice(self.settings.device, self.recorder, self.patches)
        self._installation = installation = Installation(device)
        installation.install()
        self._closing.append(installation.remove)
        self._stream, self._device = device.raw_stream, device.current_index

    def _inductor(self) -> None:
        if not self.recorder.executes:
            inductor.install(self.recorder, self.patches)

    def _specialized(self) -> None:
        specialized.install(self.patches)

    def _inductor_trials(self) -> None:
        if not self.recorder.executes:
            inductor.install_trials(self.recorder, self.patches)

    def _inductor_choices(self) -> None:
        if not self.recorder.executes:
            inductor.install_choices(self.recorder, self.patches)

    def _inductor_backward(self) -> None:
        if not self.recorder.executes:
            inductor_backward.install(self.recorder, self.patches)

    def _flex_attention(self) -> None:
        if not self.recorder.executes:
            inductor_backward.install_flex(self.patches)

    def _helion_search(self) -> None:
        if not self.recorder.executes:
            helion.install_search(self.recorder, self.patches)

    def _helion_cache(self) -> None:
        if not self.recorder.executes:
            helion.install_cache(self.patches)

    def _dynamo(self) -> None:
        if not self.recorder.executes:
            inductor.tolerate(self.recorder, self.patches)

    def _dynamo_imported(self) -> None:
        if self._installation is not None:
            self._installation.dynamo_imported()

    def _triton(self) -> None:
        from kprof.recording import triton_hooks

        if self._executes():
            triton_hooks.observe(self.recorder, self.patches)
            return
        triton_hooks.replace(self.recorder, self.patches, self._device, self._stream)

    def _flydsl_gpu(self) -> None:
        from kprof.recording import flydsl

        if not self._executes():
            self._closing.append(flydsl.name_gpu(self.settings.device))

    def _flydsl(self) -> None:
        from kprof.recording import flydsl

        record = flydsl.count if self._executes() else flydsl.install
        record(self.recorder, self.patches)

    def _executes(self) -> bool:
        """Return whether kernels run on a real GPU, as torch reports; Triton and FlyDSL get device facts from torch."""
        if self.settings.execute and "torch" not in sys.modules and Path("/dev/kfd").exists():
            with contextlib.suppress(ImportError):
                __import__("torch")
        return self.recorder.executes


_HOOKED: list[bool] = []


def _after_fork() -> None:
    """Handle a fork of a recorded process, unless it was made for a compile."""
    compiler = sys.modules.get("kprof.recording.compiler")
    if not _ACTIVE or (compiler is not None and compiler.Compiler.forking):
        return
    session = _ACTIVE[-1]
    if "recorder" in vars(session):
        session.recorder.after_fork()
    # multiprocessing exits without atexit, but calls its own finalizers.
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(session, _finish_with_multiprocessing)


def _finish_with_multiprocessing(session: RecordingSession) -> None:
    from multiprocessing.util import Finalize

    Finalize(session, session.finish, exitpriority=-100)


def _watch_exceptions(session: RecordingSession) -> None:
    """Record when Ctrl-C ends the program, because it must then not wait for compiles."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> Any:
        if issubclass(kind, KeyboardInterrupt):
            session.interrupted = True
        return before(kind, error, trace)

    sys.excepthook = hook


def note_function() -> Callable[[str], None] | None:
    """Return the function that adds a note to the running capture; ``None`` if this process is not recorded."""
    return _ACTIVE[-1].recorder.note if _ACTIVE else None
