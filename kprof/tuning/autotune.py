"""Prune the configurations of ``@triton.autotune`` by prediction, inside the user's program.

::

    @triton.autotune(
        configs, key=["M", "N", "K"], prune_configs_by={"early_config_prune": kprof.prune_configs(top_k=8)}
    )

or, with Triton's own top-k, ``{"perf_model": kprof.perf_model(), "top_k": 8}``. Configurations are compiled in worker
processes, never in the user's process. Errors are not raised: a configuration without a prediction is kept. If no
configuration has a prediction, all of them are kept and one warning is issued.
"""

import ast
import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.errors import InputError, KprofError
from kprof.inputs import boundary
from kprof.kernel_spec import ELEMENT_TYPES, Launch, Tensor
from kprof.tuning.estimate import Estimate
from kprof.tuning.subject import smallest_element
from kprof.tuning.work import Judge, TaskResult, TuningTask, task_of

if TYPE_CHECKING:
    from kprof.importing.functions import Function

# Calls that are allowed at import time, because they take no time and have no side effects.
_HARMLESS = frozenset({
    "Config", "constexpr", "jit", "heuristics", "prune_configs", "perf_model", "cdiv", "next_power_of_2",
    "range", "list", "tuple", "dict", "set", "frozenset", "product", "zip", "enumerate", "sorted", "len", "min", "max",
    "int", "float", "str", "bool", "getattr", "hasattr", "getenv", "get", "Path", "getLogger",
    "device", "is_available", "get_device_properties", "get_active_torch_device", "get_current_target",
    "get_current_device", "namedtuple", "TypeVar", "join", "split", "upper", "lower",
})  # fmt: skip
_DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass)
_JUDGE = "kprof.tuning.trials.predicted"
_NOT_ARGUMENTS = {"grid", "warmup", "stream", "device", "device_type"}
_HOPELESS = {"unlaunchable", "crashed"}

Configs = list[Any]


def prune_configs(
    top_k: int | None = None,
    arch: str | None = None,
    *,
    top: int | None = None,
    budget: float = 60.0,
    jobs: int | None = None,
) -> "Pruner":
    """Return a function for ``prune_configs_by={"early_config_prune": ...}``.

    The function keeps the ``top_k`` configurations with the shortest predicted times, fastest first, followed by the
    configurations that cannot be judged. Configurations that need more LDS than the GPU has, or that crash the
    compiler, are dropped.

    Args:
        top_k: number of configurations to keep; 8 by default.
        arch: architecture or product, ``gfx942`` or ``MI300X``; by default the GPU of this process.
        top: another name for ``top_k``.
        budget: seconds after which no further compile starts; configurations not compiled by then are kept.
        jobs: number of compiling processes; one per CPU by default.
    """
    return Pruner(top_k if top_k is not None else top if top is not None else 8, arch, budget, jobs)


def perf_model(arch: str | None = None, *, budget: float = 60.0, jobs: int | None = None) -> "PerfModel":
    """Return a function for ``prune_configs_by={"perf_model": ..., "top_k": 8}`` that predicts milliseconds.

    The predicted time is infinite for a configuration that cannot be launched, and 0 for a configuration that cannot be
    judged, so Triton keeps it.

    Args:
        arch: as for :func:`prune_configs`.
        budget: as for :func:`prune_configs`.
        jobs: as for :func:`prune_configs`.
    """
    return PerfModel(arch, budget, jobs)


class Predictor:
    """Predicts the configurations of an autotuner for one set of arguments, and caches the predictions."""

    def __init__(self, arch: str | None, budget: float, jobs: int | None) -> None:
        self._arch, self._budget, self._jobs = arch, budget, jobs
        self._known: dict[str, TaskResult] = {}

    def answers(
        self, tuner: Any, configs: Sequence[Any], named: Mapping[str, Any], rest: Mapping[str, Any]
    ) -> list[TaskResult | None]:
        """Return one result per configuration; ``None`` if the time ran out before its compile, or it has no task.

        Raises:
            KprofError: if no configuration of this kernel can be turned into a compile task.
        """
        from kprof.hardware.machine import load_gpu

        function = _function(tuner)
        machine, product = load_gpu(self._arch or _own_arch())
        target = product.name if product is not None else machine.name
        judge = _judge()
        files = function.dependencies.files
        args = {**named, **rest}
        tasks: list[TuningTask | None] = []
        problem: KprofError | None = None
        for config in configs:
            try:
                job = _job(tuner, function, machine, config, args)
                tasks.append(task_of(job, config.all_kwargs(), target, judge, files))
            except KprofError as error:
                tasks.append(None)
                problem = problem or error
        if problem is not None and not any(tasks):
            raise problem
        sizes = {name: value for name, value in args.items() if isinstance(value, int)}
        rough = Estimate(machine, product, sizes, smallest_element({n: _described(v) for n, v in args.items()}))
        ordered = sorted((task for task in tasks if task is not None), key=lambda task: rough.cost(task.config))
        missing = {task.key: task for task in ordered if task.key not in self._known}
        if missing:
            self._compile(judge, missing)
        return [None if task is None else self._known.get(task.key) for task in tasks]

    def _compile(self, judge: Judge, missing: Mapping[str, TuningTask]) -> None:
        from kprof.deadline import Deadline
        from kprof.tuning.executors.local import TIMEOUT, judged

        timeout = min(TIMEOUT, max(10.0, self._budget))
        self._known |= judged(missing.values(), judge, Deadline(self._budget), workers=self._jobs or 0, timeout=timeout)


