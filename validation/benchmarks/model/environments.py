"""Compile with another Triton than this Python's, in the environments that kprof creates for ``kprof diff``.

Triton 3.4 and later compile in kprof's own workers, which a child process with that Triton starts
(:mod:`validation.benchmarks.model.elsewhere`). kprof does not support 3.0 to 3.3; a small driver returns their code
(:mod:`validation.benchmarks.model.older`).
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.compiler.child import Child
    from kprof.compiler.installations import Environment
    from kprof.compiler.request import Compiled, CompileOutcome, CompileRequest

OLDEST, SUPPORTED, NEW_STAGES = (3, 0), (3, 4), (3, 2)
"""First release whose wheel has the AMD backend, first that kprof compiles with, first in which ``num_stages`` of 2
means a software pipeline for AMD: before, 0 did, and every other number meant none."""
_LAST = {(3, 3): 1, (3, 5): 1, (3, 7): 1}
"""Last patch release by minor version, for minor versions that have patch releases."""
_OLDER = "validation.benchmarks.model.older"
_HERE = Path(__file__).parent


def numbers_of(release: str) -> tuple[int, int]:
    """Return major and minor version."""
    major, minor = release.split(".")[:2]
    return int(major), int(minor)


def name_of(numbers: tuple[int, int]) -> str:
    """Return the last release of a minor version: (3, 5) is 3.5.1."""
    return f"{numbers[0]}.{numbers[1]}.{_LAST.get(numbers, 0)}"


@cache
def missing(release: str) -> str:
    """Return why a release is not available, or "" if it is; this may query the package index."""
    from kprof.errors import KprofError

    if numbers_of(release) < OLDEST:
        return f"Triton {release} has no AMD backend in its wheel"
    try:
        _environment(release)
    except KprofError as error:
        return " ".join(filter(None, (error.message, error.hint)))
    return ""


def switches(release: str) -> dict[str, str]:
    """Return environment switches of a compile for defaults that a release has and this Python's Triton lacks."""
    from kprof.compiler.versions import buffer_ops_default, installed

    if not release:
        return {}
    wanted = buffer_ops_default(numbers_of(release))
    return {} if wanted == buffer_ops_default(installed().numbers) else {"AMDGCN_USE_BUFFER_OPS": str(int(wanted))}


def compile_with(
    release: str, requests: "Sequence[CompileRequest]", jobs: int, timeout: float
) -> "Iterator[CompileOutcome]":
    """Compile with a release; yield outcomes as they finish, each with the ``index`` of its request.

    Args:
        release: a release such as ``3.0.0``; empty for this Python's.
        requests: compile requests.
        jobs: number of processes.
        timeout: seconds for one compile.
    """
    from kprof.compiler.compile import compile_many

    if not requests:
        return
    if not release or _environment(release).folder is None:
        yield from compile_many(requests, jobs, timeout=timeout)
    elif numbers_of(release) >= SUPPORTED:
        yield from _elsewhere(release, requests, jobs, timeout)
    else:
        older = _Older(release, timeout)
        with ThreadPoolExecutor(jobs) as threads:
            try:
                for index, outcome in enumerate(threads.map(older.compile, requests)):
                    yield replace(outcome, index=index)
            finally:
                older.close()


def _environment(release: str) -> "Environment":
    from kprof.compiler.installations import provide

    return provide(release, tell=print)


def _elsewhere(
    release: str, requests: "Sequence[CompileRequest]", jobs: int, timeout: float
) -> "Iterator[CompileOutcome]":
    from kprof.compiler.child import Child
    from kprof.compiler.request import CompileOutcome
    from kprof.errors import KprofError

    waiting = set(range(len(requests)))
    question = {"requests": [one.to_json() for one in requests], "jobs": jobs, "timeout": timeout}
    try:
        with Child(_environment(release), "validation.benchmarks.model.elsewhere") as child:
            for answer in child.ask(question):
                request = requests[answer["index"]]
                compiled = _compiled(request, release, answer) if "stages" in answer else None
                waiting.discard(answer["index"])
                yield CompileOutcome(request, answer["index"], compiled, answer["status"], answer.get("error"))
    except KprofError as error:
        reason = " ".join(filter(None, (error.message, error.hint)))
        for index in sorted(waiting):
            yield CompileOutcome(requests[index], index, status="crashed", error=reason)


def _compiled(request: "CompileRequest", release: str, answer: Mapping[str, Any]) -> "Compiled":
    from kprof.compiler.request import Compiled

    return Compiled(
        request,
        answer["stages"],
        answer["metadata"],
        release,
        answer.get("seconds", 0.0),
        answer.get("cached", False),
        request.key,
        answer.get("line"),
    )


class _Older:
    """Processes with one of the releases before 3.4, one per requesting thread, and a cache of their results."""

    def __init__(self, release: str, timeout: float) -> None:
        self.release = release
        self.timeout = timeout
        self._own = threading.local()
        self._children: list[Child] = []

    def close(self) -> None:
        """End the processes."""
        for child in self._children:
            child.close()

    def compile(self, request: "CompileRequest") -> "CompileOutcome":
        """Return the result of one compile, from the cache if possible."""
        from kprof.compiler.request import CompileOutcome
        from kprof.errors import KprofError

        asked = in_words_of(self.release, request)
        known = _recall(self.release, asked)
        if known is not None:
            return CompileOutcome(request, compiled=_compiled(request, self.release, {**known, "cached": True}))
        child = self._child()
        late = threading.Event()
        timer = threading.Timer(self.timeout, lambda: (late.set(), child.kill()))
        timer.start()
        try:
            (answer,) = child.ask(asked.to_json())
        except KprofError as error:
            self._own.child = None if late.is_set() or "ended (exit" in error.message else child
            status, reason = "failed", error.message
            if late.is_set():
                status, reason = "timeout", f"took longer than {self.timeout:g} s"
            return CompileOutcome(request, status=status, error=reason)
        finally:
            timer.cancel()
        _remember(self.release, asked, answer)
        return CompileOutcome(request, compiled=_compiled(request, self.release, answer))

    def _child(self) -> "Child":
        from kprof.compiler.child import Child

        child: Child | None = getattr(self._own, "child", None)
        if child is None:
            child = self._own.child = Child(_environment(self.release), _OLDER)
            self._children.append(child)
        return child


def in_words_of(release: str, request: "CompileRequest") -> "CompileRequest":
    """Return a request in which ``num_stages`` means a pipeline in a release before 3.2."""
    stages = request.options.get("num_stages", 2)
    if numbers_of(release) >= NEW_STAGES or stages == 1:
        return request
    return replace(request, options={**request.options, "num_stages": 0})


def _key(release: str, request: "CompileRequest") -> str:
    """Return everything that determines the code: the kernels' files and the driver."""
    from kprof.cache.keys import key

    return key(release, request.to_json(), Path(request.path).read_text(encoding="utf-8"), _driver())


@cache
def _driver() -> str:
    return (_HERE / "older.py").read_text(encoding="utf-8")


def _recall(release: str, request: "CompileRequest") -> dict[str, Any] | None:
    found = _section().read_json(_key(release, request))
    return found if isinstance(found, dict) else None


def _remember(release: str, request: "CompileRequest", answer: Mapping[str, Any]) -> None:
    _section().write_json(_key(release, request), dict(answer))


def _section() -> Any:
    from kprof.cache.entries import CacheSection

    return CacheSection("compiled-by-older")
