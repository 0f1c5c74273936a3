"""The program of a capture, run once more up to one launch, which it then makes again with other values."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kprof import children
from kprof.captures.model import Capture, TensorInfo
from kprof.compiler.request import CompileRequest, from_json
from kprof.errors import KprofError
from kprof.importing.permission import require
from kprof.recording.command import RecordOptions, prepare
from kprof.recording.settings import VARIABLE, environment
from kprof.targets.recompile import RecompilableKernel

TIME_LIMIT = 600.0
"""Seconds that the program has until it makes the launch."""

_PYTHON = re.compile(r"python(3(\.\d+)?)?")


@dataclass(frozen=True)
class RelaunchedProgram:
    """What is run.

    Attributes:
        command: the program and its arguments.
        folder: where it runs.
        gpu: architecture or product that it sees.
    """

    command: Sequence[str]
    folder: Path
    gpu: str


@dataclass(frozen=True)
class Made:
    """A launch that the program would make with other values.

    Attributes:
        request: its compile, from TTIR; with the options of the program.
        grid: workgroups.
        arguments: numbers by name.
        contents: values of integer tensors by name, where they are known.
    """

    request: CompileRequest
    grid: tuple[int, ...]
    arguments: Mapping[str, int | float] = field(default_factory=dict)
    contents: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Ready:
    """What the launch is made of.

    Attributes:
        dealt, stepped, orders: compile-time arguments that may have other values, see
            :class:`kprof.recording.tile_arguments.Tiles`.
        configs: those of the kernel's autotuners, complete with options.
        files: JSON files that the program opened before.
        site: file and line of the launch.
        keys: under which the program holds the launch's configuration, outer to inner, each way that there is.
        batch: rows of the activations, where a caller names them.
        generated: of a kernel that Inductor wrote its kind, ``pointwise`` or ``reduction``; else empty.
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
    """The program of a capture, or why it is not run.

    A capture may come from somebody else. What it names is only run where it is a Python program that lies here, below
    the folder that its sources are named from, and is still what was recorded.

    Args:
        capture: as it was read.
        gpu: what it sees.
    """
    command = list(capture.head.command)
    if len(command) < 2 or not _PYTHON.fullmatch(Path(command[0]).name) or not command[1].endswith(".py"):
        return "the capture does not say which Python file was run"
    if not capture.sources:
        return "the capture does not say which sources it was made from"
    if found := capture.changes():
        return f"its program is not what was recorded: {found[0]}"
    root = capture.root.resolve()
    for folder in (Path.cwd(), root):
        script = (folder / command[1]).resolve()
        if script.is_file() and script.is_relative_to(root):
            if script.relative_to(root).as_posix() not in capture.sources:
                return f"{command[1]} is none of the sources that were recorded"
            return RelaunchedProgram([_interpreter(command[0]), *command[1:]], folder, gpu)
    return f"{command[1]} is not here"


def _interpreter(recorded: str) -> str:
    """This Python, unless another one is found under the recorded name."""
    return sys.executable if shutil.which(recorded) is None or not Path(recorded).is_absolute() else recorded


class Relaunch:
    """A program that stands still at a launch and makes it again.

    Args:
        recorded: the kernel whose launch is wanted.
        program: what is run.
        jobs: compiles at a time, while the program gets there.
        time_limit: seconds until it makes the launch.

    Raises:
        KprofError: it cannot be run, ends before the launch, or does not get there in time.
    """

    def __init__(
        self, recorded: RecompilableKernel, program: RelaunchedProgram, *, jobs: int = 0, time_limit: float = TIME_LIMIT
    ) -> None:
        if VARIABLE in os.environ:
            raise KprofError("this process is being recorded itself")
        self._folder = Path(tempfile.mkdtemp(prefix="kprof-again-"))
        self._process: subprocess.Popen[Any] | None = None
        self._open: list[Any] = []
        try:
            self._start(recorded, program, jobs, time.monotonic() + time_limit)
            ready = self._read(time_limit)
        except BaseException:
            self.close()
            raise
        tiles = ready.get("tiles", {})
        site = ready.get("site")
        self.can_ask = bool(ready.get("again"))
        dealt, stepped, orders = (frozenset(tiles.get(name, ())) for name in ("dealt", "stepped", "orders"))
        place = None if site is None else (str(site[0]), int(site[1]))
        configs, files, keys = (ready.get(name, ()) for name in ("configs", "files", "keys"))
        self.ready = Ready(
            dealt,
            stepped,
            orders,
            configs,
            files,
            place,
            keys,
            ready.get("batch"),
            generated=str(ready.get("generated", "")),
        )

    def _start(self, recorded: RecompilableKernel, program: RelaunchedProgram, jobs: int, deadline: float) -> None:
        require(program.command[0], "started as a program")
        address = str(self._folder / "ask")
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with listening:
            listening.bind(address)
            listening.listen(1)
            listening.settimeout(0.2)
            options = RecordOptions(
                program.gpu, self._folder / "capture", jobs=jobs, execute=False, folder=program.folder
            )
            settings = prepare(options)
            wanted = (recorded.launched or recorded.kernel).request.to_json()
            order = {"socket": address, "folder": str(self._folder), "wanted": wanted}
            own = environment(replace(settings, again=order), os.environ)
            try:
                self._process = children.popen(
                    program.command, env=own, cwd=program.folder, stdout=2, start_new_session=True
                )
            except OSError as error:
                raise KprofError(f"cannot be run: {error.strerror}", path=program.command[0]) from None
            while True:
                try:
                    self._connection, _ = listening.accept()
                    break
                except TimeoutError:
                    pass
                if (status := self._process.poll()) is not None:
                    raise KprofError(f"the program ended with exit status {status} and did not launch the kernel again")
                if time.monotonic() > deadline:
                    raise KprofError("the program did not launch the kernel again within its time limit")
        self._lines = self._connection.makefile("rw", encoding="utf-8")
        self._open = [self._lines, self._connection]

    def _read(self, seconds: float) -> dict[str, Any]:
        self._connection.settimeout(seconds)
        try:
            line = self._lines.readline()
            found: dict[str, Any] = json.loads(line) if line else {}
        except (OSError, ValueError, RecursionError):
            found = {}
        if not found:
            raise KprofError("the program ended while its launch was made again")
        return found

    def ask(self, constexprs: Mapping[str, Any], seconds: float = 120.0) -> Made:
        """The launch with other compile-time values.

        Args:
            constexprs: those that change.
            seconds: how long it may take.

        Raises:
            KprofError: the program cannot make it, for the reason given.
        """
        try:
            self._lines.write(json.dumps({"constexprs": dict(constexprs)}) + "\n")
            self._lines.flush()
        except OSError:
            raise KprofError("the program ended while its launch was made again") from None
        answer = self._read(seconds)
        if answer["kind"] == "refused":
            raise KprofError(answer["error"])
        from kprof.captures.arguments import argument

        request = from_json({**answer["request"], "path": answer["ttir"], "passes": False})
        arguments = {name: argument(value) for name, value in answer["arguments"].items()}
        return Made(
            request,
            tuple(answer["grid"]),
            {n: v for n, v in arguments.items() if isinstance(v, int | float)},
            {n: v.values for n, v in arguments.items() if isinstance(v, TensorInfo) and v.values is not None},
        )

    def close(self) -> None:
        """End the program, and remove what was written for it."""
        for opened in self._open:
            with contextlib.suppress(OSError):
                opened.close()
        process = self._process
        if process is not None and process.poll() is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except OSError:
                process.kill()
            process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
