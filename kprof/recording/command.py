"""Run a program so that it records itself."""

import contextlib
import datetime as dt
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kprof import children
from kprof.cache import location
from kprof.captures import layout
from kprof.captures.staleness import root_of
from kprof.compiler.defaults import TIMEOUT, default_jobs
from kprof.errors import KprofError
from kprof.importing.permission import require
from kprof.output.redacting import redacted
from kprof.output.sink import output_begins
from kprof.recording.program_sources import of_command
from kprof.recording.settings import VARIABLE, Settings, environment
from kprof.simulation.gpu import gpu_of
from kprof.version import __version__

_PATIENCE = 15.0
_SIGNALLED = 128
_PARTIAL = f".{layout.HEAD}.part"
_OURS = (layout.HEAD, layout.JOURNAL, layout.KERNELS, layout.WORK, _PARTIAL)


@dataclass(frozen=True)
class RecordOptions:
    """Options of a recording.

    Attributes:
        arch: architecture or product.
        output: the capture directory.
        jobs: number of parallel compiles, 0 for one per core.
        use_cache: whether repeated compiles may come from kprof's cache.
        force: True to replace an existing capture.
        execute: True to execute kernels if there is a ROCm device.
        timeout: maximum seconds per compile.
        arithmetic: True to compute torch's matrix products, convolutions and attention; otherwise they return zeros.
        argv: True to store command lines, without the secrets in them.
        full_values: True to give large GPU tensors memory and values, too.
        values: maximum number of integers stored per tensor, for tensors that a kernel's control flow depends on.
        operators: True to record each call of torch's own operators with its shapes.
        candidate_seconds: seconds at the end of the program for compiling autotuners' other configurations; ``None``:
            no limit.
        folder: working directory of the program; ``None``: that of this process.
    """

    arch: str
    output: Path
    jobs: int = 0
    use_cache: bool = True
    force: bool = False
    execute: bool = True
    timeout: float = TIMEOUT
    arithmetic: bool = True
    full_values: bool = False
    values: int = layout.VALUES
    argv: bool = True
    operators: bool = False
    candidate_seconds: float | None = None
    folder: Path | None = None


@dataclass(frozen=True)
class Ended:
    """Result of running the program.

    Attributes:
        status: exit status; negative for a signal.
        interrupted: True after Ctrl-C.
        seconds: wall time.
        stopped: True if it was stopped at its time limit.
        signal: the signal that asked this process to end and was passed on to the program; ``None`` without one.
    """

    status: int
    interrupted: bool
    seconds: float
    stopped: bool = False
    signal: int | None = None

    def obey(self) -> None:
        """End this process if it received a signal, with the shell's exit status for that signal.

        Raises:
            SystemExit: if it received a signal; cleanup handlers still run.
        """
        if self.signal is not None:
            raise SystemExit(_SIGNALLED + self.signal)


def prepare(options: RecordOptions, command: Sequence[str] = ()) -> Settings:
    """Create the capture directory, and return the settings of the processes that write into it.

    Raises:
        KprofError: if the architecture is unknown, or the directory cannot be written or is not empty.
    """
    device = gpu_of(options.arch)
    root = options.output.absolute()
    _empty(root, options)
    folder = (options.folder or Path.cwd()).absolute()
    tree = root_of(folder)
    head = {
        "schema": layout.SCHEMA,
        "arch": device.arch,
        "product": device.name,
        "gpu": options.arch,
        "command": redacted([str(part) for part in command]) if options.argv else [],
        "started": dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        "kprof": __version__,
        "root": Path(os.path.relpath(tree, root)).as_posix(),
        "sources": of_command(tree, folder, command),
    }
    try:
        (root / layout.JOURNAL).mkdir(parents=True)
        (root / layout.KERNELS).mkdir()
        (root / _PARTIAL).write_text(json.dumps(head) + "\n", encoding="utf-8")
        (root / _PARTIAL).replace(root / layout.HEAD)
    except OSError as error:
        raise KprofError(f"cannot be written: {error.strerror}", path=str(options.output)) from None
    return Settings(
        folder=str(root),
        device=device,
        jobs=options.jobs or default_jobs(),
        cache=_cache() if options.use_cache else None,
        timeout=options.timeout,
        execute=options.execute,
        version=__version__,
        arithmetic=options.arithmetic,
        full_values=options.full_values,
        values=options.values,
        argv=options.argv,
        operators=options.operators,
        candidate_seconds=options.candidate_seconds,
        root=str(tree),
    )


