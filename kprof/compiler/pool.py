"""Worker processes that compile one request at a time, and may die without affecting other requests.

A worker's death becomes the outcome of its request; a new worker replaces it, and the other requests continue.
"""

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof import children
from kprof.children import PythonWorker
from kprof.compiler.compiled_cache import lookup
from kprof.compiler.defaults import TIMEOUT, default_jobs
from kprof.compiler.encoding import load_compiled, load_failure
from kprof.compiler.request import CompileOutcome, CompileRequest
from kprof.compiler.wire import pack, unpack
from kprof.output import progress as watching

RECYCLE = 500
"""Number of requests after which a worker is replaced, to limit memory leaked by the compiler."""

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class Finish:
    """A function that the worker calls with the compiled kernel, to return its result instead of the compiled stages.

    Attributes:
        function: ``module:function``, imported in the worker and called with the
            :class:`~kprof.compiler.request.Compiled` and the argument. Its result must consist of JSON values.
        argument: returns the function's argument, also JSON values, for the index of a request.
    """

    function: str
    argument: Callable[[int], Any]


@dataclass(eq=False)
class Worker:
    """A worker process and its current request."""

    process: PythonWorker
    buffer: bytearray = field(default_factory=bytearray)
    request: CompileRequest | None = None
    index: int = 0
    started: float = 0.0
    stage: str | None = None
    cache: Path | None = None
    finish: Finish | None = None
    served: int = 0


