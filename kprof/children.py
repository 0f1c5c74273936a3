"""Start child processes that end with their parent, however the parent ends.

Workers run in separate sessions, so that Ctrl-C in a terminal does not reach them. Without further measures they would
also survive a closed terminal or a killed parent. A worker would notice only at the end of a long compile, and would
keep all of the compile's memory until then.

On Linux, the operating system is asked to end the child (``prctl``). kprof's own Python processes also check their
parent themselves (:func:`end_with_parent`). This check also works on other systems, and for children started by a
thread that may end before the child.
"""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from io import FileIO

NOT_FROM_HERE = "import sys; sys.path[:] = [each for each in sys.path if each]; "
"""Statement at the start of each ``python -c`` code; it removes the current folder from ``sys.path``.

Otherwise a ``json.py`` in the current folder would be imported and run.
"""

START = (
    f"{NOT_FROM_HERE}import json; sys.path[:] = json.loads(sys.argv.pop()); "
    "from importlib import import_module; import_module(sys.argv.pop(1)).main()"
)
"""Code of a worker's ``python -c``; it calls ``main()`` of a module.

The first argument is the module's name, and the last argument is the list of folders to import from, as JSON.
"""

EVERY = 1.0
"""Seconds between two checks of the parent."""
_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int | None = None, *, every: float = EVERY) -> None:
    """Kill this process as soon as its parent has ended.

    A thread checks the parent. The thread also runs during a compile, because compilers release Python's lock. Python
    3.12 cannot start a thread in a fork of a process that is exiting. Such a fork asks Linux to end it instead, see
    :func:`tied_to`.

    Args:
        parent: ID of the process that started this one and may have ended meanwhile; by default the current parent.
        every: seconds between two checks.
    """
    known = os.getppid() if parent is None else parent

    def look() -> None:
        while os.getppid() == known:
            time.sleep(every)
        os.kill(os.getpid(), signal.SIGKILL)

    try:
        threading.Thread(target=look, name="kprof-parent", daemon=True).start()
    except RuntimeError:
        tie = tied_to(known)
        if tie is None:
            raise
        tie()


def fork() -> int:
    """Fork like :func:`os.fork`, but also while the interpreter exits, when Python 3.12 refuses to fork.

    Such a fork is safe, as in other Python versions, because the threads that the program waited for have ended.

    Returns:
        0 in the child, the child's process ID in the parent.

    Raises:
        OSError: the system cannot create another process.
    """
    try:
        return os.fork()
    except RuntimeError as error:
        if "interpreter shutdown" not in str(error):
            raise
    import ctypes

    python = ctypes.PyDLL(None, use_errno=True)
    python.PyOS_BeforeFork()
    process: int = python.fork()
    if process == 0:
        python.PyOS_AfterFork_Child()
        return 0
    number = ctypes.get_errno()
    python.PyOS_AfterFork_Parent()
    if process < 0:
        raise OSError(number, os.strerror(number))
    return process


def own_streams(log: int | None = None) -> "tuple[FileIO, FileIO]":
    """Reserve standard input and output for a worker's messages, and redirect text that libraries print.

    Args:
        log: descriptor that receives printed output from now on; with ``None`` the output is discarded.

    Returns:
        The stream of requests and the stream of answers, both unbuffered. Standard input is empty from now on.
    """
    source = os.fdopen(os.dup(0), "rb", buffering=0)
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null if log is None else log, 1)
    if log is None:
        os.dup2(null, 2)
    os.close(null)
    return source, answers


def popen(command: Sequence[str], **options: Any) -> "subprocess.Popen[Any]":
    """Start a process that ends with this one; otherwise like :class:`subprocess.Popen`.

    A child that is started by another thread than the main one survives this process, because the Linux kernel would
    end it together with that thread. Such a child has to call :func:`end_with_parent`.

    Raises:
        OSError: the program does not exist or cannot be run.
    """
    tied = threading.current_thread() is threading.main_thread()
    return subprocess.Popen(list(command), preexec_fn=tied_to(os.getpid()) if tied else None, **options)  # noqa: PLW1509 - one call


