"""Repeat launches of a recorded program with other compile-time values for a requesting process.

The program runs as it was recorded until it makes a requested launch. There it stops and answers questions, in lines of
JSON over a socket, until it is told to continue to the next requested launch. It ends when the connection is closed.
The answer to a question is the kernel's TTIR with the new values, and the grid and arguments of the launch with them.

=========================================== =============================================================
question                                    answer
=========================================== =============================================================
(none)                                      ``ready``: description of the launch, see :meth:`RelaunchServer._ready`
``{"constexprs": {"BLOCK": 64}}``           ``launch`` with ``ttir`` (a file), ``request``, ``grid``,
                                            ``arguments``; or ``refused`` with the ``error``
``{"go_on": true}``                         (none): the program makes its launch and continues
=========================================== =============================================================
"""

import contextlib
import hashlib
import json
import os
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from kprof.compiler import environment as switches
from kprof.compiler import versions
from kprof.compiler.from_ttir import RESULT
from kprof.recording import describe
from kprof.recording.call_site import CallSite, CannotFollowError, LaunchArguments
from kprof.recording.file_entries import batch_of, keys_in_use
from kprof.recording.generated import GeneratedLaunch
from kprof.recording.steering import add_values
from kprof.recording.stub import RecordedKernel
from kprof.recording.tile_arguments import Tiles, tiles_of

if TYPE_CHECKING:
    from kprof.recording.recorder import Recorder
    from kprof.simulation.patches import Patches

_MOST_FILES = 500
_FIXED_FIELDS = ("function", "signature", "constexprs", "attributes")


@dataclass
class _Call:
    """A launch in progress: the called function with its arguments, and the calling frame."""

    entry: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    frame: FrameType | None


@dataclass
class _Trial:
    """Kernel, grid and arguments of a launch with other values."""

    kernel: RecordedKernel | None = None
    grid: tuple[Any, ...] = ()
    args: tuple[Any, ...] = ()


@dataclass(frozen=True)
class _NoTicket:
    """Placeholder for a compile that was not requested."""

    name: str
    id: str = "0" * 32


class _TriedKernel(RecordedKernel):
    """A kernel of a trial launch, which has no code."""

    def __init__(self, source: Any, request: dict[str, Any], launch: Callable[..., None]) -> None:
        ticket: Any = _NoTicket(source.fn.fn.__name__)
        super().__init__(source, ticket, request, launch, _no_code)
        # Attributes that Inductor's launchers read before they launch.
        self.metadata, self.cluster_dims = None, (1, 1, 1)
        self.shared = self.num_ctas = self.n_regs = self.n_spills = 0
        self.num_warps = 1