class Pruner:
    """The function that :func:`prune_configs` returns."""

    def __init__(self, top_k: int, arch: str | None, budget: float, jobs: int | None) -> None:
        if top_k < 1:
            raise KprofError(f"prune_configs keeps at least one configuration, got top_k={top_k}")
        self._top_k = top_k
        self._predictor = Predictor(arch, budget, jobs)

    def __call__(self, configs: Configs, named_args: Mapping[str, Any], **kwargs: Any) -> Configs:
        """Return the configurations to try. Triton's autotuner calls this with the launch's arguments."""
        everything = list(configs)
        if len(everything) <= 1 or _compiling():
            return everything
        try:
            answers = self._predictor.answers(_tuner(), everything, named_args, kwargs)
        except Exception as error:  # noqa: BLE001 - the user's program must continue after any error
            _warn("prune_configs", error, "every configuration is kept")
            return everything
        return self._chosen(everything, answers) or everything

    def _chosen(self, configs: Configs, answers: Sequence[TaskResult | None]) -> Configs:
        pairs = list(zip(configs, answers, strict=True))
        costs = _costs(answers)
        judged = [(c, cost) for c, cost in zip(configs, costs, strict=True) if cost is not None]
        judged.sort(key=lambda pair: pair[1])
        unknown = [
            config
            for (config, answer), cost in zip(pairs, costs, strict=True)
            if cost is None and (answer is None or answer.status not in _HOPELESS)
        ]
        if not judged:
            reason = next((a.reason for _, a in pairs if a is not None and a.reason), "there was no time")
            _warn("prune_configs", reason, "no configuration could be judged, every one is kept")
            return configs
        return [config for config, _ in judged[: self._top_k]] + unknown


class PerfModel:
    """The function that :func:`perf_model` returns."""

    def __init__(self, arch: str | None, budget: float, jobs: int | None) -> None:
        self._predictor = Predictor(arch, budget, jobs)
        self._times: dict[str, list[tuple[dict[str, Any], float]]] = {}

    def __call__(self, **kwargs: Any) -> float:
        """Return the predicted milliseconds of one configuration.

        Triton's autotuner passes all launch arguments and knobs.
        """
        if _compiling():
            return 0.0
        try:
            tuner = _tuner()
            knobs = {name for config in tuner.configs for name in config.all_kwargs()}
            rest = {name: value for name, value in kwargs.items() if name not in knobs}
            key = repr(sorted((name, _described(value)) for name, value in rest.items()))
            if key not in self._times:
                answers = self._predictor.answers(tuner, tuner.configs, rest, {})
                costs = _costs(answers)
                if all(cost is None for cost in costs):
                    reason = next((a.reason for a in answers if a is not None and a.reason), "there was no time")
                    _warn("perf_model", reason, "no configuration could be judged, all are treated as equal")
                triples = zip(tuner.configs, answers, costs, strict=True)
                self._times[key] = [(dict(c.all_kwargs()), _number(answer, cost)) for c, answer, cost in triples]
            found = (t for own, t in self._times[key] if all(kwargs.get(n) == v for n, v in own.items()))
            return next(found, 0.0)
        except Exception as error:  # noqa: BLE001 - the user's program must continue after any error
            _warn("perf_model", error, "all configurations are treated as equal")
            return 0.0


def _costs(answers: Sequence[TaskResult | None]) -> list[float | None]:
    """Return predicted milliseconds, or cycles per element if a loop bound is unknown for every configuration."""
    if any(answer is not None and answer.time_us is not None for answer in answers):
        return [a.time_us / 1000 if a is not None and a.time_us is not None else None for a in answers]
    same = len({answer.axis for answer in answers if answer is not None and answer.cost is not None}) == 1
    return [answer.cost if same and answer is not None else None for answer in answers]


def _number(answer: TaskResult | None, cost: float | None) -> float:
    if cost is not None:
        return cost
    return float("inf") if answer is not None and answer.status in _HOPELESS else 0.0


def _compiling() -> bool:
    """Whether this process must not predict: a kprof worker that imports the user's file, or Triton's interpreter."""
    return "kprof.compiler.worker" in sys.modules or os.environ.get("TRITON_INTERPRET", "0") not in {"", "0"}


def _warn(what: str, why: object, then: str) -> None:
    text = (
        why.message if isinstance(why, KprofError) else why if isinstance(why, str) else f"{type(why).__name__}: {why}"
    )
    warnings.warn(f"kprof.{what}: {text}; {then}", RuntimeWarning, stacklevel=4)


