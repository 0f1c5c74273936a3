"""Run the program of a capture again, stop it at launches, and repeat the launches with other values."""

import contextlib
import json
import os
import re
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kprof import children
from kprof.captures.model import Capture
from kprof.compiler.request import CompileRequest, from_json
from kprof.deadline import Deadline
from kprof.errors import KprofError
from kprof.importing.permission import require
from kprof.recording.command import RecordOptions, prepare
from kprof.recording.settings import VARIABLE, environment
from kprof.targets.recompile import RecompilableKernel

TIME_LIMIT = 600.0
"""Maximum number of seconds that the program runs until a requested launch."""

_SECONDS_OF_A_LINE = 10.0

_PYTHON = re.compile(r"python(3(\.\d+)?)?")


@dataclass(frozen=True)
class RelaunchedProgram:
    """The program to run again.

    Attributes:
        command: the program and its arguments.
        folder: working directory.
        gpu: architecture or product that the program sees.
    """

    command: Sequence[str]
    folder: Path
    gpu: str


@dataclass(frozen=True)
class RepeatedLaunch:
    """A repeated launch: what the program would launch with other compile-time values.

    Attributes:
        request: the compile from TTIR, with the program's options.
        grid: workgroups per axis.
        arguments: numeric arguments by name.
        contents: values of integer tensors by name, if known.
        tensor_bytes: bytes of all tensors; ``None`` if unknown.
    """

    request: CompileRequest
    grid: tuple[int, ...]
    arguments: Mapping[str, int | float] = field(default_factory=dict)
    contents: Mapping[str, Sequence[int]] = field(default_factory=dict)
    tensor_bytes: int | None = None


@dataclass(frozen=True)
class LaunchDescription:
    """The program's description of a launch.

    Attributes:
        dealt, stepped, orders: compile-time arguments that may have other values, see
            :class:`kprof.recording.tile_arguments.Tiles`.
        configs: configurations of the kernel's autotuners, complete with options.
        files: JSON files that the program opened before the launch.
        site: file and line of the launch.
        keys: key paths, outer to inner, under which the program holds the launch's configuration.
        batch: number of rows of the activations; ``None`` if no caller has a variable for it.
        generated: kind of a kernel that Inductor generated, ``pointwise`` or ``reduction``; else empty.
    """

    dealt: frozenset[str]
    stepped: frozenset[str]
    orders: frozenset[str]
    configs: Sequence[Mapping[str, Any]] = ()
    files: Sequence[str] = ()
    site: tuple[str, int] | None = None
    keys: Sequence[Sequence[str]] = ()
    batch: int | None = None
    generated: str = ""


def program_of(capture: Capture, gpu: str) -> RelaunchedProgram | str:
    """Return the program of a capture, or the reason why it is not run.

    A capture may come from somebody else. Its program is run only if it is a Python file on this machine, below the
    folder that the capture's sources are relative to, and unchanged since the recording.

    Args:
        capture: the capture.
        gpu: architecture or product that the program sees.
    """
    command = list(capture.head.command)
    if len(command) < 2 or not _PYTHON.fullmatch(Path(command[0]).name) or not command[1].endswith(".py"):
        return "the capture does not say which Python file was run"
    if not capture.sources:
        return "the capture does not say which sources it was made from"
    if found := capture.changes():
        return f"its program has changed since the recording: {found[0]}"
    root = capture.root.resolve()
    for folder in (Path.cwd(), root):
        script = (folder / command[1]).resolve()
        if script.is_file() and script.is_relative_to(root):
            if script.relative_to(root).as_posix() not in capture.sources:
                return f"{command[1]} is not among the recorded sources"
            return RelaunchedProgram([_interpreter(command[0]), *command[1:]], folder, gpu)
    return f"{command[1]} does not exist here"


def _interpreter(recorded: str) -> str:
    """Return the recorded Python if it is an absolute path that exists here, else this process's Python."""
    return sys.executable if shutil.which(recorded) is None or not Path(recorded).is_absolute() else recorded


