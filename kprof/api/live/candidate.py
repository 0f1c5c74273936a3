"""Compile and analyse one candidate kernel, or run it in Triton's interpreter and compare its results.

A candidate is a file with a Triton function that replaces the case's own function. The case is a trusted kernel file
with a launch and a reference.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from math import inf, prod
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from kprof.api.live.chosen_programs import (
    ChosenPrograms,
    TimedLaunch,
    poisoned_tensors,
    shuffled,
    written_elements,
)
from kprof.errors import KprofError, TargetError
from kprof.kernel_spec import Kernel, Tensor, resolve_fp8, size_of

if TYPE_CHECKING:
    from kprof.document import KernelReport
    from kprof.kernel_spec import Check
    from kprof.targets.jobs import TargetJob

FILE = "candidate.py"
_WATCHED = ("triton", "kprof", "kprof_analyzers", "torch", "numpy", "builtins", "os", "json")
_INSIDE = ("triton", "kprof", "kprof_analyzers")


@dataclass(frozen=True)
class TrialCase:
    """Case for which candidates are compiled and checked: a kernel, one of its shapes, and a GPU.

    Attributes:
        kernel: the case's kernel.
        arch: architecture or product.
        case: name of one of the kernel's shapes; ``None`` for the first.
        seed: random seed of the inputs for which results are compared.
        own: modelled work of the case's own kernel; ``None`` if it cannot be modelled.
        timed: the launch whose time is predicted; a few of its programs are run to check their results.
        not_timed: reason why the timed launch is not checked, or "".
    """

    kernel: Kernel
    arch: str
    case: str | None
    seed: int
    own: "LaunchWork | None" = None
    timed: TimedLaunch | None = None
    not_timed: str = ""

    @property
    def function(self) -> str:
        """Name of the Triton function that a candidate must define."""
        from kprof.importing.wrappers import kernel_function

        return str(kernel_function(self.kernel.entry).fn.__name__)

    @property
    def not_checked(self) -> str | None:
        """Reason why results cannot be compared, or ``None`` if they can."""
        kernel = self.kernel
        needed = {name: getattr(kernel, name) for name in ("run", "inputs", "reference", "tolerance", "checks")}
        lacking = [name for name, value in needed.items() if not value]
        return f"{kernel.name} has no {', no '.join(lacking)}" if lacking else None

    def trials(self, knobs: Mapping[str, Any]) -> "list[CheckTrial]":
        """Return the runs of a candidate in Triton's interpreter.

        Each check runs with its own inputs. The first check also runs with other inputs, and with the knobs that the
        candidate was compiled with.

        Args:
            knobs: knobs that the candidate sets.
        """
        from kprof.hardware.machine import load_gpu

        arch = load_gpu(self.arch)[0].name
        found: list[CheckTrial] = []
        if not self.kernel.checks:
            return found
        for number, (name, check) in enumerate(self.kernel.checks.items()):
            shape = resolve_fp8(check.shape, arch)
            config = self.kernel.configure(self.arch, {**check.config, **knobs}, shape)
            found.append(CheckTrial(name, shape, config, self.seed + number))
        first, check = next(iter(self.kernel.checks.items()))
        again = found[0]
        found.append(CheckTrial(f"{first}, other values", again.shape, again.config, self.seed + len(found)))
        if self.kernel.shapes:
            problem = self.kernel.problem(arch, self.case)
            compiled = self.kernel.configure(self.arch, dict(knobs), problem)
            found.append(
                CheckTrial(f"{first}, {COMPILED}", again.shape, compiled, self.seed + len(found), is_compiled=True)
            )
        return found

    def problem(self, check: "Check") -> tuple[str, dict[str, Any]]:
        """Return the architecture's name, and the problem shape of a correctness check on that architecture."""
        from kprof.hardware.machine import load_gpu

        arch = load_gpu(self.arch)[0].name
        return arch, resolve_fp8(check.shape, arch)


COMPILED = "as compiled"
"""Name suffix of the check that runs with the knobs of the compiled case."""
TIMED = "as timed"
"""Name of the check that runs a few programs of the timed launch: the knobs and the problem of the compiled case."""


