"""What is done with one candidate: compiled and analysed, or run in Triton's interpreter and compared.

A candidate is a file with a Triton function that takes the place of a case's own; the case, a kernel file with a launch
and a reference, is trusted.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError, TargetError
from kprof.kernel_spec import ELEMENT_TYPES, Kernel, resolve_fp8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kprof.document import KernelReport
    from kprof.kernel_spec import Check
    from kprof.targets.jobs import TargetJob

FILE = "candidate.py"
_WATCHED = ("triton", "kprof", "kprof_analyzers", "torch", "numpy", "builtins", "os", "json")
_INSIDE = ("triton", "kprof", "kprof_analyzers")


@dataclass(frozen=True)
class TrialCase:
    """A case for candidates.

    Attributes:
        kernel: the case's kernel.
        arch: architecture or product.
        case: name of one of its shapes, ``None`` for the first.
        any_python: take files with other Python than Triton functions, too.
        seed: of the inputs that results are compared on.
        own: what the case's own kernel does; ``None`` where it cannot be modelled.
    """

    kernel: Kernel
    arch: str
    case: str | None
    any_python: bool
    seed: int
    own: "LaunchWork | None" = None

    @property
    def function(self) -> str:
        """The name of the Triton function that a candidate defines."""
        from kprof.importing.wrappers import kernel_function

        return str(kernel_function(self.kernel.entry).fn.__name__)

    @property
    def not_checked(self) -> str | None:
        """Why no result can be compared; ``None`` when it can."""
        kernel = self.kernel
        needed = {name: getattr(kernel, name) for name in ("run", "inputs", "reference", "tolerance", "checks")}
        lacking = [name for name, value in needed.items() if not value]
        return f"{kernel.name} has no {', no '.join(lacking)}" if lacking else None

    def trials(self, knobs: Mapping[str, Any]) -> "list[CheckTrial]":
        """Return what is run: each check on inputs of its own, the first one again, and with what was compiled.

        Args:
            knobs: the candidate's own.
        """
        from kprof.hardware.machine import load_gpu

        arch = load_gpu(self.arch)[0].name
        found: list[CheckTrial] = []
        if not self.kernel.checks:
            return found
        for number, (name, check) in enumerate(self.kernel.checks.items()):
            shape = resolve_fp8(check.shape, arch)
            config = self.kernel.configure(arch, {**check.config, **knobs}, shape)
            found.append(CheckTrial(name, shape, config, self.seed + number))
        first, check = next(iter(self.kernel.checks.items()))
        again = found[0]
        found.append(CheckTrial(f"{first}, other values", again.shape, again.config, self.seed + len(found)))
        if self.kernel.shapes:
            problem = self.kernel.problem(arch, self.case)
            compiled = self.kernel.configure(arch, dict(knobs), problem)
            found.append(
                CheckTrial(f"{first}, {COMPILED}", again.shape, compiled, self.seed + len(found), is_compiled=True)
            )
        return found

    def problem(self, check: "Check") -> tuple[str, dict[str, Any]]:
        """The architecture, and a check's shape there."""
        from kprof.hardware.machine import load_gpu

        arch = load_gpu(self.arch)[0].name
        return arch, resolve_fp8(check.shape, arch)


COMPILED = "as compiled"
"""How the check is called that runs with the knobs of the compiled case."""


@dataclass(frozen=True)
class CheckTrial:
    """One run of a check.

    Attributes:
        name: the check, and what is other about this run.
        shape: its problem.
        config: all knobs.
        seed: of the inputs.
        is_compiled: the knobs are those of the compiled case: where the case's own kernel is wrong with them on so
            small a problem, the run says nothing.
    """

    name: str
    shape: Mapping[str, Any]
    config: Mapping[str, Any]
    seed: int
    is_compiled: bool = False


@dataclass(frozen=True)
class LaunchWork:
    """What a compiled launch does, by the model.

    Attributes:
        time_us: its predicted time.
        moved: bytes that its lanes load and store, masked ones included.
        matrix: operations of matrix instructions.
        operations: all floating-point operations.
    """

    time_us: float
    moved: float
    matrix: float
    operations: float


_LEAST_MOVED, _LEAST_MATRIX, _LEAST_OPERATIONS = 0.9, 0.9, 0.2
"""Shares of what a case needs below which a candidate cannot have done it. Scalar arithmetic can be saved honestly."""


