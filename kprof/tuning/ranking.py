"""Rank the candidates of an autotuner by prediction, inside the user's program.

This is the engine behind every autotuner that kprof supports: :func:`kprof.prune_configs` and :func:`kprof.perf_model`
for Triton, :func:`kprof.inductor_prior` for TorchInductor, :func:`kprof.helion_prior` for Helion, and
:func:`kprof.rank_configs` for any other. Candidates are compiled in worker processes, never in the user's process.
"""

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError
from kprof.kernel_spec import ELEMENT_TYPES, Launch, Tensor
from kprof.tuning.estimate import Estimate
from kprof.tuning.importable import runs_on_import
from kprof.tuning.subject import smallest_element
from kprof.tuning.work import Judge, TaskResult, TuningTask, task_of

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture, Product
    from kprof.importing.functions import Function

HOPELESS = frozenset({"unlaunchable", "crashed"})
"""Statuses of candidates that cannot be launched."""

_JUDGE = "kprof.tuning.trials.predicted"
_NOT_ARGUMENTS = {"grid", "warmup", "stream", "device", "device_type"}


@dataclass(frozen=True)
class CandidateLaunch:
    """One candidate of an autotuner with the launch that it would make.

    Attributes:
        kernel: the Triton function, with the wrappers around it.
        knobs: values that the candidate chooses: compile-time arguments and compile options.
        args: the other arguments by name; a tensor or a :class:`kprof.Tensor`, or any other value.
        grid: workgroups in x, y, z, or a function of all values by name; ``None`` if unknown.
    """

    kernel: Any
    knobs: Mapping[str, Any]
    args: Mapping[str, Any]
    grid: Any = None


@dataclass(frozen=True)
class CandidateRanking:
    """The order in which an autotuner should time its candidates. Candidates are named by their position.

    Attributes:
        order: candidates with a prediction, fastest first.
        costs: predicted microseconds by candidate; cycles per element if no time is known, see :attr:`unit`.
        unlaunchable: candidates that cannot be launched, with the reason.
        unknown: candidates without a prediction, with the reason.
        unreached: those of :attr:`unknown` that were not compiled in time; a rough estimate compiles promising ones
            first.
        enough: number of leading candidates of :attr:`order` to time. The others are slower than the first one with the
            requested certainty.
        unit: ``us``, or ``cycles`` per element.
    """

    order: tuple[int, ...]
    costs: Mapping[int, float] = field(default_factory=dict)
    unlaunchable: Mapping[int, str] = field(default_factory=dict)
    unknown: Mapping[int, str] = field(default_factory=dict)
    unreached: frozenset[int] = frozenset()
    enough: int = 0
    unit: str = "us"

    @property
    def problem(self) -> str:
        """Reason why the first candidate without a prediction has none."""
        return next(
            iter({**self.unknown, **self.unlaunchable}.values()), "the time limit was reached before its compile"
        )

    def to_time(self, top_k: int) -> list[int]:
        """Return the candidates to time: at most ``top_k`` with a prediction, then those that cannot be judged.

        Candidates that were not compiled in time are included only if fewer than ``top_k`` have a prediction.
        """
        late = frozenset() if len(self.order) < top_k else self.unreached
        return [*self.order[: min(top_k, max(self.enough, 1))], *(i for i in self.unknown if i not in late)]


def rank_configs(
    kernel: Any,
    configs: Sequence[Any],
    args: Mapping[str, Any],
    grid: Any = None,
    *,
    arch: str | None = None,
    certainty: float = 0.95,
    budget: float = 60.0,
    jobs: int | None = None,
) -> CandidateRanking:
    """Rank the configurations of a kernel for one launch, for an autotuner of your own.

    Args:
        kernel: a Triton function, with or without autotuner and heuristics.
        configs: ``triton.Config`` objects, or mappings of arguments and compile options to values.
        args: the launch's other arguments by name: tensors, ``kprof.Tensor`` descriptions, numbers.
        grid: workgroups, or a function of all values by name, as written in the launch.
        arch: architecture or product, ``gfx942`` or ``MI300X``; by default the GPU of this process.
        certainty: a configuration needs no timing if it is slower than the first one with at least this probability.
        budget: seconds after which no further compile starts.
        jobs: number of compiling processes; one per CPU by default.

    Returns:
        The order, which configurations cannot be launched, and how many need to be timed.

    Raises:
        KprofError: if the kernel cannot be compiled by another process, or the architecture is unknown.
    """
    candidates = [CandidateLaunch(kernel, knobs_of(config), args, grid) for config in configs]
    return CandidateRanker(arch, budget, jobs, certainty).rank(candidates)


def knobs_of(config: Any) -> dict[str, Any]:
    """Return the knobs of a ``triton.Config`` or a mapping."""
    return dict(config) if isinstance(config, Mapping) else dict(config.all_kwargs())


