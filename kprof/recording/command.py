"""Running a program so that it records itself."""

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
    """How to record.

    Attributes:
        arch: architecture or product.
        output: the capture directory.
        jobs: compiles at a time, 0 for one a core.
        use_cache: serve repeated compiles from kprof's cache.
        force: replace a capture that is there.
        execute: where there is a ROCm device, let kernels run.
        timeout: seconds that one compile may take.
        arithmetic: whether torch's matrix products, convolutions and attention are computed; else they give zeros.
        argv: keep command lines, without the secrets in them.
        full_values: whether large tensors of the GPU have memory and values, too.
        values: integers of a tensor that are kept at most, where the course of a kernel depends on them.
        operators: whether each call of torch's own operators is noted, with its shapes.
        candidate_seconds: seconds at the end of the program in which autotuners' other configurations are compiled;
            ``None``: no limit.
        folder: where the program runs; this process's own when ``None``.
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
    """How the program ended.

    Attributes:
        status: its exit status; negative for a signal.
        interrupted: by Ctrl-C.
        seconds: wall time.
        stopped: at its time limit.
        signal: what asked this process to end; it was passed on to the program.
    """

    status: int
    interrupted: bool
    seconds: float
    stopped: bool = False
    signal: int | None = None

    def obey(self) -> None:
        """End this process too, if it was asked to, with the exit status that a shell gives then.

        Raises:
            SystemExit: it was asked to; what is to be cleaned up still is.
        """
        if self.signal is not None:
            raise SystemExit(_SIGNALLED + self.signal)


def prepare(options: RecordOptions, command: Sequence[str] = ()) -> Settings:
    """Make the capture directory, and the settings of the processes that write into it.

    Raises:
        KprofError: the architecture is not known; the directory cannot be written, or holds something already.
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
    """See that there is nothing in the way."""
    if root.is_dir() and (names := {path.name for path in root.iterdir()}):
        # Without a head it is what was left when a recording was killed as it began.
        if not (root / layout.HEAD).is_file() and not names.issubset(_OURS):
            raise KprofError(
                "is not empty and holds no capture", path=str(options.output), hint="Name a new directory with -o."
            )
        if not options.force:
            raise KprofError(
                "holds a capture already",
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
    """Run a program with its recording on, and wait for it.

    Args:
        settings: how to record.
        command: the program and its arguments.
        folder: where it runs; this process's own when ``None``.
        stdout: file descriptor that it prints to; this process's own when ``None``.
        variables: its environment, this process's own when ``None``.
        time_limit: seconds after which it is asked to end as by Ctrl-C, and ended soon after; ``None`` for no limit.

    Raises:
        KprofError: there is no such program.
    """
    require(command[0], "started as a program")
    if VARIABLE in os.environ:
        raise KprofError("this process is being recorded itself", hint="One kprof capture at a time is enough.")
    started = time.monotonic()
    # From here on the terminal is the program's.
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
            f"cannot be run: {error.strerror}", path=command[0], hint="After -- comes the program: -- python train.py"
        ) from None
    interrupted = stopped = False
    with _passing_on(process) as received:
        while True:
            try:
                status = process.wait(_PATIENCE if interrupted or stopped else time_limit)
                break
            except KeyboardInterrupt:
                # The terminal has sent it to the program too, which now closes its journal.
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
    """Remove what only matters while compiles run."""
    shutil.rmtree(root / layout.WORK, ignore_errors=True)
    for path in (root / layout.KERNELS).glob(".*.log"):
        with contextlib.suppress(OSError):
            path.unlink()


@contextlib.contextmanager
def _passing_on(process: "subprocess.Popen[bytes]") -> Iterator[list[int]]:
    """A request to end goes to the program; which came is in the list."""
    received: list[int] = []

    def pass_on(number: int, _frame: Any) -> None:
        received.append(number)
        process.send_signal(number)

    # What nohup has ignored stays so.
    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) != signal.SIG_IGN]
    # Python takes signals in the main thread only; from another one the program just ends with this process.
    numbers = numbers if threading.current_thread() is threading.main_thread() else []
    before = {number: signal.signal(number, pass_on) for number in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