def _judge() -> Judge:
    module = import_module(_JUDGE)
    return Judge(module.FUNCTION, module.version())


def _tuner() -> Any:
    """Find the calling autotuner on the stack, because Triton passes neither the autotuner nor its kernel.

    Raises:
        KprofError: if no calling frame belongs to an autotuner.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - there is no other way to the calling frame
    for _ in range(8):
        if frame.f_back is None:
            break
        frame = frame.f_back
        owner = frame.f_locals.get("self")
        if all(hasattr(owner, name) for name in ("configs", "arg_names", "fn", "prune_configs")):
            return owner
    raise KprofError("must be called by a Triton autotuner")


def _function(tuner: Any) -> "Function":
    """Return the autotuner's kernel in a form that a worker process can import.

    Raises:
        KprofError: if a worker process cannot import it.
    """
    from kprof.importing.functions import unwrap

    function = unwrap(tuner.fn)
    if function is None:
        raise KprofError("the autotuner's function is not one of Triton")
    if function.jit.fn.__module__ == "__main__" and (where := runs_on_import(Path(function.path))) is not None:
        raise KprofError(
            f"{function.path} runs its program when it is imported ({where}), and kprof's workers have to import it: "
            'put the program under if __name__ == "__main__", or the kernel into a file of its own'
        )
    return function


def _own_arch() -> str:
    """Return the architecture of this process's GPU.

    Raises:
        KprofError: if this process has no AMD GPU.
    """
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.version.hip or not torch.cuda.is_available():
        raise KprofError("there is no AMD GPU in this process; name one: kprof.prune_configs(arch='MI300X')")
    return str(torch.cuda.get_device_properties(torch.cuda.current_device()).gcnArchName)


def _job(tuner: Any, function: "Function", machine: Any, config: Any, args: Mapping[str, Any]) -> Any:
    """Return the compile and launch that the autotuner would perform for a configuration."""
    from kprof.importing.wrappers import heuristics_of
    from kprof.targets.jobs import TargetJob
    from kprof.targets.specialize import from_launch

    knobs = dict(config.all_kwargs())
    values = {name: value for name, value in {**args, **knobs}.items() if name not in _NOT_ARGUMENTS}
    for name, heuristic in heuristics_of(tuner.fn):
        values[name] = heuristic({**values, name: values.get(name)})
    known = set(function.arguments)
    options = {n: v for n, v in values.items() if n not in known and v is not None}
    made = {name: _described(value) for name, value in values.items() if name in known}
    grid = args.get("grid")
    sizes = grid(values) if callable(grid) else grid
    request = from_launch(function.jit, Launch(made, ()), machine.name, options=options)
    numbers = {n: v for n, v in made.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    workgroups = tuple(int(size) for size in sizes) if sizes is not None else None
    return TargetJob(request, machine, function.name, workgroups, {}, numbers)


def _described(value: Any) -> Any:
    """Describe a tensor by element type, size and alignment, without its storage; return other values unchanged."""
    if not (hasattr(value, "data_ptr") and hasattr(value, "dtype")):
        return value
    text = str(value.dtype).removeprefix("torch.")
    kind = next((name for name, known in ELEMENT_TYPES.items() if text in {known.torch, name}), None)
    if kind is None:
        raise KprofError(f"a tensor of {text}, which kprof does not know")
    size = ELEMENT_TYPES[kind].size
    storage = value.untyped_storage().size() if hasattr(value, "untyped_storage") else value.numel() * size
    return Tensor(kind, (max(1, storage // size),), aligned=value.data_ptr() % 16 == 0)


def runs_on_import(path: Path) -> str | None:
    """Return the place of the first statement that does more than define something, such as ``line 12``, or ``None``.

    Code under ``if __name__ == "__main__":`` is ignored.
    """
    try:
        tree = ast.parse(boundary.read_text(path))
    except (InputError, ValueError, SyntaxError, RecursionError):
        return "it cannot be read"
    found = _first(tree.body)
    return None if found is None else f"line {found}"


def _first(body: Iterable[ast.stmt]) -> int | None:
    for node in body:
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test):
            continue
        inner: list[ast.stmt] = []
        if isinstance(node, ast.If) and _plain(node.test):
            inner = [*node.body, *node.orelse]
        elif isinstance(node, ast.Try):
            handlers = (statement for handler in node.handlers for statement in handler.body)
            inner = [*node.body, *handlers, *node.orelse, *node.finalbody]
        elif not _defines(node):
            return node.lineno
        within = _first(inner)
        if within is not None:
            return within
    return None


def _defines(node: ast.stmt) -> bool:
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    assigned = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and _plain(node)
    return text or assigned or isinstance(node, _DEFINES)


def _plain(node: ast.AST) -> bool:
    """Whether an expression calls only functions in ``_HARMLESS``."""
    return all(_called(call) in _HARMLESS for call in ast.walk(node) if isinstance(call, ast.Call))


def _called(call: ast.Call) -> str:
    """Return the last part of a called function's name."""
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))
