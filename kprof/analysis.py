"""What analyzers get, what they give, and how they are found.

An analyzer is any object with the :class:`Analyzer` protocol. Those in ``kprof_analyzers`` are built in; other
distributions add theirs through the entry-point group ``kprof.analyzers``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, overload

from msgspec import UNSET

from kprof.condition import WARM, Condition
from kprof.document import KernelReport, LoopFacts, Occupancy, PassChange, Prediction, Resources, Specialization
from kprof.findings import Failure, Finding, Unjudged

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture, Product
    from kprof.inputs.amdgcn import AssemblyKernel as Program
    from kprof.inputs.mlir import Module


class PassRun(Protocol):
    """One run of one compiler pass."""

    @property
    def order(self) -> int:
        """Position among all passes, from 0."""
        ...

    @property
    def name(self) -> str:
        """As on MLIR's command line: ``tritonamdgpu-pipeline``."""
        ...

    @property
    def options(self) -> str:
        """In braces, where the compiler prints them."""
        ...

    @property
    def changed(self) -> bool | None:
        """Whether it changed the module; ``None`` when that is not known."""
        ...


class PassLog(Protocol):
    """Every compiler pass of one compile (:class:`kprof.compiler.passes.PassHistory`)."""

    @property
    def records(self) -> Sequence[PassRun]:
        """In the order in which they ran."""
        ...

    def counts(self, operation: str, line: int | None = None) -> Sequence[tuple[PassRun, int, int]]:
        """Passes that changed the number of operations of a name, with the numbers before and after."""
        ...


@dataclass(frozen=True)
class KernelFacts:
    """Everything read or computed about one compiled kernel, before any judgement.

    Attributes:
        name: the kernel's function name.
        arch: hardware model.
        product: the GPU meant, when one was named (CU and XCD count, clocks, bandwidth).
        program: instructions, blocks and loops.
        ttgir: the TTGIR module, ``None`` when only assembly is at hand.
        metadata: Triton's metadata (``shared``, ``num_warps``, ...), empty when not from Triton.
        specialization: what was compiled.
        grid: workgroups in x, y, z, ``None`` when no launch is known.
        arguments: numbers that the launch passes, by name; empty when no launch is known.
        contents: integers in memory that pointer arguments point to, by name, where they are known: indices.
        tensor_bytes: bytes of all tensors that a recorded launch passes; ``None`` where that is not known.
        condition: what a timed launch finds in the caches.
        passes: what each compiler pass changed, ``None`` when it was not recorded.
        history: the passes themselves, to be asked about single lines; ``None`` likewise.
        resources, occupancy, loops: as in the document.
        triton: the compiling Triton's version.
        prediction: the performance model's, for analyzers that are asked last; ``None`` for all others.
    """

    name: str
    arch: "Architecture"
    program: "Program"
    resources: Resources
    occupancy: Occupancy | None
    loops: Sequence[LoopFacts]
    specialization: Specialization = field(default_factory=Specialization)
    product: "Product | None" = None
    ttgir: "Module | None" = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    grid: tuple[int, ...] | None = None
    arguments: Mapping[str, int | float] = field(default_factory=dict)
    contents: Mapping[str, Sequence[int]] = field(default_factory=dict)
    tensor_bytes: int | None = None
    condition: Condition = WARM
    passes: Sequence[PassChange] | None = None
    history: PassLog | None = None
    triton: str | None = None
    prediction: Prediction | None = None


class Endless(Sequence[int]):
    """What a tensor of unknown size holds: ``first``, and from place to place ``step`` more.

    Args:
        first: at place 0.
        step: 0 for one number everywhere.
    """

    EXTENT = 1 << 44
    """Its length, beyond any tensor's."""

    def __init__(self, first: int, step: int = 0) -> None:
        self._first, self._step = first, step

    def __len__(self) -> int:
        return self.EXTENT

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> list[int]: ...

    def __getitem__(self, place: int | slice) -> int | list[int]:
        if isinstance(place, slice):
            raise TypeError("it has no end")
        return self._first + self._step * place


