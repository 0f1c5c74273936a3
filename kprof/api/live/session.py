"""``kprof.Session``: answers queries in worker processes that keep all imports loaded."""

import contextlib
import json
import os
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof import errors
from kprof.api.live.questions import QUESTIONS
from kprof.children import PythonWorker
from kprof.compiler.installations import normalise, provide
from kprof.compiler.wire import exchange
from kprof.errors import KprofError, near
from kprof.importing.dependencies import Stamp, stale

if TYPE_CHECKING:
    from typing_extensions import Self

KEPT = 512
"""Maximum number of cached answers."""

RECYCLE = 200
"""Number of queries after which a process is replaced, so that memory leaks of libraries do not add up."""

MEMORY = 12 << 30
"""Default limit of a process's address space in bytes; Triton and torch together map about 4 GB."""

_TELL_ADVICE = frozenset({"analyze", "report", "joined_report"})
"""Queries whose answers contain the advice of earlier searches."""


class Question(Future[dict[str, Any]]):
    """The future of a submitted query; its result consists of JSON values.

    ``cancel`` also works while the query runs: its process is killed and replaced.

    Attributes:
        files: files that the answer or error depends on, each with its size and time stamp at that moment; set with the
            answer.
    """

    def __init__(self, name: str, arguments: Mapping[str, Any], seconds: float) -> None:
        super().__init__()
        self.name, self.arguments, self.seconds = name, arguments, seconds
        # Relative paths are resolved in the folder in which the query was submitted.
        self.folder = str(Path.cwd())
        self.files: Mapping[str, Stamp] = {}
        self._stop: PythonWorker | None = None
        self._given_up = False
        self._guard = threading.Lock()

    def cancel(self) -> bool:
        """Cancel the query; return ``False`` if it is answered already."""
        if super().cancel():
            return True
        with self._guard:
            if self.done():
                return False
            self._given_up = True
            if self._stop is not None:
                self._stop.kill()
        return True

    def begin(self, process: PythonWorker) -> bool:
        """Record the process that works on the query; return ``False`` if the query was cancelled already."""
        with self._guard:
            self._stop = process
            return not self._given_up

    @property
    def given_up(self) -> bool:
        """Whether the caller has cancelled the query."""
        return self._given_up


