"""What analyzers get, what they give, and how they are found.

An analyzer is any object with the :class:`Analyzer` protocol. Those in ``kprof_analyzers`` are built in; other
distributions add theirs through the entry-point group ``kprof.analyzers``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from kprof.document import LoopFacts, Occupancy, PassChange, Resources, Specialization
from kprof.findings import Finding

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture, Product
    from kprof.inputs.amdgcn import Kernel as Program
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
        passes: what each compiler pass changed, ``None`` when it was not recorded.
        history: the passes themselves, to be asked about single lines; ``None`` likewise.
        resources, occupancy, loops: as in the document.
        triton: the compiling Triton's version.
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
    passes: Sequence[PassChange] | None = None
    history: PassLog | None = None
    triton: str | None = None


@dataclass(frozen=True)
class Analysis:
    """What one analyzer found, and what it could not check and why."""

    findings: Sequence[Finding] = ()
    notes: Sequence[str] = ()


class Analyzer(Protocol):
    """Judges one kernel. Must not raise on unusual kernels: what cannot be checked becomes a note."""

    def analyze(self, facts: KernelFacts) -> Analysis:
        """Findings and notes for one kernel."""
        ...


def discover() -> Iterable[Analyzer]:
    """Built-in analyzers first, then those of installed entry points in the group ``kprof.analyzers``."""
    from importlib import import_module

    for module_name in providers():
        yield from import_module(module_name).analyzers()


def providers() -> tuple[str, ...]:
    """Names of the modules that have analyzers, ``kprof_analyzers`` first."""
    import sys

    return _providers(tuple(sys.path))


@lru_cache(maxsize=4)
def _providers(_path: tuple[str, ...]) -> tuple[str, ...]:
    """Modules that have analyzers. Looking through all that is installed on a path takes longer than many a rule."""
    from importlib.metadata import entry_points

    return tuple(dict.fromkeys(("kprof_analyzers", *(e.value for e in entry_points(group="kprof.analyzers")))))
