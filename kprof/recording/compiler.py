"""Compile kernels alongside the recorded program, in forked processes.

A fork has a copy of the program's memory, so closures, functions created at run time and patched globals are available
without an import or a file. If the compiler aborts, only the forked process dies.
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
"""Exit status of a compile whose result could not be written: this value plus the errno."""


class Compiler:
    """The compiles that one process requests; all processes of a capture together run ``settings.jobs`` at a time.

    If the program runs only to repeat launches for a search, compiles that nothing waits for are skipped, because the
    search needs the CPUs.
    """

    forking = False
    """Whether this process is being forked for a compile; fork handlers must then do nothing."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.root = Path(settings.folder)
        self.disk_error: OSError | None = None
        self._running: list[Ticket] = []
        self._waiting: list[Ticket] = []

    def ask(
        self, identifier: str, name: str, make: Callable[[Callable[[str], None]], Any], *, later: bool = False
    ) -> Ticket:
        """Request the compile of a kernel, unless its result exists. Return its ticket.

        Args:
            identifier: identifier of the specialisation.
            name: name of the kernel.
            make: compiles the kernel. It is called with a function that reports each stage, and returns a
                :class:`kprof.compiler.request.Compiled` or raises a :class:`kprof.errors.KprofError`.
            later: True if nothing waits for the result: the compile starts when a slot is free, see :meth:`advance`.
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
        """Start queued compiles while there are free slots."""
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
                # The fork only compiles, so locks held by other threads do not matter to it.
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
        """Wait until the result of a compile exists."""
        if ticket.make is not None and not (ticket.folder / layout.RESULT).is_file():
            # Start the compile now. This also works in a fork of the requesting process, whose own queue is empty.
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            self._begin(ticket)
        if ticket in self._running:
            self._finish(ticket, 0)
        elif ticket.pid:
            # The compile was started by the process from which this one was forked.
            while not (ticket.folder / layout.RESULT).is_file() and _is_alive(ticket.pid):
                time.sleep(0.02)

    @property
    def unfinished(self) -> int:
        """Number of compiles without a result."""
        self._reap(block=False)
        return len(self._running) + len(self._waiting)

    def finish(self, tell: Callable[[int, int], None] = lambda _done, _all: None, seconds: float | None = None) -> None:
        """Wait for all requested compiles.

        Args:
            tell: called periodically with the number of finished compiles and the total.
            seconds: time after which queued compiles that nothing waits for are dropped; ``None``: no limit.
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
        """Kill running compiles, and drop queued ones."""
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
        """Process the compiles that have ended; with ``block``, wait for at least one."""
        ended = [ticket for ticket in self._running if self._finish(ticket, os.WNOHANG)]
        while block and not ended and self._running:
            # No system call waits for several processes without also reaping the program's own children.
            time.sleep(0.005)
            ended = [ticket for ticket in self._running if self._finish(ticket, os.WNOHANG)]

    def _finish(self, ticket: Ticket, flags: int) -> bool:
        try:
            pid, status = os.waitpid(ticket.pid, flags)
        except InterruptedError:
            return False
        except ChildProcessError:
            # The program has already waited for this process.
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
        """Compile in the forked process and exit."""
        code = 1
        try:
            code = _Fork(self.settings, ticket).run(make)
        except OSError as error:
            code = _DISK + (error.errno or 0)
        except BaseException as error:  # noqa: BLE001  # none of the program's handlers may run in the fork
            with contextlib.suppress(BaseException):
                compile_results.write_accident(self.settings, ticket, error)
                code = 0
        finally:
            os._exit(code)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


class _Fork:
    """One compile in the forked process."""

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
        # Ctrl-C is meant for the program, which then ends its compiles itself.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        log = compile_results.log_path(self.ticket.folder, os.getpid())
        log.parent.mkdir(parents=True, exist_ok=True)
        null = os.open(os.devnull, os.O_RDONLY)
        printed = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(null, 0)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        with self._slot(), self._kernel_lock():
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
        """Hold one of the capture's compile slots, which the operating system releases when the process ends."""
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
    def _kernel_lock(self) -> Iterator[None]:
        """Hold a lock, so no other process of the capture compiles the same kernel."""
        lock(os.open(self._work_folder() / f"{self.ticket.id}.lock", os.O_RDWR | os.O_CREAT, 0o600))
        yield

    def _work_folder(self) -> Path:
        folder = Path(self.settings.folder) / layout.WORK
        folder.mkdir(parents=True, exist_ok=True)
        return folder
