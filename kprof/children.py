"""The one way in which kprof starts a process: it ends with the process that started it, however that ends.

Workers are in sessions of their own, so that Ctrl-C in a terminal is not for them. Then neither a closed terminal nor
the end of a parent that was killed ends them, and a worker in the middle of a long compile would only notice when it
is done, with all the memory that the compile takes.

On Linux the kernel is asked to end the child. Python processes of kprof's own look for themselves besides
(:func:`end_with_parent`): that holds on other systems, and where a thread starts the child that may end before it.
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
"""Begins the text of each ``python -c``: else a ``json.py`` in the current folder would be imported, and so run."""

START = (
    f"{NOT_FROM_HERE}import json; sys.path[:] = json.loads(sys.argv.pop()); "
    "from importlib import import_module; import_module(sys.argv.pop(1)).main()"
)
"""Text of the ``python -c`` of a worker: the module's name comes first, the path to import from last."""

EVERY = 1.0
"""Seconds between two looks."""
_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int | None = None, *, every: float = EVERY) -> None:
    """Kill this process as soon as its parent is another one.

    A thread looks; compilers let it run, as they give Python's lock back while they work. Python 3.12 starts none
    in a copy of a process that is about to end: there the kernel alone is asked.

    Args:
        parent: process that started this one, which may have ended meanwhile; by default whose child this one is now.
        every: seconds between two looks.
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
    """Fork as :func:`os.fork` does, and at the end of the program too, where Python 3.12 refuses it.

    Other Pythons allow it there: the threads that the program waited for have ended.

    Returns:
        0 in the copy, else the copy's process.

    Raises:
        OSError: the system has no place for another process.
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
    """Standard input and output for a worker's messages alone: what a library prints goes elsewhere.

    Args:
        log: descriptor that gets what is printed from now on; nothing keeps it when ``None``.

    Returns:
        Where questions come from, and where answers go, both without a buffer. Standard input is empty from now on.
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
    """Start a process that ends with this one, as :class:`subprocess.Popen` does otherwise.

    Called from another thread than the main one, the kernel would end the child with that thread: then the child has to
    call :func:`end_with_parent`.

    Raises:
        OSError: there is no such program, or it cannot be run.
    """
    tied = threading.current_thread() is threading.main_thread()
    return subprocess.Popen(list(command), preexec_fn=tied_to(os.getpid()) if tied else None, **options)  # noqa: PLW1509 - one call


def run(command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[Any]":
    """Run a program to its end, as :func:`subprocess.run` does; it ends with this process.

    Raises:
        OSError: there is no such program, or it cannot be run.
        subprocess.TimeoutExpired: it took longer than ``timeout``; it has been ended.
    """
    # Whichever thread this is, it stays until the program has ended.
    return subprocess.run(list(command), preexec_fn=tied_to(os.getpid()), **options)  # noqa: PLW1510 - the caller's check


def encoded_path(path: Sequence[str]) -> str:
    """The last argument of :data:`START`: the folders to import from."""
    return json.dumps(list(path))


def module_path() -> list[str]:
    """Return ``sys.path`` with absolute folders, for a worker that may stand in another one."""
    return [str(Path(entry or ".").absolute()) for entry in sys.path]


class PythonWorker:
    """An interpreter that runs ``main()`` of one of kprof's modules.

    Questions go to its standard input, answers come from its standard output. It is in a session of its own: Ctrl-C in
    the terminal is for this process, which then ends its workers itself.

    Args:
        module: whose ``main()``; where a thread starts the worker, it has to call :func:`end_with_parent`.
        arguments: its ``sys.argv[1:]``.
        path: its ``sys.path``; by default this process's.
        environment: its environment variables; by default this process's.
        flags: options of the interpreter.
        log: keep what it prints on standard error, for :meth:`printed`.

    Raises:
        OSError: it cannot be started.
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
        # Appending keeps a worker that empties its log from leaving a hole.
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
        """Return the next line that it answers; nothing where it has ended."""
        return self._lines.readline()

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def kill(self) -> None:
        """End it at once; who waits for an answer gets the end of its output. Its own workers end with it."""
        with contextlib.suppress(OSError):
            self.process.kill()

    def end(self, patience: float = 0.0) -> int:
        """End it, wait for it and close its streams; its exit status, negative for a signal.

        Args:
            patience: seconds in which it may end by itself once its input has ended.
        """
        if patience:
            with contextlib.suppress(OSError):
                self.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=patience)
        self.kill()
        status = self.process.wait()
        # Closing the reader waits for a thread that reads from it: it must not read from the descriptor's next owner.
        for stream in (self.stdin, self._lines, self._log):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return status

    def printed(self, most: int = 1 << 16) -> str:
        """Return the end of what it printed on standard error; at most so many bytes. Nothing once it was ended."""
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
    """Return what a child calls to be killed by the kernel when its parent ends; ``None`` where there is no such call.

    Everything that the function needs is made here: the child may call it between a fork and its program.

    Args:
        parent: number of the parent as the child sees it; 0 for one outside of its namespace.
    """
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    control = ctypes.CDLL(None).prctl
    death, kill = _PR_SET_PDEATHSIG, int(signal.SIGKILL)

    def tie() -> None:
        control(death, kill, 0, 0, 0)
        # It may have ended before the kernel was asked.
        if os.getppid() != parent:
            os._exit(1)

    return tie