def run(command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[Any]":
    """Run a program to its end, like :func:`subprocess.run`; the program also ends with this process.

    Raises:
        OSError: the program does not exist or cannot be run.
        subprocess.TimeoutExpired: the program took longer than ``timeout`` and was ended.
    """
    # The calling thread may be any thread, because it waits for the program and therefore cannot end before it.
    return subprocess.run(list(command), preexec_fn=tied_to(os.getpid()), **options)  # noqa: PLW1510 - the caller's check


def encoded_path(path: Sequence[str]) -> str:
    """Encode the folders to import from as the last argument of :data:`START`."""
    return json.dumps(list(path))


def module_path() -> list[str]:
    """Return ``sys.path`` with absolute folders, for a worker whose working directory may differ."""
    return [str(Path(entry or ".").absolute()) for entry in sys.path]


class PythonWorker:
    """A Python interpreter that runs ``main()`` of one of kprof's modules.

    Requests go to its standard input, answers come from its standard output. The worker runs in a session of its own:
    Ctrl-C in the terminal reaches only this process, which then ends its workers itself.

    Args:
        module: module whose ``main()`` is run. If a thread starts the worker, ``main()`` has to call
            :func:`end_with_parent`.
        arguments: the worker's ``sys.argv[1:]``.
        path: the worker's ``sys.path``; by default this process's.
        environment: the worker's environment variables; by default this process's.
        flags: options of the interpreter.
        log: whether to keep the worker's standard error for :meth:`printed`.

    Raises:
        OSError: the worker cannot be started.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        path: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
        flags: Sequence[str] = (),
        log: bool = False,
    ) -> None:
        # Append mode writes after the current end of the file, so a worker that truncates its log leaves no hole in it.
        self._log: IO[bytes] | None = tempfile.TemporaryFile("a+b", buffering=0) if log else None  # noqa: SIM115
        imports = encoded_path(module_path() if path is None else path)
        self.process: subprocess.Popen[bytes] = popen(
            [sys.executable, *flags, "-c", START, module, *arguments, imports],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if self._log is None else self._log,
            env=None if environment is None else dict(environment),
            bufsize=0,
            start_new_session=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout
        self._lines = io.BufferedReader(cast("io.RawIOBase", self.stdout))

    def line(self) -> bytes:
        """Return the next line of the worker's answers, or nothing if the worker has ended."""
        return self._lines.readline()

    @property
    def alive(self) -> bool:
        """Whether the worker is still running."""
        return self.process.poll() is None

    def kill(self) -> None:
        """Kill the worker and its own workers.

        A reader that waits for an answer gets the end of the stream.
        """
        with contextlib.suppress(OSError):
            self.process.kill()

    def end(self, patience: float = 0.0) -> int:
        """End the worker, wait for it and close its streams; return its exit status, negative for a signal.

        Args:
            patience: seconds that the worker has to end by itself once its input is closed.
        """
        if patience:
            with contextlib.suppress(OSError):
                self.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=patience)
        self.kill()
        status = self.process.wait()
        # Closing the reader waits for a thread that still reads, so that the thread never reads a reused descriptor.
        for stream in (self.stdin, self._lines, self._log):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return status

    def printed(self, most: int = 1 << 16) -> str:
        """Return the last ``most`` bytes that the worker printed on standard error; empty after :meth:`end`."""
        if self._log is None or self._log.closed:
            return ""
        descriptor = self._log.fileno()
        size = os.fstat(descriptor).st_size
        return os.pread(descriptor, most, max(0, size - most)).decode(errors="replace").strip()


def ending(status: int) -> str:
    """Return an exit status in words: ``exit status 3`` or ``signal 9 (SIGKILL)``."""
    if status >= 0:
        return f"exit status {status}"
    names = {known.value: known.name for known in signal.Signals}
    return f"signal {-status} ({names.get(-status, 'unknown')})"


def tied_to(parent: int) -> Callable[[], None] | None:
    """Return a function with which a child asks Linux to kill it when its parent ends; ``None`` on other systems.

    Everything that the function needs is created in advance, since the child calls it between the fork and the start of
    its program.

    Args:
        parent: process ID of the parent as the child sees it; 0 if the parent is outside of the child's PID namespace.
    """
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    control = ctypes.CDLL(None).prctl
    death, kill = _PR_SET_PDEATHSIG, int(signal.SIGKILL)

    def tie() -> None:
        control(death, kill, 0, 0, 0)
        # If the parent ended before prctl was called, Linux never kills this child, so it has to exit now.
        if os.getppid() != parent:
            os._exit(1)

    return tie