class CandidateRanker:
    """Ranks candidates for one GPU, and caches the predictions.

    Args:
        arch: see :func:`rank_configs`.
        budget: see :func:`rank_configs`; it applies to each ranking.
        jobs: see :func:`rank_configs`.
        certainty: see :func:`rank_configs`.
    """

    def __init__(self, arch: str | None, budget: float, jobs: int | None, certainty: float = 0.95) -> None:
        if not 0.5 <= certainty <= 1:
            raise KprofError(f"certainty must be between 0.5 and 1, got {certainty}")
        self._arch, self._budget, self._jobs, self._certainty = arch, budget, jobs, certainty
        self._known: dict[str, TaskResult] = {}

    @property
    def gpu(self) -> "tuple[Architecture, Product | None]":
        """The GPU of the predictions.

        Raises:
            KprofError: if none was named and this process has no AMD GPU, or its name is unknown.
        """
        from kprof.hardware.machine import load_gpu

        return load_gpu(self._arch or own_arch())

    @property
    def target(self) -> str:
        """Name of the product or the architecture of the predictions."""
        machine, product = self.gpu
        return product.name if product is not None else machine.name

    def rank(self, candidates: Sequence[CandidateLaunch | KprofError]) -> CandidateRanking:
        """Rank candidates; an error in place of a candidate is the reason why it has no prediction.

        Raises:
            KprofError: if no candidate can be turned into a compile task.
        """
        tasks = self._tasks(candidates)
        answers = self._answers(candidates, tasks)
        found = _costs(answers)
        order = sorted((i for i, cost in enumerate(found) if cost is not None), key=lambda i: found[i] or 0.0)
        known = {i: cost for i, cost in enumerate(found) if cost is not None}
        hopeless = {i: a.reason or a.status for i, a in enumerate(answers) if a is not None and a.status in HOPELESS}
        unknown = {
            i: _reason(task, answer)
            for i, (task, answer) in enumerate(zip(tasks, answers, strict=True))
            if i not in known and i not in hopeless
        }
        timed = any(answer is not None and answer.time_us is not None for answer in answers)
        enough = leading([known[i] for i in order], self._certainty)
        late = frozenset(i for i in unknown if answers[i] is None and isinstance(tasks[i], TuningTask))
        return CandidateRanking(tuple(order), known, hopeless, unknown, late, enough, "us" if timed else "cycles")

    def _tasks(self, candidates: Sequence[CandidateLaunch | KprofError]) -> list[TuningTask | KprofError]:
        machine, target = self.gpu[0], self.target
        judge = current_judge()
        tasks: list[TuningTask | KprofError] = []
        functions: dict[int, Function] = {}
        for one in candidates:
            try:
                if isinstance(one, KprofError):
                    raise one
                # One object for all configurations of a kernel, because it keeps the hashes of the kernel's files.
                function = functions.setdefault(id(one.kernel), importable_function(one.kernel))
                job = _job(one, function, machine)
                tasks.append(task_of(job, one.knobs, target, judge, function.dependencies.files))
            except KprofError as error:
                tasks.append(error)
        problem = next((task for task in tasks if isinstance(task, KprofError)), None)
        if problem is not None and all(isinstance(task, KprofError) for task in tasks):
            raise problem
        return tasks

    def _answers(
        self, candidates: Sequence[CandidateLaunch | KprofError], tasks: Sequence[TuningTask | KprofError]
    ) -> list[TaskResult | None]:
        first = next((one for one in candidates if isinstance(one, CandidateLaunch)), None)
        made = [task for task in tasks if isinstance(task, TuningTask)]
        if first is not None:
            sizes = {name: value for name, value in first.args.items() if isinstance(value, int)}
            tensors = {name: described(value) for name, value in first.args.items()}
            rough = Estimate(*self.gpu, sizes, smallest_element(tensors))
            made.sort(key=lambda task: rough.cost(task.config))
        missing = {task.key: task for task in made if task.key not in self._known}
        if missing:
            self._compile(current_judge(), missing)
        return [self._known.get(task.key) if isinstance(task, TuningTask) else None for task in tasks]

    def _compile(self, judge: Judge, missing: Mapping[str, TuningTask]) -> None:
        from kprof.deadline import Deadline
        from kprof.tuning.executors.local import TIMEOUT, judged

        timeout = min(TIMEOUT, max(10.0, self._budget))
        self._known |= judged(missing.values(), judge, Deadline(self._budget), workers=self._jobs or 0, timeout=timeout)


def _costs(answers: Sequence[TaskResult | None]) -> list[float | None]:
    """Return predicted microseconds, or cycles per element if a loop bound is unknown for every candidate."""
    if any(answer is not None and answer.time_us is not None for answer in answers):
        return [None if answer is None else answer.time_us for answer in answers]
    same = len({answer.axis for answer in answers if answer is not None and answer.cost is not None}) == 1
    return [answer.cost if same and answer is not None else None for answer in answers]


