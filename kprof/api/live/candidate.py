"""What is done with one candidate: compiled and analysed, or run in Triton's interpreter and compared.

A candidate is a file with a Triton function that takes the place of a case's own; the case, a kernel file with a launch
and a reference, is trusted.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError, TargetError
from kprof.kernel_spec import ELEMENT_TYPES, Kernel, resolve_fp8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kprof.kernel_spec import Check

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
    """

    kernel: Kernel
    arch: str
    case: str | None
    any_python: bool
    seed: int

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

    def problem(self, check: "Check") -> tuple[str, dict[str, Any]]:
        """The architecture, and a check's shape there."""
        from kprof.hardware.machine import load_gpu

        arch = load_gpu(self.arch)[0].name
        return arch, resolve_fp8(check.shape, arch)


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
    from kprof.compiler.cached_compile import build
    from kprof.hardware.machine import load_gpu
    from kprof.targets.jobs import jobs_of, loaded
    from kprof.targets.options import TargetOptions
    from kprof_analyzers.pipeline import analyze

    entry, knobs = load_candidate(asked, interpret=False)
    machine, product = load_gpu(asked.arch)
    options = TargetOptions(archs=(asked.arch,), config=knobs, case=asked.case, use_cache=False)
    (job,) = jobs_of(replace(asked.kernel, entry=entry), machine, options)
    code = build(job.request, None, lambda _stage: None, log, {})
    report = analyze(replace(loaded(job, code), product=product), model=True)
    answer = kernel_answer(msgspec.json.decode(msgspec.json.encode(report)))
    problems = [str(problem) for problem in code.launch_problems]
    parts = [
        f"{name}, which the case launches too, is the case's own and not in the time" for name in asked.kernel.parts
    ]
    return {"kind": "compiled", "kernel": asdict(answer), "problems": problems, "notes": parts}


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
    given = {name: kernel.inputs(asked.problem(check)[1], "cpu", asked.seed) for name, check in kernel.checks.items()}
    entry, knobs = load_candidate(asked, interpret=True)
    names = kernel.run.__globals__
    if asked.function not in names:
        return {"kind": "unchecked", "why": f"the case's run does not launch {asked.function} by its name"}, {}
    counted = _Counted(entry)
    names[asked.function] = counted
    listed, blobs = [], {}
    for name, check in kernel.checks.items():
        arch, shape = asked.problem(check)
        try:
            outputs = kernel.run(given[name], shape, kernel.configure(arch, {**check.config, **knobs}, shape))
        except KprofError:
            raise
        except Exception as error:
            raise TargetError(f"check {name}: {_words(error)}", path=FILE) from error
        if not counted.launches:
            return {"kind": "unchecked", "why": f"the case's run does not launch {asked.function}"}, {}
        for key, value in outputs.items():
            blobs[f"{name} {key}"] = value.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
            listed.append([name, key, str(value.dtype).removeprefix("torch."), list(value.shape)])
    return {"kind": "outputs", "outputs": listed}, blobs


def _words(error: BaseException) -> str:
    """What a kernel raises: Triton's interpreter puts its own words around it."""
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    first = str(cause).strip().split("\n", 1)[0]
    return f"{type(cause).__name__}: {first}" if first else type(cause).__name__


def judged(asked: TrialCase, listed: "Sequence[Any]", blobs: Mapping[str, bytes]) -> dict[str, Any]:
    """Compare outputs, made by a candidate, with the case's reference; a result a check."""
    import torch

    from kprof.bench.compare import compare_all, describe, is_right

    kernel = asked.kernel
    assert kernel.inputs is not None
    assert kernel.reference is not None
    assert kernel.tolerance is not None
    types = {kind.torch for kind in ELEMENT_TYPES.values()}
    got: dict[str, dict[str, Any]] = {}
    for check, name, kind, shape in listed:
        if kind not in types:
            raise TargetError(f"check {check}: {name} is of the type {kind}")
        data = bytearray(blobs[f"{check} {name}"])
        flat = torch.frombuffer(data, dtype=getattr(torch, kind)) if data else torch.empty(0)
        got.setdefault(check, {})[name] = flat.reshape(shape)
    checks = []
    for name, check in kernel.checks.items():
        shape = asked.problem(check)[1]
        expected = kernel.reference(kernel.inputs(shape, "cpu", asked.seed), shape)
        outputs = got.get(name, {})
        if outputs.keys() != expected.keys():
            checks.append([name, False, f"gives {sorted(outputs)}, the reference {sorted(expected)}"])
            continue
        errors = compare_all(outputs, expected, kernel.tolerance(shape))
        wrong = [describe(error) for error in errors if not is_right(error)]
        checks.append([name, not wrong, "; ".join(wrong)])
    return {"kind": "checked", "checks": checks}