def work_of(report: "KernelReport") -> LaunchWork | None:
    """Return what a launch does, or None where that is not known."""
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
    """Return why a candidate's code cannot have done the case's work, or None if it can.

    Args:
        kernel: the case's kernel.
        problem: the case's problem.
        own: what the case's own kernel does; nothing is said where that is not known.
        work: what the candidate does.
    """
    if own is None:
        return None
    if work is None:
        return "not plausible: how often its loops iterate is not known, while it is for the case's own kernel"
    # What the case's file says is for the whole call; the kernel itself needs no more than it does now.
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
    """Return what a case's file says of its work; no limit where it says nothing that can be used."""
    try:
        found = None if count is None else count(problem)
    except Exception:  # noqa: BLE001 - the file's own code may fail in any way, and the kernel's own work is known
        found = None
    return found if isinstance(found, int | float) else inf


def own_work(asked: TrialCase) -> LaunchWork | None:
    """Return what the case's own kernel does, compiled in this process; None where it cannot be modelled."""
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
    (job,) = jobs_of(replace(asked.kernel, entry=entry), machine, options)
    code = build(job.request, None, lambda _stage: None, log, {})
    return analyze(replace(loaded(job, code), product=product), model=True), code, job


def load_candidate(asked: TrialCase, *, interpret: bool) -> tuple[Any, dict[str, Any]]:
    """The candidate's function and knobs, from the current folder.

    Raises:
        TargetError: the file is not of the form that is asked for, cannot be imported, or lacks the function.
        TamperedError: it replaces something that judges it.
    """
    from kprof.importing.loading import load_module
    from kprof.importing.plain_functions import check_plain, knobs_of, parsed
    from kprof.importing.wrappers import kernel_function

    path = Path.cwd() / FILE
    tree = parsed(path.read_text(encoding="utf-8"))
    if not asked.any_python:
        check_plain(tree)
    before = dict(_functions())
    module = load_module(path, interpret=interpret)
    see_untouched(before)
    entry = getattr(module, asked.function, None)
    if kernel_function(entry) is None:
        raise TargetError(f"has no Triton function {asked.function}, which the case launches", path=FILE)
    return entry, knobs_of(tree)


class TamperedError(KprofError):
    """A candidate has changed what judges it."""


def _functions() -> Iterator[tuple[str, Any]]:
    """Functions and classes of what judges a candidate, by name."""
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
    """See that no function is another one than before.

    Raises:
        TamperedError: one is.
    """
    now = dict(_functions())
    changed = [name for name, value in before.items() if now.get(name) is not value]
    if changed:
        raise TamperedError(f"replaces {', '.join(sorted(changed)[:3])}", path=FILE)


def compiled(asked: TrialCase, log: Callable[[int], str]) -> dict[str, Any]:
    """Compile the candidate in this process and analyse it.

    Raises:
        KprofError: it cannot be loaded, or does not compile.
    """
    import msgspec

    from kprof.api.live.questions import kernel_answer

    entry, knobs = load_candidate(asked, interpret=False)
    report, code, job = _compiled(asked, entry, knobs, log)
    answer = kernel_answer(msgspec.json.decode(msgspec.json.encode(report)))
    problems = [str(problem) for problem in code.launch_problems]
    parts = [
        f"{name}, which the case launches too, is the case's own and not in the time" for name in asked.kernel.parts
    ]
    why = None if problems else implausible(asked.kernel, job.problem, asked.own, work_of(report))
    return {"kind": "compiled", "kernel": asdict(answer), "problems": problems, "notes": parts, "implausible": why}


