"""The unit of work of a search: a task (one compile with one launch) and its result."""

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
"""Statuses that say nothing about the configuration, so another run tries it again."""

OPERATIONS = "the problem's work (millions of operations)"
"""Axis of the comparison if a loop bound is unknown but the problem's number of operations is known."""


@dataclass(frozen=True)
class Judge:
    """The function that analyses a compiled kernel, for example predicts its time.

    Attributes:
        function: ``module:function``, called in the worker with the compiled kernel and a launch, see
            :class:`TuningTask`. It returns a mapping that :func:`answer_of` understands.
        version: changes whenever the function's results may change.
    """

    function: str
    version: str


@dataclass(frozen=True)
class TuningTask:
    """One task for a worker.

    Attributes:
        key: SHA-256 of everything that the result depends on.
        request: the compile.
        launch: JSON values: ``name``, ``arch`` (or a product's name), ``grid``, ``arguments``, ``problem``, the judge's
            ``version``, ``flops`` (``None``: unknown), ``condition``, ``values`` and, if known, ``contents`` of tensors
            and ``tensor_bytes``.
        config: the configuration, for messages.
    """

    key: str
    request: CompileRequest
    launch: Mapping[str, Any]
    config: Mapping[str, Any] = field(default_factory=dict)


class TaskResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a task; one line of the journal.

    Attributes:
        key: key of the task.
        status: ``ok``; ``unlaunchable`` (compiles, but exceeds a limit of the hardware); ``failed`` (rejected by the
            compiler or by the function that evaluates configurations); ``crashed``, ``killed`` (signal 9), ``timeout``,
            ``lost`` (the machine is gone).
        reason: reason of a failure, one sentence.
        isa: hash of the code without names, comments and debug information; equal for configurations with the same
            program.
        resources: ``vgpr``, ``vgpr_spills``, ``lds_bytes``, ``num_warps``, ``waves_per_simd``, ...
        time_us, low_us, high_us: predicted time with its bounds, in microseconds.
        events_us: part of the time that two events around the launch add.
        cycles_per_element: cycles per element of ``axis``, if there is no time because a loop bound is unknown.
        axis: the size that the unknown loop bound depends on.
        bound: the bottleneck.
        shares: shares of the predicted time by cause.
        assumptions: assumptions of the prediction.
        seconds: duration of the original compile.
        cached: True if the compile came from kprof's cache.
        again: True if the same code was already analysed for the same launch.
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
        """Microseconds, or cycles per element if no time is known; ``None`` if neither is known."""
        return self.cycles_per_element if self.time_us is None else self.time_us


class Executor(Protocol):
    """Runs tasks, on this machine or on a cluster."""

    def run(self, tasks: Iterator[TuningTask | None]) -> Iterator[TaskResult]:
        """Yield results as they arrive; tasks are taken one by one as workers become free.

        If ``tasks`` yields ``None``, it has no task at the moment, and has to be asked again after the next result. It
        yields ``None`` only while a task is running.

        Closing the returned iterator, or an exception such as Ctrl-C, abandons the running tasks.
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
    """Return the task for one launch.

    Args:
        job: compile and launch.
        config: the configuration.
        target: architecture or product.
        judge: function that analyses the compiled kernel.
        files: files that determine what is compiled, with their SHA-256.
        flops: number of operations of this launch, if the kernel defines it.
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
    """Return the request's key.

    TTIR is identified by its content, because each run of a program writes it elsewhere.
    """
    from kprof.captures.staleness import digest
    from kprof.compiler.from_ttir import SUFFIX

    if not request.path.endswith(SUFFIX):
        return request.key
    content = digest(Path(request.path))
    return request.key if content is None else replace(request, path=f"/{content}{SUFFIX}").key


def answer_of(task: TuningTask, outcome: CompileOutcome) -> TaskResult:
    """Return a task's result for a worker's outcome."""
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
    """Return the first result of each key, without the statuses in :data:`RETRIED`."""
    found: dict[str, TaskResult] = {}
    for answer in answers:
        if answer.status not in RETRIED:
            found.setdefault(answer.key, answer)
    return found