def _cache() -> str | None:
    location.check()
    root = location.root()
    return None if root is None else str(root)


def _empty(root: Path, options: RecordOptions) -> None:
    """Check that the output directory is free, or clear it if ``options.force`` is set."""
    if root.is_dir() and (names := {path.name for path in root.iterdir()}):
        # Files without ``capture.json`` are the remains of a recording that was killed at its start.
        if not (root / layout.HEAD).is_file() and not names.issubset(_OURS):
            raise KprofError(
                "is not empty and contains no capture", path=str(options.output), hint="Name a new directory with -o."
            )
        if not options.force:
            raise KprofError(
                "already contains a capture",
                path=str(options.output),
                hint="--force replaces it; -o names another.",
            )
        for name in _OURS:
            path = root / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    elif root.exists() and not root.is_dir():
        raise KprofError("is a file, not a directory", path=str(options.output))


def run(
    settings: Settings,
    command: Sequence[str],
    *,
    folder: Path | None = None,
    stdout: int | None = None,
    time_limit: float | None = None,
    variables: Mapping[str, str] | None = None,
) -> Ended:
    """Run a program with recording enabled, and wait for it.

    Args:
        settings: settings of the recording.
        command: the program and its arguments.
        folder: working directory; ``None``: that of this process.
        stdout: file descriptor of the program's standard output; ``None``: that of this process.
        variables: environment variables; ``None``: those of this process.
        time_limit: seconds after which the program is interrupted like by Ctrl-C, and killed soon after; ``None``: no
            limit.

    Raises:
        KprofError: if the program does not exist, or if this process is being recorded itself.
    """
    require(command[0], "started as a program")
    if VARIABLE in os.environ:
        raise KprofError("this process is being recorded itself", hint="Use only one kprof capture.")
    started = time.monotonic()
    # From here on, only the program writes to the terminal.
    output_begins()
    try:
        process = children.popen(
            command,
            env=environment(settings, os.environ if variables is None else variables),
            cwd=folder,
            stdout=stdout,
        )
    except OSError as error:
        raise KprofError(
            f"cannot be run: {error.strerror}",
            path=command[0],
            hint="Pass the program after --, for example: -- python train.py",
        ) from None
    interrupted = stopped = False
    with _passing_on(process) as received:
        while True:
            try:
                status = process.wait(_PATIENCE if interrupted or stopped else time_limit)
                break
            except KeyboardInterrupt:
                # The terminal has also sent the interrupt to the program, which now closes its journal.
                interrupted = True
            except subprocess.TimeoutExpired:
                if interrupted or stopped:
                    process.kill()
                else:
                    stopped = True
                    process.send_signal(signal.SIGINT)
    clean(Path(settings.folder))
    return Ended(status, interrupted, time.monotonic() - started, stopped, received[-1] if received else None)


def clean(root: Path) -> None:
    """Remove files that are needed only while compiles run."""
    shutil.rmtree(root / layout.WORK, ignore_errors=True)
    for path in (root / layout.KERNELS).glob(".*.log"):
        with contextlib.suppress(OSError):
            path.unlink()


@contextlib.contextmanager
def _passing_on(process: "subprocess.Popen[bytes]") -> Iterator[list[int]]:
    """Forward termination signals to the program; yield a list that collects them."""
    received: list[int] = []

    def pass_on(number: int, _frame: Any) -> None:
        received.append(number)
        process.send_signal(number)

    # Signals that nohup ignores stay ignored.
    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) != signal.SIG_IGN]
    # Python handles signals only in the main thread. In other threads they are not forwarded.
    numbers = numbers if threading.current_thread() is threading.main_thread() else []
    before = {number: signal.signal(number, pass_on) for number in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