class Pool:
    """Workers that live as long as the pool, so each imports Triton only once.

    Args:
        jobs: maximum number of workers; by default the CPUs of this process.
        timeout: maximum seconds per compile.
    """

    def __init__(self, jobs: int | None = None, timeout: float = TIMEOUT) -> None:
        self.jobs = jobs or default_jobs()
        self.timeout = timeout
        self._workers: list[Worker] = []
        self._selector = selectors.DefaultSelector()
        self._progress: tuple[int, int | None] = 0, None

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers, including busy ones."""
        for worker in self._workers:
            self._drop(worker)
        self._workers.clear()

    def keep(self, most: int) -> None:
        """End idle workers beyond a number."""
        idle = [worker for worker in self._workers if worker.request is None]
        for worker in idle[most:]:
            self._discard(worker)

    def warm(self) -> None:
        """Start a worker that imports Triton before the first request. An error is reported with the first request."""
        if not self._workers:
            with contextlib.suppress(OSError):
                self._start()

    def run(
        self, requests: Iterable[CompileRequest | None], cache: Path | None = None, finish: Finish | None = None
    ) -> Iterator[CompileOutcome]:
        """Compile requests, taken one by one as workers become free; yield outcomes as they finish.

        A request of ``None`` occupies an index; it means that the next request depends on another outcome. With
        ``finish`` each outcome has an answer instead of a compiled kernel.

        Closing the iterator, or an exception such as Ctrl-C, ends the busy workers.
        """
        total = len(requests) if isinstance(requests, Sized) else None
        with contextlib.closing(self._run(requests, cache, finish)) as outcomes:
            try:
                self._progress = 0, total
                for done, outcome in enumerate(outcomes, 1):
                    watching.tell(None)
                    yield outcome
                    self._progress = done, total
            finally:
                watching.tell(None)

    def _run(
        self, requests: Iterable[CompileRequest | None], cache: Path | None, finish: Finish | None
    ) -> Generator[CompileOutcome, None, None]:
        waiting = enumerate(requests)
        more = True
        try:
            while True:
                while more and len(self._busy()) < self.jobs:
                    job = next(waiting, None)
                    if job is None:
                        more = False
                    elif job[1] is None:
                        assert self._busy(), "no request is running, so there is nothing to wait for"
                        break
                    else:
                        yield from self._give(job[0], job[1], cache, finish)
                if not self._busy() and not more:
                    return
                yield from self._collect()
        finally:
            for worker in self._busy():
                self._discard(worker)

    def _busy(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.request is not None]

    def _idle(self) -> Worker | None:
        """Return a worker that waits for a request, and drop idle workers that have ended."""
        for worker in [w for w in self._workers if w.request is None]:
            if worker.process.alive:
                return worker
            self._discard(worker)
        return None

    def _start(self) -> Worker:
        worker = Worker(PythonWorker("kprof.compiler.worker", environment=_environment(), log=True))
        self._workers.append(worker)
        self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        return worker

    def _drop(self, worker: Worker) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(worker.process.stdout)
        worker.process.end()

    def _discard(self, worker: Worker) -> None:
        self._drop(worker)
        self._workers.remove(worker)

    def _give(
        self, index: int, request: CompileRequest, cache: Path | None, finish: Finish | None
    ) -> Iterator[CompileOutcome]:
        found = lookup(request, cache) if cache and finish is None else None
        if found is not None:
            yield CompileOutcome(request, index=index, compiled=found, diagnostics=found.diagnostics)
            return
        worker = self._idle() or self._start()
        worker.request, worker.index, worker.cache, worker.finish = request, index, cache, finish
        worker.stage, worker.started = None, time.monotonic()
        # The environment and the module path may have changed since the worker was started.
        message: dict[str, Any] = {"request": request.to_json(), "cache": str(cache) if cache else None}
        message["environment"] = _environment()
        message["module_path"] = children.module_path()
        if finish is not None:
            message["finish"] = [finish.function, finish.argument(index)]
        try:
            for part in pack(message):
                worker.process.stdin.write(part)
        except OSError:
            yield self._died(worker)

    def _collect(self) -> Iterator[CompileOutcome]:
        """Wait for messages, deaths and timeouts of workers, and yield the resulting outcomes."""
        now = time.monotonic()
        deadline = min((w.started + self.timeout for w in self._busy()), default=now)
        if watching.watched():
            deadline = min(deadline, now + watching.EVERY)
        for key, _ in self._selector.select(max(0.0, deadline - now)):
            worker: Worker = key.data
            data = os.read(key.fd, 1 << 20)
            if not data:
                if worker.request is None:
                    self._discard(worker)
                else:
                    yield self._died(worker)
                continue
            worker.buffer += data
            while (frame := unpack(worker.buffer)) is not None:
                yield from self._frame(worker, *frame)
        for worker in self._busy():
            if time.monotonic() > worker.started + self.timeout:
                yield self._timed_out(worker)
        self._report_progress()

    def _report_progress(self) -> None:
        """Report the progress, if it is displayed."""
        if not watching.watched() or not (busy := self._busy()):
            return
        oldest = min(busy, key=lambda worker: worker.started)
        name = oldest.request.label if oldest.request is not None else ""
        seconds = time.monotonic() - oldest.started
        watching.tell(watching.Underway(*self._progress, name, seconds, oldest.stage))

    def _frame(self, worker: Worker, head: dict[str, Any], blobs: dict[str, str | bytes]) -> Iterator[CompileOutcome]:
        request = worker.request
        if head["kind"] == "ready":
            worker.started = time.monotonic()
        elif head["kind"] == "stage":
            worker.stage = head["stage"]
        elif request is not None and head["kind"] == "stale":
            self._discard(worker)
            yield from self._give(worker.index, request, worker.cache, worker.finish)
        elif request is not None:
            yield self._answer(worker, request, head, blobs)

    def _answer(
        self, worker: Worker, request: CompileRequest, head: dict[str, Any], blobs: dict[str, str | bytes]
    ) -> CompileOutcome:
        if head["kind"] == "compiled":
            compiled = load_compiled(request, head["compiled"], blobs, cached=head["cached"])
            outcome = CompileOutcome(request, compiled=compiled, diagnostics=compiled.diagnostics)
        elif head["kind"] == "finished":
            outcome = CompileOutcome(request, answer=head["answer"])
        else:
            outcome = load_failure(request, head, blobs)
        worker.request = None
        worker.served += 1
        if worker.served >= RECYCLE or head.get("retire"):
            self._discard(worker)
        return replace(outcome, index=worker.index, seconds=time.monotonic() - worker.started)

    def _timed_out(self, worker: Worker) -> CompileOutcome:
        return self._failed_outcome(
            worker, "timeout", f"took longer than {self.timeout:g} s{_while_making(worker.stage)}"
        )

    def _died(self, worker: Worker) -> CompileOutcome:
        code = worker.process.process.wait()
        hint = "the system may have run out of memory" if code == -signal.SIGKILL else None
        return self._failed_outcome(
            worker, "crashed", f"crashed: {children.ending(code)}{_while_making(worker.stage)}", hint
        )

    def _failed_outcome(self, worker: Worker, status: str, error: str, hint: str | None = None) -> CompileOutcome:
        request, printed = worker.request, worker.process.printed()
        assert request is not None
        outcome = CompileOutcome(
            request,
            index=worker.index,
            status=status,
            error=error,
            path=request.path,
            hint=hint or _last_line(printed),
            stage=worker.stage,
            diagnostics=printed,
            seconds=time.monotonic() - worker.started,
        )
        self._discard(worker)
        return outcome


def _environment() -> dict[str, str]:
    """Return this process's environment without Triton's interpreter switch, which prevents compiling."""
    return {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}


def _while_making(stage: str | None) -> str:
    return f" while making {stage}" if stage else ""


def _last_line(printed: str) -> str | None:
    """Return the line with LLVM's reason for aborting, which precedes the stack dump."""
    lines = [line for line in printed.splitlines() if line.startswith("LLVM ERROR") or "Assertion" in line]
    return lines[-1] if lines else None
