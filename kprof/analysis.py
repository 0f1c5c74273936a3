"""The interface of analyzers, which check compiled kernels: their input, their result, and how they are discovered.

An analyzer is any object with the :class:`Analyzer` protocol. The analyzers in ``kprof_analyzers`` are built in; other
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
    """One run of a compiler pass."""

    @property
    def order(self) -> int:
        """Position among all passes, from 0."""
        ...

    @property
    def name(self) -> str:
        """Name of the pass on MLIR's command line, for example ``tritonamdgpu-pipeline``."""
        ...

    @property
    def options(self) -> str:
        """Options of the pass, in braces as the compiler prints them."""
        ...

    @property
    def changed(self) -> bool | None:
        """Whether the pass changed the module; ``None`` if not known."""
        ...


class PassLog(Protocol):
    """Log of all compiler passes of one compile (:class:`kprof.compiler.passes.PassHistory`)."""

    @property
    def records(self) -> Sequence[PassRun]:
        """Pass runs in order of execution."""
        ...

    def counts(self, operation: str, line: int | None = None) -> Sequence[tuple[PassRun, int, int]]:
        """Return each pass that changed how often an operation occurs, with the counts before and after it.

        Args:
            operation: name of the operation.
            line: source line whose operations are counted; ``None`` for all lines.
        """
        ...


@dataclass(frozen=True)
class KernelFacts:
    """All data read or computed for one compiled kernel, as input of the analyzers.

    Attributes:
        name: the kernel's function name.
        arch: hardware model.
        product: the GPU product (number of CUs and XCDs, clocks, bandwidth); ``None`` if none was named.
        program: instructions, blocks and loops.
        ttgir: the TTGIR module; ``None`` if only assembly is available.
        metadata: Triton's metadata (``shared``, ``num_warps``, ...); empty if Triton did not compile the kernel.
        specialization: signature, constants and options of the compile.
        grid: workgroups in x, y, z; ``None`` if no launch is known.
        arguments: numbers that the launch passes, by argument name; empty when no launch is known.
        contents: known integers in the memory that pointer arguments point to (indices, for example), by argument name.
        tensor_bytes: total bytes of the tensors that a recorded launch passes; ``None`` if not known.
        condition: timing condition: state of the caches and timing method.
        passes: changes made by each compiler pass; ``None`` when they were not recorded.
        history: the compiler passes, which can be queried for single lines; ``None`` when they were not recorded.
        resources, occupancy, loops: as in :class:`kprof.document.KernelReport`.
        triton: version of Triton that compiled the kernel.
        prediction: result of the performance model; ``None`` for analyzers that run before it.
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
    """Contents of a tensor of unknown size: an arithmetic sequence without end.

    Args:
        first: value at index 0.
        step: increment per index; 0 repeats the same number everywhere.
    """

    EXTENT = 1 << 44
    """Length of the sequence: larger than any tensor."""

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
    """Change to the modelled kernel that removes the effect of a finding, to predict the launch time without it.

    Instructions are identified by their position in the program.

    Attributes:
        gone: instructions that are assumed not to exist.
        wide: assumed bytes per lane of a memory access, by the access; each byte is fetched once.
        cycles: factor on the cycles that an instruction keeps its unit busy, by instruction.
        conflict_free: LDS accesses that are assumed to have no bank conflicts.
        leave_out: effects that the model has to ignore: ``memory_latency``, ``lds_latency``, ``wave_quantisation``,
            ``matrix_large``; ``dies_in_turn``: neighbouring workgroups are assigned to different dies; ``write_backs``:
            atomics write back L2, and atomics on one address wait for each other.
        num_warps: assumed wavefronts per workgroup; ``None`` for those of the launch.
        workgroups_per_cu: assumed workgroups that a CU holds; ``None`` for those of the launch.
        idle_share: share of the CUs that are idle and are assumed to take over work of the others.
        at_most: True if the change removes more time than any repair can save, so that the predicted gain is an upper
            bound.
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
    """Result of one analyzer for one kernel: its findings, the rules that it checked, and why it skipped others.

    Attributes:
        findings: the findings.
        notes: further facts that the user has to know, one sentence each.
        checked: identifiers of the rules that were checked completely.
        not_checked: rules that could not be checked because a required fact is missing.
        does_not_apply: rules about hardware features that the architecture does not have.
        failed: analyzers that failed, and entry points that could not be loaded.
        changes: for each finding, in the same order, the model change that removes it; shorter if the changes of the
            last findings are not known.
    """

    findings: Sequence[Finding] = ()
    notes: Sequence[str] = ()
    checked: Sequence[str] = ()
    not_checked: Sequence[Unjudged] = ()
    does_not_apply: Sequence[Unjudged] = ()
    failed: Sequence[Failure] = ()
    changes: Sequence[ModelChange | None] = ()


class Analyzer(Protocol):
    """Checker of compiled kernels: it receives one kernel and returns findings.

    It must not raise an exception for unusual kernels, but add a note that names the unchecked part.
    """

    def analyze(self, facts: KernelFacts) -> AnalyzerResult:
        """Return the findings and notes for one kernel."""
        ...


@dataclass(frozen=True)
class Unusable:
    """Placeholder for the analyzers of an entry point that could not be loaded."""

    failure: Failure

    def analyze(self, _facts: KernelFacts) -> AnalyzerResult:
        """Return a result that contains only the failure."""
        return AnalyzerResult(failed=(self.failure,))


def asked(analyzer: Analyzer, facts: KernelFacts) -> AnalyzerResult:
    """Run an analyzer on a kernel.

    If the analyzer raises an exception, return its failure as the result, so that other analyzers can still run.
    """
    try:
        found = analyzer.analyze(facts)
        return replace(found, findings=tuple(found.findings), notes=tuple(found.notes))
    except Exception as error:  # noqa: BLE001 - other people's code
        kind = type(analyzer)
        return AnalyzerResult(
            failed=(Failure(analyzer=f"{kind.__module__}.{kind.__qualname__}", reason=_words(error)),)
        )


def discover() -> Iterator[Analyzer]:
    """Yield the built-in analyzers, then those of installed entry points in the group ``kprof.analyzers``.

    An entry point that cannot be loaded yields an :class:`Unusable`.
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
    """Return the names of the modules that contain analyzers, ``kprof_analyzers`` first."""
    return tuple(module for _, module in _named())


def _named() -> tuple[tuple[str, str], ...]:
    """Return the entry point's name and the module of each provider of analyzers."""
    from kprof.plug_ins import entries

    others = {e.value: e.name for e in entries("kprof.analyzers").values() if e.value != _BUILT_IN}
    return (("builtin", _BUILT_IN), *((name, module) for module, name in others.items()))


def _words(error: Exception) -> str:
    """Return an exception and its source location in one line: ``ValueError: no such thing (plugin.py:12)``."""
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    where = "" if last is None else f" ({last.filename.replace(chr(92), '/').rsplit('/', 1)[-1]}:{last.lineno})"
    text = " ".join(str(error).split())[:_LONGEST]
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"


_LONGEST = 200


def failed_words(reports: Iterable[KernelReport]) -> list[str]:
    """Return one sentence for each analyzer that could not be loaded or that failed on a kernel."""
    failures = (failure for report in reports if report.rules is not UNSET for failure in report.rules.failed)
    return list(dict.fromkeys(map(str, failures)))