@dataclass(frozen=True)
class CheckTrial:
    """A run of a check with one set of inputs and knobs.

    Attributes:
        name: the check's name, and how this run differs from it.
        shape: problem shape.
        config: all knobs.
        seed: random seed of the inputs.
        is_compiled: whether the knobs are those of the compiled case. A failure of such a run is ignored if the case's
            own kernel fails, too, because the check's problem can be too small for these knobs.
    """

    name: str
    shape: Mapping[str, Any]
    config: Mapping[str, Any]
    seed: int
    is_compiled: bool = False


@dataclass(frozen=True)
class LaunchWork:
    """Modelled work of a compiled launch.

    Attributes:
        time_us: predicted time in microseconds.
        moved: bytes that lanes load and store, including masked lanes.
        matrix: number of floating-point operations of matrix instructions.
        operations: number of all floating-point operations.
    """

    time_us: float
    moved: float
    matrix: float
    operations: float


_LEAST_MOVED, _LEAST_MATRIX, _LEAST_OPERATIONS = 0.9, 0.9, 0.2
"""Minimum shares of the case's work that a plausible candidate does: bytes, matrix operations and all operations.

The share of all operations is low, because a candidate can save scalar work.
"""


def work_of(report: "KernelReport") -> LaunchWork | None:
    """Return the modelled work of a launch, or None if it is not known."""
    from msgspec import UNSET

    model = report.model
    if model is UNSET or model.time_us is None or model.roofline is UNSET:
        return None
    flops = model.roofline.flops
    return LaunchWork(
        model.time_us,
        sum(level.bytes for level in model.roofline.levels if level.name == "l1"),
        sum(count for kind, count in flops.items() if kind.startswith("matrix")),
        sum(flops.values()),
    )


def implausible(
    kernel: Kernel, problem: Mapping[str, Any], own: LaunchWork | None, work: LaunchWork | None
) -> str | None:
    """Return why a candidate's compiled code does too little to solve the case, or None if its work is plausible.

    Args:
        kernel: the case's kernel.
        problem: the case's problem.
        own: work of the case's own kernel; the result is None if it is not known.
        work: work of the candidate.
    """
    if own is None:
        return None
    if work is None:
        return "not plausible: how often its loops iterate is not known, while it is for the case's own kernel"
    # The case's byte and FLOP counts are for the whole call, so the work of the case's own launch is an upper bound.
    moved = min(own.moved, _counted(kernel.bytes, problem))
    operations = min(own.operations, _counted(kernel.flops, problem))
    for words, done, least in (
        ("bytes to load and store", work.moved, _LEAST_MOVED * moved),
        ("operations of matrix instructions", work.matrix, _LEAST_MATRIX * min(own.matrix, operations)),
        ("floating-point operations", work.operations, _LEAST_OPERATIONS * operations),
    ):
        if done < least:
            return f"not plausible: {work.time_us:,.3g} µs for {done:,.0f} {words}, where the case needs {least:,.0f}"
    return None


def _counted(count: Callable[..., Any] | None, problem: Mapping[str, Any]) -> float:
    """Return the number of bytes or FLOPs that a case's function computes; infinity if it is missing or fails."""
    try:
        found = None if count is None else count(problem)
    except Exception:  # noqa: BLE001 - the file's own code may fail in any way, and the kernel's own work is known
        found = None
    return found if isinstance(found, int | float) else inf


def own_work(asked: TrialCase) -> LaunchWork | None:
    """Compile the case's own kernel in this process and return its work; None if it cannot be modelled."""
    from kprof.compiler.worker import log

    return work_of(_compiled(asked, asked.kernel.entry, {}, log)[0])


def _compiled(
    asked: TrialCase, entry: Any, knobs: Mapping[str, Any], log: Callable[[int], str]
) -> "tuple[KernelReport, Any, TargetJob]":
    from kprof.compiler.cached_compile import build
    from kprof.hardware.machine import load_gpu
    from kprof.options.groups import CompileOptions
    from kprof.targets.jobs import jobs_of, loaded
    from kprof_analyzers.pipeline import analyze

    machine, product = load_gpu(asked.arch)
    options = CompileOptions(arch=(asked.arch,), config=knobs, case=asked.case, use_cache=False)
    (job,) = jobs_of(replace(asked.kernel, entry=entry), machine, options, product)
    code = build(job.request, None, lambda _stage: None, log, {})
    return analyze(replace(loaded(job, code), product=product), model=True), code, job