class _Watched(dict[str, Any]):
    """Arguments for a grid function, which record the ones that it reads."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.seen: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.seen.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.seen.add(name)
        return super().get(name, default)


@dataclass
class RelaunchServer:
    """Stops at the first launch of each requested kernel, and repeats it with other values.

    Attributes:
        recorder: recorder of this process.
        order: ``socket`` (an address), ``folder`` (for TTIR), ``wanted`` (the requests of the kernels).
    """

    recorder: "Recorder"
    order: Mapping[str, Any]
    _calls: list[_Call] = field(default_factory=list)
    _trial: _Trial | None = None
    _done: set[int] = field(default_factory=set)
    _lines: Any = None
    _files: dict[str, None] = field(default_factory=dict)
    # Kernels with target, backend and options, by the kernel's id. Kernels of the program are included, because a trial
    # may find one of them in Triton's cache.
    _built: dict[int, tuple[RecordedKernel, tuple[Any, Any, Any]]] = field(default_factory=dict)

    def install(self, patches: "Patches") -> None:
        """Watch launches, and track the JSON files that are opened."""
        from triton.runtime.autotuner import Autotuner, Heuristics
        from triton.runtime.jit import JITFunction

        for kind in (Autotuner, Heuristics, JITFunction):
            patches.set(kind, "run", self._watching(kind.run))
        recorder: Any = self.recorder
        self._compile, self._launch, self._usable = recorder.compile, recorder.launch, recorder.usable
        patches.set(recorder, "usable", self.usable)
        patches.set(recorder, "compile", self.compile)
        patches.set(recorder, "launch", self.launch)
        sys.addaudithook(self._opened)

    def _opened(self, event: str, arguments: tuple[Any, ...]) -> None:
        is_json = event == "open" and isinstance(arguments[0], str) and arguments[0].endswith(".json")
        if is_json and len(self._files) < _MOST_FILES:
            self._files[str(Path(arguments[0]).absolute())] = None

    def _watching(self, original: Any) -> Any:
        def run(entry: Any, *args: Any, **kwargs: Any) -> Any:
            frame = None if self._calls else _program_frame()
            self._calls.append(_Call(entry, args, dict(kwargs), frame))
            try:
                return original(entry, *args, **kwargs)
            finally:
                self._calls.pop()

        return run

    def compile(self, source: Any, target: Any, options: Any, backend: Any) -> RecordedKernel:
        """Compile like :meth:`kprof.recording.recorder.Recorder.compile`, but do not compile kernels of trials yet."""
        made: RecordedKernel
        if self._trial is None:
            made = self._compile(source, target, options, backend)
        else:
            given = describe.given_options(options, self.recorder.defaults_of(backend))
            made = _TriedKernel(source, describe.request_of(source, target.arch, given, _switches()), self.launch)
        self._built[id(made)] = (made, (target, backend, options))
        return made

    def launch(self, kernel: RecordedKernel, grid: tuple[Any, ...], stream: Any, args: tuple[Any, ...]) -> None:
        """Launch like :meth:`kprof.recording.recorder.Recorder.launch`.

        Before the first launch of a requested kernel, answer the questions of the requesting process.
        """
        if self._trial is not None:
            self._trial.kernel, self._trial.grid, self._trial.args = kernel, grid, args
            return
        if not self.recorder.trying:
            for place in self._wanted(kernel):
                self._serve(place, kernel)
        self._launch(kernel, grid, stream, args)

    def usable(self, kernel: RecordedKernel | None) -> bool:
        """As :meth:`kprof.recording.recorder.Recorder.usable`, but compile only if the recorded choice is unknown."""
        if kernel is not None and self._places(kernel):
            return True
        if any(self._places(other) for other in self.recorder.candidates):
            return False
        wanted = {one["function"] for one in self.order["wanted"]}
        return (kernel is not None and kernel.request["function"] not in wanted) or self._usable(kernel)

    def _places(self, kernel: RecordedKernel) -> list[int]:
        """Return the positions in ``order["wanted"]`` of the requests for this kernel."""
        mine = json.loads(json.dumps({name: kernel.request[name] for name in _FIXED_FIELDS}))
        wanted = enumerate(self.order["wanted"])
        return [place for place, one in wanted if all(mine[name] == one[name] for name in _FIXED_FIELDS)]

    def _wanted(self, kernel: RecordedKernel) -> list[int]:
        """Return the positions of the requests for this kernel, without those whose launch was already served."""
        return [place for place in self._places(kernel) if place not in self._done]

    def _serve(self, place: int, kernel: RecordedKernel) -> None:
        self._done.add(place)
        if self._lines is None:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.connect(self.order["socket"])
            self._lines = connection.makefile("rw", encoding="utf-8")
        call = self._calls[0] if self._calls else None
        generated = self.recorder.generated if call is None else None
        with contextlib.suppress(OSError):
            self._send_answer({**self._ready(call, kernel, generated), "place": place})
            for line in self._lines:
                question = json.loads(line)
                if "go_on" in question:
                    return
                try:
                    made_by = call or generated
                    assert made_by is not None
                    self._send_answer(self._try_launch(made_by, kernel, question["constexprs"]))
                except CannotFollowError as error:
                    self._send_answer({"kind": "refused", "error": str(error)})
                except Exception as error:  # noqa: BLE001 - the program and the compiler may raise anything
                    text = str(error).strip().splitlines() or [""]
                    self._send_answer({"kind": "refused", "error": f"{type(error).__name__}: {text[0][:300]}"})
        self.recorder.compiler.abandon()
        sys.stdout.flush()
        # The requesting process closed the connection: the program is no longer needed.
        os._exit(0)

    def _send_answer(self, answer: Mapping[str, Any]) -> None:
        self._lines.write(json.dumps(answer, default=str) + "\n")
        self._lines.flush()

    def _ready(self, call: _Call | None, kernel: RecordedKernel, generated: GeneratedLaunch | None) -> dict[str, Any]:
        """Describe the launch.

        ``tiles``: ``dealt``, ``stepped`` and ``orders`` of :class:`kprof.recording.tile_arguments.Tiles`, without
        values set by heuristics. ``configs``: configurations of its autotuners. ``files``: JSON files that were opened
        before. ``keys`` and ``batch``: results of :func:`kprof.recording.file_entries.keys_in_use` and
        :func:`~kprof.recording.file_entries.batch_of`. ``again``: whether the launch can be repeated at all.
        ``generated``: the kind of a kernel that Inductor generated.
        """
        tiles = tiles_of(kernel.src.fn)
        decided: set[str] = set()
        configs: list[dict[str, Any]] = []
        node = None if call is None else call.entry
        while node is not None and hasattr(node, "fn"):
            if type(node).__name__ == "Heuristics":
                decided |= set(node.values)
            elif type(node).__name__ == "Autotuner":
                configs += [_plain(config.all_kwargs()) for config in node.configs]
            node = node.fn if hasattr(node.fn, "run") else None
        if generated is not None:
            configs += generated.configs()
        site = describe.site(2)
        return {
            "kind": "ready",
            "tiles": {name: sorted(getattr(tiles, name) - decided) for name in ("dealt", "stepped", "orders")},
            "configs": configs,
            "files": list(self._files),
            "keys": keys_in_use(_frame(), _knob_names(kernel)) if self._files else [],
            "batch": batch_of(_frame()) if self._files else None,
            "again": call is not None or generated is not None,
            "generated": "" if generated is None else generated.kind,
            "site": list(site[0][:2]) if site else None,
        }

    def _try_launch(
        self, call: "_Call | GeneratedLaunch", kernel: RecordedKernel, change: Mapping[str, Any]
    ) -> dict[str, Any]:
        tiles = tiles_of(kernel.src.fn)
        self._trial = _Trial()
        try:
            if isinstance(call, GeneratedLaunch):
                call.launch(change)
            else:
                self._make(call, kernel, change, tiles)
            made = self._trial.kernel
        finally:
            trial, self._trial = self._trial, None
        if made is None:
            raise CannotFollowError("the program does not launch the kernel with these values")
        if made is kernel:
            raise CannotFollowError("these values lead to the same kernel")
        grid = [int(n) for n in trial.grid]
        if 0 in grid:
            raise CannotFollowError("the grid is empty with these values")
        names = getattr(made.src.fn, "arg_names", None) or [p.name for p in made.src.fn.params]
        given = dict(zip(map(str, names), trial.args, strict=False))
        described = {name: describe.argument(value) for name, value in given.items()}
        add_values(described, made.src.fn, given, self.recorder.settings.values)
        return {
            "kind": "launch",
            "ttir": self._ttir(made),
            "request": made.request,
            "grid": grid,
            "arguments": described,
        }

    def _make(self, call: _Call, kernel: RecordedKernel, change: Mapping[str, Any], tiles: Tiles) -> None:
        names = [str(parameter.name) for parameter in kernel.src.fn.params]
        kwargs = dict(call.kwargs)
        launch = LaunchArguments(kwargs.pop("grid"), call.args, kwargs)
        if call.frame is not None:
            launch = CallSite(call.frame, names).again(launch, change)
        else:
            launch = LaunchArguments(launch.grid, launch.args, {**launch.kwargs, **change})
        read: set[str] = set()
        grid = launch.grid
        if callable(grid):
            function = grid

            def grid(values: Mapping[str, Any]) -> Any:
                watched = _Watched(values)
                try:
                    return function(watched)
                finally:
                    read.update(watched.seen)

        _run(call.entry, launch.args, {**launch.kwargs, "grid": grid}, change)
        for name in change:
            if name in tiles.dealt and name not in launch.follows | read:
                raise CannotFollowError(
                    f"the program's grid does not depend on {name}, so it is unknown for another value"
                )

    def _ttir(self, kernel: RecordedKernel) -> str:
        from kprof.compiler.in_process import Build, CompileTarget, run_stages
        from kprof.compiler.request import from_json
        from kprof.importing.functions import Function

        jit = kernel.src.fn
        _, (target, backend, options) = self._built[id(kernel)]
        function = Function(Path(jit.fn.__code__.co_filename), jit.fn.__qualname__, jit)
        build = Build(from_json({**kernel.request, "passes": False}), function)
        run_stages(
            versions.api(), build, CompileTarget(target, backend, options), kernel.src, lambda _stage: None, last="ttir"
        )
        text = str(build.stages["ttir"])
        folder = Path(self.order["folder"], hashlib.sha256(text.encode()).hexdigest()[:32])
        folder.mkdir(exist_ok=True)
        (folder / RESULT).write_text(json.dumps({"triton": versions.api().version}), encoding="utf-8")
        (folder / "kernel.ttir").write_text(text, encoding="utf-8")
        return str(folder / "kernel.ttir")


def _frame() -> FrameType:
    return sys._getframe(1)  # noqa: SLF001 - the callers' variables are inspected


def _knob_names(kernel: RecordedKernel) -> list[str]:
    return [*kernel.request["constexprs"], *kernel.request["options"]]


def _no_code(_ticket: Any) -> Any:
    raise RuntimeError("a kernel of a trial launch has no code")


def _switches() -> dict[str, str]:
    return {name: value for name, value in switches.relevant({}).items() if name != "TRITON_DEBUG"}


def _run(entry: Any, args: tuple[Any, ...], kwargs: dict[str, Any], change: Mapping[str, Any]) -> None:
    """Execute heuristics and autotuners as Triton does; the new values replace each autotuner's choice."""
    node = entry
    while True:
        kind = type(node).__name__
        if kind == "Heuristics":
            for name, heuristic in node.values.items():
                kwargs[name] = heuristic({**dict(zip(node.arg_names, args, strict=False)), **kwargs})
        elif kind == "Autotuner":
            config = getattr(node, "best_config", None) or node.configs[0]
            kwargs = {**kwargs, **config.all_kwargs(), **change}
            if config.pre_hook is not None:
                config.pre_hook({**dict(zip(node.arg_names, args, strict=False)), **kwargs})
        else:
            break
        node = node.fn
    node.run(*args, **kwargs)


def _plain(config: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in config.items() if v is None or isinstance(v, bool | int | float | str)}


def _program_frame() -> FrameType | None:
    """Return the innermost frame that belongs to the program."""
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - the call stack is inspected
    while frame is not None and describe.is_machinery(frame.f_code):
        frame = frame.f_back
    return frame
