"""The unit of a search: one compile with one launch of it, and what came of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kprof.cache.keys import key
from kprof.compiler.request import CompileOutcome, CompileRequest

if TYPE_CHECKING:
    from kprof.targets.jobs import TargetJob

RETRIED = frozenset({"timeout", "killed", "lost"})
"""Ends that say nothing about the configuration: another run tries it again."""

OPERATIONS = "the problem's work (millions of operations)"
"""The axis where a loop's bound is not known but the problem says how many operations it has."""


@dataclass(frozen=True)
class Judge:
    """Who scores a compiled kernel.

    Attributes:
        function: ``module:function``, called in the worker with the compiled kernel and a launch, see
            :class:`TuningTask`. It returns a mapping that :func:`answer_of` understands.
        version: changes whenever its answers may.
    """

    function: str
    version: str


@dataclass(frozen=True)
class TuningTask:
    """What a worker is asked.

    Attributes:
        key: SHA-256 of everything that the answer depends on.
        request: the compile.
        launch: ``name``, ``arch`` (a product's name where one was given), ``grid``, ``arguments``, ``problem``, the
            judge's ``version``, ``flops`` (``None``: not known), ``condition``, ``values`` and, where they are known,
            ``contents`` of tensors and ``tensor_bytes``: values of JSON.
        config: the configuration that wants it, for messages.
    """

    key: str
    request: CompileRequest
    launch: Mapping[str, Any]
    config: Mapping[str, Any] = field(default_factory=dict)


class TaskResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a task; one line of the journal.

    Attributes:
        key: the task's.
        status: ``ok``; ``unlaunchable`` (compiles, but breaks a limit of the hardware); ``failed`` (the compiler or
            the judge says no); ``crashed``, ``killed`` (signal 9), ``timeout``, ``lost`` (its machine is gone).
        reason: why not, one sentence.
        isa: hash of the code, without names, comments and debug information; the same for configurations that are
            one program.
        resources: ``vgpr``, ``vgpr_spills``, ``lds_bytes``, ``num_warps``, ``waves_per_simd``, ...
        time_us, low_us, high_us: predicted time with its bounds, microseconds.
        events_us: what of it two events around the launch add.
        cycles_per_element: where there is no time because a loop's bound is not known: cycles for each element of
            ``axis``.
        axis: what that bound depends on.
        bound: what limits it.
        shares: of the predicted time, by cause.
        assumptions: what the prediction assumed.
        seconds: compile time, as it was when it was compiled.
        cached: whether the compile came from kprof's cache.
        again: whether the same code was judged before, for the same launch.
    """

    key: str
    status: str
    reason: str | None = None
    isa: str = ""
    resources: dict[str, Any] = {}
    time_us: float | None = None
    low_us: float | None = None
    high_us: float | None = None
    events_us: float = 0.0
    cycles_per_element: float | None = None
    axis: str = ""
    bound: str = ""
    shares: dict[str, float] = {}
    assumptions: list[str] = []
    seconds: float = 0.0
    cached: bool = False
    again: bool = False

    @property
    def cost(self) -> float | None:
        """Microseconds, or cycles an element where no time is known; ``None`` without either."""
        return self.cycles_per_element if self.time_us is None else self.time_us


class Executor(Protocol):
    """Runs tasks somewhere."""

    def run(self, tasks: Iterator[TuningTask | None]) -> Iterator[TaskResult]:
        """Answers as they come; tasks are taken one by one as workers become free.

        ``None`` instead of a task: ask again after the next answer. It comes only while something is being worked on.

        Closing the iterator, or an exception such as Ctrl-C, gives up what is being worked on.
        """
        ...


def task_of(
    job: "TargetJob",
    config: Mapping[str, Any],
    target: str,
    judge: Judge,
    files: Mapping[str, str],
    *,
    flops: int | None = None,
) -> TuningTask:
    """A task for one launch.

    Args:
        job: compile and launch.
        config: the configuration.
        target: architecture or product.
        judge: who will judge.
        files: files that decide what is compiled, with their SHA-256.
        flops: operations that this launch does, where the kernel tells.
    """
    from kprof.compiler.versions import identity

    launch: dict[str, Any] = {
        "name": job.name,
        "arch": target,
        "grid": None if job.grid is None else list(job.grid),
        "arguments": dict(job.arguments),
        "problem": {n: v for n, v in job.problem.items() if isinstance(v, bool | int | float | str) or v is None},
        "version": judge.version,
        "flops": flops,
        "condition": job.condition.name,
        "values": {n: v if isinstance(v, int) else list(v) for n, v in job.values.items()},
    }
    if job.contents:
        launch["contents"] = {name: list(values) for name, values in job.contents.items()}
    if job.tensor_bytes is not None:
        launch["tensor_bytes"] = job.tensor_bytes
    name = key(_request_key(job.request), identity(), sorted(files.items()), launch)
    return TuningTask(name, job.request, launch, dict(config))


def _request_key(request: CompileRequest) -> str:
    """The request's key; TTIR counts by what is in it, as a program that is run again leaves it in another folder."""
    from kprof.captures.staleness import digest
    from kprof.compiler.from_ttir import SUFFIX

    if not request.path.endswith(SUFFIX):
        return request.key
    content = digest(Path(request.path))
    return request.key if content is None else replace(request, path=f"/{content}{SUFFIX}").key


def answer_of(task: TuningTask, outcome: CompileOutcome) -> TaskResult:
    """What a worker's outcome says about a task."""
    if outcome.status == "ok":
        try:
            return msgspec.convert({"key": task.key, "status": "ok", **outcome.answer}, TaskResult)
        except (msgspec.ValidationError, TypeError) as error:
            return TaskResult(task.key, "failed", reason=f"could not be judged: {error}")
    killed = outcome.status == "crashed" and "signal 9" in (outcome.error or "")
    return TaskResult(
        task.key,
        "killed" if killed else outcome.status,
        reason=outcome.error or outcome.status,
        seconds=outcome.seconds,
    )


def distinct(answers: Iterable[TaskResult]) -> dict[str, TaskResult]:
    """Answers by key; the first one of each counts, and those of :data:`RETRIED` do not."""
    found: dict[str, TaskResult] = {}
    for answer in answers:
        if answer.status not in RETRIED:
            found.setdefault(answer.key, answer)
    return found