def load_candidate(asked: TrialCase, *, interpret: bool) -> tuple[Any, dict[str, Any]]:
    """Load the candidate from the current folder and return its function and knobs.

    Raises:
        TargetError: the file contains Python code besides Triton functions, cannot be imported, or lacks the function.
        TamperedError: the file replaces part of the code that judges it.
    """
    from kprof.importing.plain_functions import check_plain, knobs_of, parsed

    tree = parsed((Path.cwd() / FILE).read_text(encoding="utf-8"))
    check_plain(tree)
    return getattr(_imported(asked, interpret=interpret), asked.function), knobs_of(tree)


def written(asked: TrialCase) -> str:
    """Run a candidate that contains arbitrary Python, and return its Triton functions as a plain candidate's text.

    Only the returned text is judged, in other processes. Changes that the Python code made to this process therefore
    have no effect.

    Raises:
        TargetError: the file cannot be imported, lacks the function, or its functions use other Python.
        TamperedError: the candidate replaces part of the code that judges it.
    """
    from kprof.importing.written_functions import text_of

    module = _imported(asked, interpret=False)
    return text_of(module, asked.function)


def _imported(asked: TrialCase, *, interpret: bool) -> ModuleType:
    from kprof.importing.loading import load_module
    from kprof.importing.wrappers import kernel_function

    before = dict(_functions())
    module = load_module(Path.cwd() / FILE, interpret=interpret)
    see_untouched(before)
    if kernel_function(getattr(module, asked.function, None)) is None:
        raise TargetError(f"has no Triton function {asked.function}, which the case launches", path=FILE)
    return module


class TamperedError(KprofError):
    """A candidate has changed the code that judges it."""


def _functions() -> Iterator[tuple[str, Any]]:
    """Yield the functions and classes of the modules that judge a candidate, by name."""
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        if top not in _WATCHED or module is None:
            continue
        for key, value in list(vars(module).items()):
            if callable(value):
                yield f"{name}.{key}", value
            if isinstance(value, type) and top in _INSIDE and value.__module__ == name:
                yield from (
                    (f"{name}.{key}.{k}", v) for k, v in list(vars(value).items()) if isinstance(v, FunctionType)
                )


def see_untouched(before: Mapping[str, Any]) -> None:
    """Check that no function of the code that judges candidates has been replaced.

    Raises:
        TamperedError: a function has been replaced.
    """
    now = dict(_functions())
    changed = [name for name, value in before.items() if now.get(name) is not value]
    if changed:
        raise TamperedError(f"replaces {', '.join(sorted(changed)[:3])}", path=FILE)


def compiled(asked: TrialCase, log: Callable[[int], str]) -> dict[str, Any]:
    """Compile the candidate in this process and analyse it.

    Raises:
        KprofError: the candidate cannot be loaded, or does not compile.
    """
    import msgspec

    from kprof.api.live.questions import kernel_answer

    entry, knobs = load_candidate(asked, interpret=False)
    report, code, job = _compiled(asked, entry, knobs, log)
    answer = kernel_answer(msgspec.json.decode(msgspec.json.encode(report)))
    problems = [str(problem) for problem in code.launch_problems]
    parts = [
        f"{name}, which the case also launches, is neither replaced nor part of the time" for name in asked.kernel.parts
    ]
    why = None if problems else implausible(asked.kernel, job.problem, asked.own, work_of(report))
    return {"kind": "compiled", "kernel": asdict(answer), "problems": problems, "notes": parts, "implausible": why}