class _Counted:
    """A Triton function that counts its launches."""

    def __init__(self, function: Any) -> None:
        self._function, self.launches = function, 0

    def __getitem__(self, grid: Any) -> Any:
        self.launches += 1
        return self._function[grid]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def interpreted(asked: TrialCase) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Run the case's checks with the candidate in its place; its outputs, as raw bytes.

    Raises:
        KprofError: the candidate cannot be loaded, or fails.
    """
    import torch

    kernel = asked.kernel
    assert kernel.run is not None
    assert kernel.inputs is not None
    # Inputs are made before any line of the candidate runs.
    drawn = {trial.name: kernel.inputs(trial.shape, "cpu", trial.seed) for trial in asked.trials({})}
    entry, knobs = load_candidate(asked, interpret=True)
    names = kernel.run.__globals__
    if asked.function not in names:
        return {"kind": "unchecked", "why": f"the case's run does not launch {asked.function} by its name"}, {}
    counted = _Counted(entry)
    names[asked.function] = counted
    poison_new_tensors()
    listed: list[list[Any]] = []
    blobs = {}
    for trial in asked.trials(knobs):
        try:
            outputs = kernel.run(drawn[trial.name], trial.shape, trial.config)
        except KprofError:
            raise
        except Exception as error:
            if trial.is_compiled:
                listed.append([trial.name, "", _words(error), []])
                continue
            raise TargetError(f"check {trial.name}: {_words(error)}", path=FILE) from error
        if not counted.launches:
            return {"kind": "unchecked", "why": f"the case's run does not launch {asked.function}"}, {}
        for key, value in outputs.items():
            blobs[f"{trial.name} {key}"] = value.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
            listed.append([trial.name, key, str(value.dtype).removeprefix("torch."), list(value.shape)])
    return {"kind": "outputs", "outputs": listed, "knobs": knobs}, blobs


def poison_new_tensors() -> None:
    """Have torch fill what it would leave as it is: memory of an earlier run may hold the right result."""
    import torch

    def poisoned(make: Any) -> Any:
        def made(*arguments: Any, **options: Any) -> Any:
            found = make(*arguments, **options)
            return found.view(torch.uint8).fill_(_POISON).view(found.dtype) if found.numel() and found.dim() else found

        return made

    for name in ("empty", "empty_like"):
        setattr(torch, name, poisoned(getattr(torch, name)))


_POISON = 0xC7
"""A byte that makes a large negative number, or no number, of every element type."""


def _words(error: BaseException) -> str:
    """What a kernel raises: Triton's interpreter puts its own words around it."""
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    first = str(cause).strip().split("\n", 1)[0]
    return f"{type(cause).__name__}: {first}" if first else type(cause).__name__


def judged(
    asked: TrialCase, listed: "Sequence[Any]", blobs: Mapping[str, bytes], knobs: Mapping[str, Any]
) -> dict[str, Any]:
    """Compare outputs, made by a candidate, with the case's reference; a result a check."""
    import torch

    from kprof.bench.compare import compare_all, describe, is_right

    kernel = asked.kernel
    assert kernel.inputs is not None
    assert kernel.reference is not None
    assert kernel.tolerance is not None
    types = {kind.torch for kind in ELEMENT_TYPES.values()}
    got: dict[str, dict[str, Any]] = {}
    failed: dict[str, str] = {}
    for check, name, kind, shape in listed:
        if not name:
            failed[check] = kind
            continue
        if kind not in types:
            raise TargetError(f"check {check}: {name} is of the type {kind}")
        data = bytearray(blobs[f"{check} {name}"])
        flat = torch.frombuffer(data, dtype=getattr(torch, kind)) if data else torch.empty(0)
        got.setdefault(check, {})[name] = flat.reshape(shape)
    checks = []
    for trial in asked.trials(knobs):
        expected = kernel.reference(kernel.inputs(trial.shape, "cpu", trial.seed), trial.shape)

        def wrong(outputs: Any, trial: CheckTrial = trial, expected: Any = expected) -> str:
            if outputs.keys() != expected.keys():
                return f"gives {sorted(outputs)}, the reference {sorted(expected)}"
            errors = compare_all(outputs, expected, kernel.tolerance(trial.shape))  # type: ignore[misc]
            return "; ".join(describe(error) for error in errors if not is_right(error))

        reason = failed.get(trial.name) or wrong(got.get(trial.name, {}))
        if reason and trial.is_compiled and not _is_right_itself(kernel, trial, wrong):
            continue
        checks.append([trial.name, not reason, reason])
    return {"kind": "checked", "checks": checks}


def _is_right_itself(kernel: Kernel, trial: CheckTrial, wrong: Callable[[Any], str]) -> bool:
    """Return whether the case's own kernel passes a trial."""
    assert kernel.run is not None
    assert kernel.inputs is not None
    try:
        return not wrong(kernel.run(kernel.inputs(trial.shape, "cpu", trial.seed), trial.shape, trial.config))
    except Exception:  # noqa: BLE001 - a problem that is too small for the knobs may fail in any way
        return False
