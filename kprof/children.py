"""The one way in which kprof starts a process: it ends with the process that started it, however that ends.

Workers are in sessions of their own, so that Ctrl-C in a terminal is not for them. Then neither a closed terminal nor
the end of a parent that was killed ends them, and a worker in the middle of a long compile would only notice when it
is done, with all the memory that the compile takes.

On Linux the kernel is asked to end the child. Python processes of kprof's own look for themselves besides
(:func:`end_with_parent`): that holds on other systems, and where a thread starts the child that may end before it.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from io import FileIO

NOT_FROM_HERE = "import sys; sys.path[:] = [each for each in sys.path if each]; "
"""Begins the text of each ``python -c``: else a ``json.py`` in the current folder would be imported, and so run."""

EVERY = 1.0
"""Seconds between two looks."""
_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int | None = None, *, every: float = EVERY) -> None:
    """Kill this process as soon as its parent is another one.

    A thread looks; compilers let it run, as they give Python's lock back while they work.

    Args:
        parent: process that started this one, which may have ended meanwhile; by default whose child this one is now.
        every: seconds between two looks.
    """
    known = os.getppid() if parent is None else parent

    def look() -> None:
        while os.getppid() == known:
            time.sleep(every)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=look, name="kprof-parent", daemon=True).start()


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