class Session:
    """A pool of processes that answers queries in parallel until it is closed. No GPU is used.

    Answers are cached until a file that they depend on changes.

    Args:
        jobs: number of processes; 0 for one per core, at most 4.
        timeout: time limit of a query in seconds.
        memory: limit of each process's address space in bytes; 0 for no limit.
        triton: Triton release to compile with, installed as by ``kprof diff --triton``; ``installed`` is the one that
            this Python imports.
        warm: start all processes and their compilers immediately, and replace a used process before the next query, so
            that no query waits for imports.

    Raises:
        KprofError: the Triton release cannot be installed.

    Example:
        >>> with kprof.Session() as session:
        ...     asked = [session.submit("analyze", target="gemm", config={"BLOCK_M": m}) for m in (64, 128)]
        ...     for answer in concurrent.futures.as_completed(asked):
        ...         print(answer.result()["summary"])
    """

    def __init__(
        self,
        *,
        jobs: int = 0,
        timeout: float = 300.0,
        memory: int = MEMORY,
        triton: str = "installed",
        warm: bool = False,
    ) -> None:
        self.timeout, self.memory, self._warm = timeout, memory, warm
        self._environment = provide(normalise(triton))
        self._waiting: queue.Queue[Question | None] = queue.Queue()
        self._kept: OrderedDict[str, tuple[str, dict[str, Stamp]]] = OrderedDict()
        self._guard = threading.Lock()
        self._closed = False
        self._running: set[Question] = set()
        count = jobs or max(1, min(4, os.cpu_count() or 1))
        self._threads = [threading.Thread(target=self._work, name=f"kprof-{n}", daemon=True) for n in range(count)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, question: str, /, *, seconds: float | None = None, **arguments: Any) -> Question:
        """Submit a query to the processes and return a future, whose ``result()`` waits for the answer.

        Args:
            question: function to call: ``analyze``, ``report``, ``compare``, ``advise``, ``rank``, ``occupancy``,
                ``explain_rule``, ``kernels``, ``capture``, ``knobs``, ``listing``, ``difference`` or ``wavefronts``.
            seconds: time limit; by default the session's.
            arguments: keyword arguments of that function, as JSON values.

        Raises:
            KprofError: the function is unknown, an argument is not a JSON value, or the session is closed.
        """
        if question not in QUESTIONS:
            raise KprofError(
                f"no question {question!r}{near(question, QUESTIONS)}", hint=f"there are {', '.join(QUESTIONS)}"
            )
        asked = Question(question, arguments, self.timeout if seconds is None else seconds)
        known = self._recall(_key(asked))
        with self._guard:
            if self._closed:
                raise KprofError("the session is closed")
            if known is None:
                self._waiting.put(asked)
        if known is not None:
            answer, asked.files = known
            asked.set_result(json.loads(answer))
        return asked

    def ask(self, question: str, /, *, seconds: float | None = None, **arguments: Any) -> dict[str, Any]:
        """Submit a query and wait for its answer.

        Raises:
            KprofError: the query fails, takes too long, or its process dies.
        """
        return self.submit(question, seconds=seconds, **arguments).result()

    def close(self) -> None:
        """End all processes and cancel unanswered queries."""
        with self._guard:
            self._closed = True
        with contextlib.suppress(queue.Empty):
            while (left := self._waiting.get_nowait()) is not None:
                left.cancel()
        for _ in self._threads:
            self._waiting.put(None)
        with self._guard:
            running = list(self._running)
        for asked in running:
            asked.cancel()
        for thread in self._threads:
            thread.join()

    def _recall(self, key: str) -> tuple[str, dict[str, Stamp]] | None:
        with self._guard:
            found = self._kept.get(key)
        return None if found is None or stale(found[1]) else found

    def _work(self) -> None:
        """Answer queries in this thread with one process, started at the first query, or immediately if ``warm``."""
        process: PythonWorker | None = self._ready(None)
        served = 0
        while (asked := self._waiting.get()) is not None:
            if not asked.set_running_or_notify_cancel():
                continue
            with self._guard:
                self._running.add(asked)
            try:
                if process is None or not process.alive or served >= RECYCLE:
                    if process is not None:
                        process.end()
                    process, served = self._started(), 0
                served += 1
                process = self._answer(asked, process)
            except OSError as error:
                # No memory or process is available now; the next query tries again.
                process = None
                asked.set_exception(KprofError(f"no process for {asked.name}: {error.strerror or error}"))
            with self._guard:
                self._running.discard(asked)
            if process is None or served >= RECYCLE:
                process, served = self._ready(process), 0
        if process is not None:
            process.end()

    def _ready(self, process: PythonWorker | None) -> PythonWorker | None:
        """End a process, and in a warm session start and return its replacement; otherwise return ``None``."""
        if process is not None:
            process.end()
        if not self._warm or self._closed:
            return None
        with contextlib.suppress(OSError):
            return self._started()
        # A failure to start is not reported here, because the next query starts a process again and reports the error.
        return None

    def _started(self) -> PythonWorker:
        return PythonWorker(
            "kprof.api.live.worker",
            str(self.memory),
            "warm" if self._warm else "cold",
            path=self._environment.module_path,
        )

    def _answer(self, asked: Question, process: PythonWorker) -> PythonWorker | None:
        """Answer a query with a process; return the process, or ``None`` if it died."""
        for _ in range(2):
            if not asked.begin(process):
                asked.set_exception(CancelledError())
                return process
            reply = _exchange(process, asked)
            if reply.get("kind") != "stale":
                break
            process.end()
            process = self._started()
        asked.files = {path: (size, changed) for path, size, changed in reply.get("files", ())}
        if reply["kind"] == "answer":
            if asked.name == "advise":
                self._forget_unadvised()
            if reply["keep"]:
                self._keep(_key(asked), json.dumps(reply["answer"]), asked.files)
            asked.set_result(reply["answer"])
        elif reply["kind"] == "error":
            kind = getattr(errors, reply["type"], KprofError)
            asked.set_exception(kind(**reply["error"]))
        else:
            process.end()
            asked.set_exception(CancelledError() if asked.given_up else KprofError(reply["why"]))
            return None
        return process

    def _forget_unadvised(self) -> None:
        """Discard cached reports after a search, because new reports include the search's results."""
        with self._guard:
            for key in [key for key in self._kept if json.loads(key)[0] in _TELL_ADVICE]:
                del self._kept[key]

    def _keep(self, key: str, answer: str, files: Mapping[str, Stamp]) -> None:
        """Cache an answer as text, so that a caller who changes the returned objects does not change the cache."""
        with self._guard:
            self._kept[key] = (answer, dict(files))
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)


def _key(asked: Question) -> str:
    try:
        return json.dumps([asked.name, asked.arguments, asked.folder], sort_keys=True)
    except (TypeError, ValueError) as error:
        raise KprofError(f"an argument of {asked.name} is not a JSON value: {error}") from None


def _exchange(process: PythonWorker, asked: Question) -> dict[str, Any]:
    """Send a query and wait for the reply; return a reply of kind ``lost`` if the process dies or is too slow."""
    late = threading.Timer(asked.seconds, process.kill)
    began = time.monotonic()
    late.start()
    try:
        reply = exchange(process, {"question": asked.name, "arguments": asked.arguments, "folder": asked.folder})
    except ValueError:
        reply = None
    finally:
        late.cancel()
        late.join()
    if reply is not None:
        return reply
    if time.monotonic() - began >= asked.seconds:
        return {"kind": "lost", "why": f"{asked.name} took longer than {asked.seconds:g} s"}
    return {"kind": "lost", "why": f"the process that answered {asked.name} died: exit status {process.end()}"}