def with_timed_launch(asked: TrialCase, memory: int) -> TrialCase:
    """Return the case with the timed launch and its inputs, which all candidates share.

    The case is returned without a timed launch if results cannot be compared or the tensors exceed the memory limit.

    Args:
        asked: the case.
        memory: memory limit of a candidate, in bytes.
    """
    from kprof.hardware.machine import load_gpu

    kernel = asked.kernel
    if asked.not_checked or not kernel.shapes:
        return asked
    arch = load_gpu(asked.arch)[0].name
    problem = kernel.problem(arch, asked.case)
    arguments = kernel.launch(problem, kernel.configure(asked.arch, {}, problem)).args.values()
    size = sum(prod(one.shape) * size_of(one.dtype) for one in arguments if isinstance(one, Tensor))
    # Finding the written elements needs each tensor, its copy and their comparison: three times the tensors' size.
    if 3 * size > memory:
        why = f"its tensors take {size / 1e9:,.1f} GB, more than a third of --memory"
        return replace(asked, not_timed=f"not checked at the timed size: {why}")
    assert kernel.inputs is not None
    return replace(asked, timed=TimedLaunch(problem, kernel.inputs(problem, "cpu", asked.seed), asked.seed))


def interpreted(asked: TrialCase) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Run the case's checks with the candidate's function; return a description of each output, and its raw bytes.

    Raises:
        KprofError: the candidate cannot be loaded, or fails.
    """
    import torch

    from kprof.bench.interpreter import type_loop_variables

    kernel = asked.kernel
    assert kernel.run is not None
    assert kernel.inputs is not None
    # Create the inputs before any line of the candidate runs, so that the candidate cannot influence them.
    drawn = {trial.name: kernel.inputs(trial.shape, "cpu", trial.seed) for trial in asked.trials({})}
    entry, knobs = load_candidate(asked, interpret=True)
    names = kernel.run.__globals__
    if asked.function not in names:
        return {"kind": "unchecked", "why": f"the case's run does not launch {asked.function} by its name"}, {}
    counted = ChosenPrograms(entry, shuffled(asked.seed))
    names[asked.function] = counted
    type_loop_variables(entry)
    listed: list[list[Any]] = []
    blobs = {}
    for trial in asked.trials(knobs):
        try:
            with poisoned_tensors():
                outputs = kernel.run(drawn[trial.name], trial.shape, trial.config)
        except KprofError:
            raise
        except Exception as error:
            if trial.is_compiled:
                listed.append([trial.name, "", _error_text(error), []])
                continue
            raise TargetError(f"check {trial.name}: {_error_text(error)}", path=FILE) from error
        if not counted.launches:
            return {"kind": "unchecked", "why": f"the case's run does not launch {asked.function}"}, {}
        for key, value in outputs.items():
            blobs[f"{trial.name} {key}"] = value.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
            listed.append([trial.name, key, str(value.dtype).removeprefix("torch."), list(value.shape)])
    timed, more = _timed(asked, entry, knobs)
    return {"kind": "outputs", "outputs": listed, "timed": timed, "knobs": knobs}, {**blobs, **more}


def _timed(asked: TrialCase, entry: Any, knobs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Run a few programs of the timed launch; return a description of what they write, and the raw bytes."""
    import torch

    if asked.timed is None:
        return {}, {}
    launch = replace(asked.timed, seed=asked.seed)
    try:
        found = written_elements(asked.kernel, asked.function, entry, launch, timed_config(asked, knobs))
    except KprofError:
        raise
    except Exception as error:  # noqa: BLE001 - a kernel may raise anything
        return {"failed": _error_text(error)}, {}
    blobs, types = {}, {}
    for name, (places, values) in found.values.items():
        types[name] = str(values.dtype).removeprefix("torch.")
        blobs[f"{TIMED} places {name}"] = places.numpy().tobytes()
        blobs[f"{TIMED} values {name}"] = values.view(torch.uint8).numpy().tobytes() if len(values) else b""
    return {"types": types, "outputs": found.outputs}, blobs


def timed_config(asked: TrialCase, knobs: Mapping[str, Any]) -> dict[str, Any]:
    """Return all knobs of the timed launch; the candidate's knobs override the defaults."""
    assert asked.timed is not None
    return asked.kernel.configure(asked.arch, dict(knobs), asked.timed.shape)


def _error_text(error: BaseException) -> str:
    """Return the type and first line of a kernel's error, which Triton's interpreter wraps in errors of its own."""
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    first = str(cause).strip().split("\n", 1)[0]
    return f"{type(cause).__name__}: {first}" if first else type(cause).__name__