def leading(ordered: Sequence[float], certainty: float) -> int:
    """Return how many costs, in ascending order, are not larger than the first one with this certainty.

    The certainty is that of published pairs of configurations: the share that was measured in the predicted order.
    """
    from kprof_analyzers.model.certainty import steps

    apart = next((step.least for step in steps() if step.right >= certainty), None)
    if apart is None or not ordered:
        return len(ordered)
    return sum(cost <= ordered[0] * (1 + apart) for cost in ordered)


def _reason(task: TuningTask | KprofError, answer: TaskResult | None) -> str:
    if isinstance(task, KprofError):
        return task.message
    if answer is None:
        return "the time limit was reached before its compile"
    return answer.reason or "the costs of the candidates cannot be compared"


def current_judge() -> Judge:
    """Return the function that predicts the times."""
    module = import_module(_JUDGE)
    return Judge(module.FUNCTION, module.version())


def importable_function(kernel: Any) -> "Function":
    """Return a kernel in a form that a worker process can import.

    Raises:
        KprofError: if a worker process cannot import it.
    """
    from kprof.importing.functions import unwrap

    function = unwrap(kernel)
    if function is None:
        raise KprofError("the autotuner's function is not one of Triton")
    if function.jit.fn.__module__ == "__main__" and (where := runs_on_import(Path(function.path))) is not None:
        raise KprofError(
            f"{function.path} runs its program when it is imported ({where}), but kprof's workers must import it: "
            'put the program under if __name__ == "__main__", or the kernel into a file of its own'
        )
    return function


def own_arch() -> str:
    """Return the architecture of this process's GPU.

    Raises:
        KprofError: if this process has no AMD GPU.
    """
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.version.hip or not torch.cuda.is_available():
        raise KprofError("there is no AMD GPU in this process; name one: arch='MI300X'")
    return str(torch.cuda.get_device_properties(torch.cuda.current_device()).gcnArchName)


def warn(function: str, why: object, then: str) -> None:
    """Issue a warning to the user's program, which continues.

    Args:
        function: the public function of kprof.
        why: an error or a sentence.
        then: what happens instead.
    """
    text = (
        why.message if isinstance(why, KprofError) else why if isinstance(why, str) else f"{type(why).__name__}: {why}"
    )
    warnings.warn(f"kprof.{function}: {text}; {then}", RuntimeWarning, stacklevel=4)


def compiling() -> bool:
    """Whether this process must not predict: a kprof worker that imports the user's file, or Triton's interpreter."""
    return "kprof.compiler.worker" in sys.modules or os.environ.get("TRITON_INTERPRET", "0") not in {"", "0"}


def _job(one: CandidateLaunch, function: "Function", machine: Any) -> Any:
    """Return the compile and launch that the autotuner would perform for a candidate."""
    from kprof.importing.wrappers import heuristics_of
    from kprof.targets.jobs import TargetJob
    from kprof.targets.specialize import from_launch

    values = {name: value for name, value in {**one.args, **one.knobs}.items() if name not in _NOT_ARGUMENTS}
    for name, heuristic in heuristics_of(one.kernel):
        values[name] = heuristic({**values, name: values.get(name)})
    known = set(function.arguments)
    options = {n: v for n, v in values.items() if n not in known and v is not None}
    made = {name: described(value) for name, value in values.items() if name in known}
    sizes = one.grid(values) if callable(one.grid) else one.grid
    request = from_launch(function.jit, Launch(made, ()), machine.name, options=options)
    numbers = {n: v for n, v in made.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    workgroups = tuple(int(size) for size in sizes) if sizes is not None else None
    return TargetJob(request, machine, function.name, workgroups, {}, numbers)


def described(value: Any) -> Any:
    """Describe a tensor by element type, size and alignment, without its storage; return other values unchanged.

    Raises:
        KprofError: if kprof does not know the tensor's element type.
    """
    if not (hasattr(value, "data_ptr") and hasattr(value, "dtype")):
        return value
    kind = element_type(value.dtype)
    size = ELEMENT_TYPES[kind].size
    storage = value.untyped_storage().size() if hasattr(value, "untyped_storage") else value.numel() * size
    return Tensor(kind, (max(1, storage // size),), aligned=value.data_ptr() % 16 == 0)


def element_type(dtype: Any) -> str:
    """Return Triton's name of a torch element type.

    Raises:
        KprofError: if kprof does not know the type.
    """
    text = str(dtype).removeprefix("torch.")
    kind = next((name for name, known in ELEMENT_TYPES.items() if text in {known.torch, name}), None)
    if kind is None:
        raise KprofError(f"a tensor of {text}, which kprof does not know")
    return kind
