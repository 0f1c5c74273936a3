"""Compiling beside the recorded program: in forked processes, which know every function as the program has it.

A fork needs no import and no file: closures, functions made at run time and patched globals are all there. Where the
compiler aborts, only the fork dies.
"""

import contextlib
import mmap
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kprof.cache.locks import lock, try_lock
from kprof.captures import layout
from kprof.children import end_with_parent, fork
from kprof.recording import compile_results
from kprof.recording.settings import Settings
from kprof.recording.ticket import Ticket

_STAGE_BYTES = 64
_WAITING_PER_JOB = 2
_TELL_SECONDS = 10.0
_DISK = 100
"""Exit status of a compile whose result could not be written: this plus the error's number."""


class Compiler:
    """The compiles of one process, ``settings.jobs`` at a time over all processes of the capture.

    Where the program only runs to make launches again, what nothing waits for is not compiled: a search needs the CPUs.
    """

    forking = False
    """Whether this process is being forked for a compile; what runs at a fork must then do nothing."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.root = Path(settings.folder)
        self.disk_error: OSError | None = None
        self._running: list[Ticket] = []
        self._waiting: list[Ticket] = []

    def ask(
        self, identifier: str, name: str, make: Callable[[Callable[[str], None]], Any], *, later: bool = False
    ) -> Ticket:
        """Have a kernel compiled, unless a result is there.

        Args:
            identifier: of the specialisation.
            name: of the kernel.
            make: compiles; is told where to report each stage; gives a :class:`kprof.compiler.request.Compiled` or
                raises a :class:`kprof.errors.KprofError`.
            later: nothing waits for it: it is begun when there is a place, see :meth:`advance`.
        """
        ticket = Ticket(identifier, name, self.root / layout.KERNELS / identifier, make=make)
        if (ticket.folder / layout.RESULT).is_file() or compile_results.from_cache(
            self.settings, ticket.id, ticket.folder
        ):
            return ticket
        known = next((other for other in self._waiting if other.id == identifier), None)
        if later or self.settings.again:
            if known is None:
                self._waiting.append(ticket)
                self.advance()
            return known or ticket
        if known is not None:
            self._waiting.remove(known)
        self._reap(block=len(self._running) >= _WAITING_PER_JOB * self.settings.jobs)
        self._begin(known or ticket)
        return known or ticket

    def advance(self) -> None:
        """Begin queued compiles, as far as there are places."""
        if not self._waiting or self.settings.again:
            return
        self._reap(block=False)
        while self._waiting and len(self._running) < self.settings.jobs:
            following = min(self._waiting, key=lambda ticket: ticket.rank)
            self._waiting.remove(following)
            self._begin(following)

    def _begin(self, ticket: Ticket) -> None:
        """Fork the process that compiles."""
        make, ticket.make = ticket.make, None
        assert make is not None
        ticket.stage = mmap.mmap(-1, _STAGE_BYTES)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        Compiler.forking = True
        parent = os.getpid()
        try:
            with warnings.catch_warnings():
                # The fork does nothing but compile: other threads' locks do not matter to it.
                warnings.simplefilter("ignore", DeprecationWarning)
                ticket.pid = fork()
        finally:
            if ticket.pid:
                Compiler.forking = False
        if ticket.pid == 0:
            end_with_parent(parent)
            self._compile(ticket, make)
        self._running.append(ticket)

    def wait(self, ticket: Ticket) -> None:
        """Come back when there is a result."""
        if ticket.make is not None and not (ticket.folder / layout.RESULT).is_file():
            # Its turn is now; in a copy of the process that asked, too, which has no list of what waits.
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            self._begin(ticket)
        if ticket in self._running:
            self._finish(ticket, 0)
        elif ticket.pid:
            # Asked for by the process that this one is a copy of.
            while not (ticket.folder / layout.RESULT).is_file() and _lives(ticket.pid):
                time.sleep(0.02)

    @property
    def unfinished(self) -> int:
        """Compiles that have no result yet."""
        self._reap(block=False)
        return len(self._running) + len(self._waiting)

    def finish(self, tell: Callable[[int, int], None] = lambda _done, _all: None, seconds: float | None = None) -> None:
        """Wait for everything that was asked for.

        Args:
            tell: is told from time to time how many compiles are done since, and of how many.
            seconds: after them nothing is begun that nothing waits for; ``None``: no limit.
        """
        if self.settings.again:
            self._waiting.clear()
        everything, began = self.unfinished, time.monotonic()
        reported = began
        while self._running or self._waiting:
            if seconds is not None and time.monotonic() - began >= seconds:
                self._waiting.clear()
            self.advance()
            self._reap(block=True)
            if time.monotonic() - reported >= _TELL_SECONDS:
                reported = time.monotonic()
                tell(everything - len(self._running) - len(self._waiting), everything)

    def abandon(self) -> None:
        """End what is still being compiled; what is queued is not begun."""
        self._waiting.clear()
        for ticket in self._running:
            with contextlib.suppress(OSError):
                os.kill(ticket.pid, signal.SIGKILL)
        for ticket in self._running:
            with contextlib.suppress(OSError):
                os.waitpid(ticket.pid, 0)
            compile_results.discard(ticket.folder, ticket.pid)
        self._running.clear()

    def _reap(self, *, block: bool) -> None:
        """Take note of what has ended; with ``block``, of one more at least."""
        ended = [ticket for ticket in self._running if self._finish(ticket, os.WNOHANG)]
        while block and not ended and self._running:
            # There is no wait for several processes that leaves the program's own children alone.
            time.sleep(0.005)
            ended = [ticket for ticket in self._running if self._finish(ticket, os.WNOHANG)]

    def _finish(self, ticket: Ticket, flags: int) -> bool:
        try:
            pid, status = os.waitpid(ticket.pid, flags)
        except InterruptedError:
            return False
        except ChildProcessError:
            # Someone else has waited for it.
            pid, status = ticket.pid, 0
        if pid == 0:
            return False
        self._running.remove(ticket)
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0
        if code > _DISK:
            self.disk_error = OSError(code - _DISK, os.strerror(code - _DISK))
        if not (ticket.folder / layout.RESULT).is_file():
            stage = bytes(ticket.stage[:_STAGE_BYTES]).rstrip(b"\0").decode(errors="replace")
            compile_results.write_death(self.settings, ticket, status, stage or None)
        if ticket.stage is not None:
            ticket.stage.close()
        return True

    def _compile(self, ticket: Ticket, make: Callable[[Callable[[str], None]], Any]) -> None:
        """The fork's whole life."""
        code = 1
        try:
            code = _Fork(self.settings, ticket).run(make)
        except OSError as error:
            code = _DISK + (error.errno or 0)
        except BaseException as error:  # noqa: BLE001  # nothing of the program's may run in the fork
            with contextlib.suppress(BaseException):
                compile_results.write_accident(self.settings, ticket, error)
                code = 0
        finally:
            os._exit(code)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