class _Connection:
    """A connection to one process of the program; both sides send lines of JSON."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket, self._lines = connection, connection.makefile("rw", encoding="utf-8")

    def say(self, question: Mapping[str, Any]) -> None:
        """Send a question; a process that has ended is ignored."""
        with contextlib.suppress(OSError):
            self._lines.write(json.dumps(question) + "\n")
            self._lines.flush()

    def heard(self, seconds: float) -> dict[str, Any]:
        """Return the next answer; empty if the process ended or does not answer within the time."""
        self._socket.settimeout(seconds)
        try:
            line = self._lines.readline()
            found: dict[str, Any] = json.loads(line) if line else {}
        except (OSError, ValueError, RecursionError):
            return {}
        return found

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._lines.close()
        self._socket.close()


class Relaunch:
    """One launch at which a program has stopped, and which it repeats with other values.

    Attributes:
        ready: the program's description of the launch.
        can_ask: whether the launch can be repeated with other values.
    """

    def __init__(self, connection: _Connection, ready: Mapping[str, Any]) -> None:
        self._connection = connection
        self.can_ask = bool(ready.get("again"))
        tiles, site = ready.get("tiles", {}), ready.get("site")
        dealt, stepped, orders = (frozenset(tiles.get(name, ())) for name in ("dealt", "stepped", "orders"))
        self.ready = LaunchDescription(
            dealt,
            stepped,
            orders,
            configs=ready.get("configs", ()),
            files=ready.get("files", ()),
            site=None if site is None else (str(site[0]), int(site[1])),
            keys=ready.get("keys", ()),
            batch=ready.get("batch"),
            generated=str(ready.get("generated", "")),
        )

    def ask(self, constexprs: Mapping[str, Any], seconds: float = 120.0) -> RepeatedLaunch:
        """Return the launch with other compile-time values.

        Args:
            constexprs: the values to change.
            seconds: maximum time.

        Raises:
            KprofError: if the program cannot repeat the launch; the message is the program's reason.
        """
        self._connection.say({"constexprs": dict(constexprs)})
        answer = self._connection.heard(seconds)
        if not answer:
            raise KprofError("the program ended while its launch was repeated")
        if answer["kind"] == "refused":
            raise KprofError(answer["error"])
        from kprof.captures.arguments import argument, contents, numbers, tensor_bytes

        request = from_json({**answer["request"], "path": answer["ttir"], "passes": False})
        arguments = {name: argument(value) for name, value in answer["arguments"].items()}
        return RepeatedLaunch(
            request,
            tuple(answer["grid"]),
            numbers(arguments),
            contents(arguments),
            tensor_bytes(arguments),
        )


class ProgramRun:
    """A program that runs again and stops at the first launch of each requested kernel.

    Args:
        kernels: kernels whose launches are requested.
        program: the program to run.
        jobs: number of parallel compiles until the program reaches a launch.

    Raises:
        KprofError: if the program cannot be run.
    """

    def __init__(self, kernels: Sequence[RecompilableKernel], program: RelaunchedProgram, *, jobs: int = 0) -> None:
        if VARIABLE in os.environ:
            raise KprofError("this process is being recorded itself")
        self._folder = Path(tempfile.mkdtemp(prefix="kprof-again-"))
        self._process: subprocess.Popen[Any] | None = None
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._selector = selectors.DefaultSelector()
        self._waiting = set(range(len(kernels)))
        self._standing: _Connection | None = None
        try:
            self._start(kernels, program, jobs)
        except BaseException:
            self.close()
            raise

    def _start(self, kernels: Sequence[RecompilableKernel], program: RelaunchedProgram, jobs: int) -> None:
        require(program.command[0], "started as a program")
        address = str(self._folder / "ask")
        self._listening.bind(address)
        self._listening.listen()
        self._selector.register(self._listening, selectors.EVENT_READ, None)
        options = RecordOptions(program.gpu, self._folder / "capture", jobs=jobs, execute=False, folder=program.folder)
        wanted = [(each.launched or each.kernel).request.to_json() for each in kernels]
        order = {"socket": address, "folder": str(self._folder), "wanted": wanted}
        own = environment(replace(prepare(options), again=order), os.environ)
        try:
            self._process = children.popen(
                program.command, env=own, cwd=program.folder, stdout=2, start_new_session=True
            )
        except OSError as error:
            raise KprofError(f"cannot be run: {error.strerror}", path=program.command[0]) from None

    def next_launch(self, seconds: float = TIME_LIMIT) -> tuple[int, Relaunch]:
        """Let the program continue to the next requested launch; return the position of its kernel with the launch.

        Args:
            seconds: maximum time.

        Raises:
            KprofError: if the program ends first, or does not reach a launch in time.
        """
        if self._standing is not None:
            # If the program has several processes, the next launch may be in another one.
            self._standing.say({"go_on": True})
        place, self._standing, ready = self._next(Deadline(min(TIME_LIMIT, seconds)))
        return place, Relaunch(self._standing, ready)

    def _next(self, deadline: Deadline) -> tuple[int, _Connection, Mapping[str, Any]]:
        """Wait for the next launch of a requested kernel that the program has not launched yet."""
        while True:
            for key, _ in self._selector.select(0.2):
                if key.data is None:
                    accepted = self._listening.accept()[0]
                    self._selector.register(accepted, selectors.EVENT_READ, _Connection(accepted))
                    continue
                ready = key.data.heard(_SECONDS_OF_A_LINE)
                if not ready:
                    self._selector.unregister(key.fileobj)
                    key.data.close()
                elif (place := int(ready["place"])) in self._waiting:
                    self._waiting.remove(place)
                    return place, key.data, ready
                else:
                    key.data.say({"go_on": True})
            if self._process is not None and (status := self._process.poll()) is not None:
                raise KprofError(f"the program ended with exit status {status} and did not launch the kernel again")
            if deadline.over():
                raise KprofError("the program did not launch the kernel again within its time limit")

    def close(self) -> None:
        """End the program, and remove its temporary folder."""
        for key in list(self._selector.get_map().values()):
            if key.data is not None:
                key.data.close()
        self._selector.close()
        self._listening.close()
        process = self._process
        if process is not None and process.poll() is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except OSError:
                process.kill()
            process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
