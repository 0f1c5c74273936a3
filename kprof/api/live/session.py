"""``kprof.Session``: questions to kprof answered by processes that have imported all they need."""

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
"""Answers that a session remembers."""

RECYCLE = 200
"""Questions after which a process is replaced, so that nothing that libraries leak adds up."""

MEMORY = 12 << 30
"""Bytes of address space that a question may take; Triton and torch together map some 4 GB."""

_TELL_ADVICE = frozenset({"analyze", "report", "joined_report"})
"""Questions whose answers tell what a search has found before."""


class Question(Future[dict[str, Any]]):
    """A question that was asked; its result are JSON values.

    ``cancel`` ends it at once, also while it is worked on: its process is killed and another takes its place.

    Attributes:
        files: once it is answered, also by an error: the files that the answer rests on, as they were then.
    """

    def __init__(self, name: str, arguments: Mapping[str, Any], seconds: float) -> None:
        super().__init__()
        self.name, self.arguments, self.seconds = name, arguments, seconds
        # Relative paths are of where the question was asked.
        self.folder = str(Path.cwd())
        self.files: Mapping[str, Stamp] = {}
        self._stop: PythonWorker | None = None
        self._given_up = False
        self._guard = threading.Lock()

    def cancel(self) -> bool:
        """Give it up; ``False`` when it is answered already."""
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
        """Tell whose it is; ``False`` when it was given up meanwhile."""
        with self._guard:
            self._stop = process
            return not self._given_up

    @property
    def given_up(self) -> bool:
        """Whether the caller has stopped waiting for it."""
        return self._given_up


class Session:
    """Processes that answer questions, several at once, until it is closed. No GPU is used.

    An answer that was given is remembered as long as the files that it rests on are the same.

    Args:
        jobs: processes; 0 for one a core, at most 4.
        timeout: seconds that a question may take.
        memory: bytes of address space that a question may take, 0 for no limit.
        triton: release that compiles, got as ``kprof diff --triton`` gets it; ``installed`` is the running one.
        warm: start all processes and their compilers now, and replace one before the next question comes, so that none
            waits for imports.

    Raises:
        KprofError: this Triton cannot be had.

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
        """Send a question to the processes and return a future: its ``result()`` waits for the answer.

        Args:
            question: function to call: ``analyze``, ``report``, ``compare``, ``advise``, ``rank``, ``occupancy``,
                ``explain_rule``, ``kernels``, ``capture``, ``knobs``, ``listing``, ``difference`` or ``wavefronts``.
            seconds: time limit; by default the session's.
            arguments: keyword arguments of the API function of this name, as JSON values.

        Raises:
            KprofError: there is no such function, an argument is not a JSON value, or the session is closed.
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
        """Ask a question and wait for its answer.

        Raises:
            KprofError: as the function of this name in the API, or it took too long, or its process died.
        """
        return self.submit(question, seconds=seconds, **arguments).result()

    def close(self) -> None:
        """End all processes; questions without an answer are cancelled."""
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
        """One thread: it has a process while there are questions, and before them in a warm session."""
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
                # Without memory or processes for another one; the next question may have more luck.
                process = None
                asked.set_exception(KprofError(f"no process for {asked.name}: {error.strerror or error}"))
            with self._guard:
                self._running.discard(asked)
            if process is None or served >= RECYCLE:
                process, served = self._ready(process), 0
        if process is not None:
            process.end()

    def _ready(self, process: PythonWorker | None) -> PythonWorker | None:
        """In a warm session a new process in another's place, before it is asked; else none."""
        if process is not None:
            process.end()
        if not self._warm or self._closed:
            return None
        with contextlib.suppress(OSError):
            return self._started()
        # The question will be told.
        return None

    def _started(self) -> PythonWorker:
        return PythonWorker(
            "kprof.api.live.worker",
            str(self.memory),
            "warm" if self._warm else "cold",
            path=self._environment.module_path,
        )

    def _answer(self, asked: Question, process: PythonWorker) -> PythonWorker | None:
        """Get a question answered; the process, ``None`` when it did not survive that."""
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
        """A search may have found something that reports of its kernel tell from now on."""
        with self._guard:
            for key in [key for key in self._kept if json.loads(key)[0] in _TELL_ADVICE]:
                del self._kept[key]

    def _keep(self, key: str, answer: str, files: Mapping[str, Stamp]) -> None:
        """Remember an answer, as text: what a caller does to its own is its own affair."""
        with self._guard:
            self._kept[key] = (answer, dict(files))
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)


def _key(asked: Question) -> str:
    try:
        return json.dumps([asked.name, asked.arguments, asked.folder], sort_keys=True)
    except (TypeError, ValueError) as error:
        raise KprofError(f"an argument of {asked.name} is no JSON: {error}") from None


def _exchange(process: PythonWorker, asked: Question) -> dict[str, Any]:
    """Send a question and wait for the reply; of kind ``lost`` when there is none."""
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
    return {"kind": "lost", "why": f"the process that worked on {asked.name} died: exit status {process.end()}"}