@dataclass(frozen=True)
class ModelChange:
    """What a kernel would not have without a finding: the performance model tells its time without that.

    Instructions are named by their position in the program.

    Attributes:
        gone: instructions that would not be there.
        wide: memory access to the bytes a lane that it would move, each fetched once.
        cycles: instruction to the factor on the cycles that its unit is busy.
        conflict_free: LDS accesses that would have no bank conflicts.
        leave_out: ``memory_latency``, ``lds_latency``, ``wave_quantisation``, ``matrix_large``: effects of the model;
            ``dies_in_turn``: neighbouring workgroups are assigned to different dies; ``write_backs``: atomics write
            back L2, and those on one address wait for each other.
        num_warps: wavefronts of a workgroup.
        workgroups_per_cu: workgroups that a CU holds.
        idle_share: share of the CUs that have no work and would have some of the others'.
        at_most: more is left out than any repair can bring.
    """

    gone: tuple[int, ...] = ()
    wide: Mapping[int, int] = field(default_factory=dict)
    cycles: Mapping[int, float] = field(default_factory=dict)
    conflict_free: tuple[int, ...] = ()
    leave_out: tuple[str, ...] = ()
    num_warps: int | None = None
    workgroups_per_cu: float | None = None
    idle_share: float | None = None
    at_most: bool = False


@dataclass(frozen=True)
class AnalyzerResult:
    """What one analyzer found, and what it could not check and why.

    Attributes:
        findings: what it found.
        notes: what else the user has to know, one sentence each.
        checked: identifiers of the rules that looked at everything they look for.
        not_checked: rules that lack a fact that they rest on.
        does_not_apply: rules about what the architecture does not have.
        failed: what could not be asked.
        changes: for each finding, in the same order, what there would not be without it; shorter where that is not
            known of the last ones.
    """

    findings: Sequence[Finding] = ()
    notes: Sequence[str] = ()
    checked: Sequence[str] = ()
    not_checked: Sequence[Unjudged] = ()
    does_not_apply: Sequence[Unjudged] = ()
    failed: Sequence[Failure] = ()
    changes: Sequence[ModelChange | None] = ()


class Analyzer(Protocol):
    """Judges one kernel. Must not raise on unusual kernels: what cannot be checked becomes a note."""

    def analyze(self, facts: KernelFacts) -> AnalyzerResult:
        """Findings and notes for one kernel."""
        ...


@dataclass(frozen=True)
class Unusable:
    """Stands for the analyzers of an entry point that could not be loaded."""

    failure: Failure

    def analyze(self, _facts: KernelFacts) -> AnalyzerResult:
        """Nothing but the failure."""
        return AnalyzerResult(failed=(self.failure,))


def asked(analyzer: Analyzer, facts: KernelFacts) -> AnalyzerResult:
    """What an analyzer says; that it raised, where it does. One that is broken must not cost the others' findings."""
    try:
        found = analyzer.analyze(facts)
        return replace(found, findings=tuple(found.findings), notes=tuple(found.notes))
    except Exception as error:  # noqa: BLE001 - other people's code
        kind = type(analyzer)
        return AnalyzerResult(
            failed=(Failure(analyzer=f"{kind.__module__}.{kind.__qualname__}", reason=_words(error)),)
        )


def discover() -> Iterator[Analyzer]:
    """Built-in analyzers first, then those of installed entry points in the group ``kprof.analyzers``.

    An entry point that cannot be loaded gives an :class:`Unusable`.
    """
    from importlib import import_module

    for name, module in _named():
        try:
            found: Iterable[Analyzer] = tuple(import_module(module).analyzers())
        except Exception as error:
            if module == _BUILT_IN:
                raise
            found = (Unusable(Failure(analyzer=f"entry point {name} ({module})", reason=_words(error))),)
        yield from found


_BUILT_IN = "kprof_analyzers"


def providers() -> tuple[str, ...]:
    """Names of the modules that have analyzers, ``kprof_analyzers`` first."""
    return tuple(module for _, module in _named())


def _named() -> tuple[tuple[str, str], ...]:
    """Name and module of what has analyzers."""
    from kprof.plug_ins import entries

    others = {e.value: e.name for e in entries("kprof.analyzers").values() if e.value != _BUILT_IN}
    return (("builtin", _BUILT_IN), *((name, module) for module, name in others.items()))


def _words(error: Exception) -> str:
    """``ValueError: no such thing (plugin.py:12)``: on one line, with the place where it was raised."""
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    where = "" if last is None else f" ({last.filename.replace(chr(92), '/').rsplit('/', 1)[-1]}:{last.lineno})"
    text = " ".join(str(error).split())[:_LONGEST]
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"


_LONGEST = 200


def failed_words(reports: Iterable[KernelReport]) -> list[str]:
    """Each analyzer that could not be loaded or failed at one of the kernels, a sentence each."""
    failures = (failure for report in reports if report.rules is not UNSET for failure in report.rules.failed)
    return list(dict.fromkeys(map(str, failures)))