class _Fork:
    """Inside the process that compiles."""

    def __init__(self, settings: Settings, ticket: Ticket) -> None:
        self.settings = settings
        self.ticket = ticket

    def run(self, make: Callable[[Callable[[str], None]], Any]) -> int:
        import gc

        gc.disable()
        sys.setprofile(None)
        sys.settrace(None)
        for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD, signal.SIGABRT, signal.SIGSEGV):
            signal.signal(number, signal.SIG_DFL)
        # Ctrl-C is for the program, which then ends its compiles itself.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        log = compile_results.log_path(self.ticket.folder, os.getpid())
        log.parent.mkdir(parents=True, exist_ok=True)
        null = os.open(os.devnull, os.O_RDONLY)
        printed = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(null, 0)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        with self._slot(), self._alone():
            if (self.ticket.folder / layout.RESULT).is_file():
                return 0
            signal.setitimer(signal.ITIMER_REAL, self.settings.timeout)
            compile_results.write(self.settings, self.ticket, make, self._stage, printed)
        return 0

    def _stage(self, name: str) -> None:
        data = name.encode()[:_STAGE_BYTES]
        self.ticket.stage[:_STAGE_BYTES] = data.ljust(_STAGE_BYTES, b"\0")

    @contextlib.contextmanager
    def _slot(self) -> Iterator[None]:
        """One of the capture's places to compile in; they are given back when the process ends, however it does."""
        folder = self._work_folder()
        jobs = self.settings.jobs
        first = os.getpid() % jobs
        for index in (*range(first, jobs), *range(first)):
            slot = os.open(folder / f"slot-{index}", os.O_RDWR | os.O_CREAT, 0o600)
            if not try_lock(slot):
                os.close(slot)
                continue
            yield
            return
        slot = os.open(folder / f"slot-{first}", os.O_RDWR | os.O_CREAT, 0o600)
        lock(slot)
        yield

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process of the capture compiles the same kernel meanwhile."""
        lock(os.open(self._work_folder() / f"{self.ticket.id}.lock", os.O_RDWR | os.O_CREAT, 0o600))
        yield

    def _work_folder(self) -> Path:
        folder = Path(self.settings.folder) / layout.WORK
        folder.mkdir(parents=True, exist_ok=True)
        return folder
