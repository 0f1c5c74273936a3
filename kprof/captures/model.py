"""A capture as it is read back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kprof.captures import layout, staleness
from kprof.captures.installed import InstalledFiles
from kprof.captures.records import CompileRecord, Head
from kprof.captures.stages import read_metadata, read_stage
from kprof.compiler.limits import LaunchProblem, launch_problems
from kprof.compiler.request import CompileRequest
from kprof.compiler.specialization import specialization_of
from kprof.document import Specialization
from kprof.errors import InputError
from kprof.findings import Location
from kprof.hardware.model import Product

Grid = tuple[int, ...]

NOT_COMPILED = "not compiled when the recording ended"
"""Error of a kernel whose compile was not begun or did not end."""


@dataclass(frozen=True)
class TensorInfo:
    """A tensor argument.

    Attributes:
        dtype: as torch writes it, without ``torch.``: ``bfloat16``.
        shape: elements along each dimension.
        strides: in elements.
        values: its integers in the order of memory, where the course of the kernel or whole tiles' addresses depend on
            them and they were known at the launch; else ``None``.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    values: tuple[int, ...] | None = None


@dataclass(frozen=True)
class TensorList:
    """A list of tensors, as optimizers pass them.

    Attributes:
        dtype: of the first.
        tensors: how many there are.
        elements: of all.
    """

    dtype: str
    tensors: int
    elements: int


@dataclass(frozen=True)
class ModelScope:
    """A place in a model.

    Attributes:
        phase: ``forward``, ``backward``, ``optimizer``, or ``outside modules``.
        module: classes of the modules around the call, outermost first, with dots between; in the backward pass those
            whose gradients it computes.
        range: what the program calls the part itself (``record_function``), outermost first, with `` > `` between.
        place: the line of the program; ``None`` where its code is not on the stack.
        compiled: whether code that ``torch.compile`` generated makes the call.
    """

    phase: str
    module: str
    range: str = ""
    place: Location | None = None
    compiled: bool = False


@dataclass(frozen=True)
class CapturedOperator:
    """One call of an operator of torch's own, which a GPU computes with kernels that are not here.

    Attributes:
        name: ``aten::mm``.
        inputs: arguments in the schema's order: :class:`TensorInfo`, :class:`TensorList`, a number, a text, a list or
            ``None``.
        outputs: results, likewise.
        process: index of the process in :attr:`Capture.processes`.
        scope: where in the model it was called.
        from_host: it copies from the host's memory, which no kernel does.
        to_host: it copies to the host's memory, as where a value is looked at.
        factor: of a product the number of the storage of its left factor, in its process; ``None`` of others.
    """

    name: str
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    process: int = 0
    scope: ModelScope | None = None
    from_host: bool = False
    to_host: bool = False
    factor: int | None = None


@dataclass(frozen=True)
class CapturedLaunch:
    """One launch.

    Attributes:
        kernel: identifier of the kernel.
        process: index of the process in :attr:`Capture.processes`.
        sequence: position among the launches of that process.
        grid: workgroups in x, y, z.
        stream: the stream, 0 for the default one.
        site: the Python line that launched, and its callers outwards.
        arguments: by name: :class:`TensorInfo`, a number, a text or ``None``.
        tuning: the choice of an autotuner, which only a device can make, that the configuration stands for; ``None``
            where none chose.
        scope: where in the model and in a training step, where operators were recorded.
    """

    kernel: str
    process: int
    sequence: int
    grid: Grid
    stream: int = 0
    site: Sequence[Location] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tuning: "CapturedTuning | None" = None
    scope: "ModelScope | None" = None

    @property
    def choice_unknown(self) -> bool:
        """Whether the configuration stands for an autotuner's choice."""
        return self.tuning is not None

    @property
    def caller(self) -> Location | None:
        """The innermost line that belongs to no installed package; else the line that launched."""
        own = (place for place in self.site if not {"site-packages", "dist-packages"} & set(Path(place.file).parts))
        return next(own, self.site[0] if self.site else None)


@dataclass(frozen=True)
class TriedLaunch:
    """The launch of one configuration of an autotuner.

    Attributes:
        kernel: identifier of the kernel.
        grid: workgroups in x, y, z.
        arguments: as of :class:`CapturedLaunch`.
    """

    kernel: str
    grid: Grid
    arguments: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class CapturedTuning:
    """What an autotuner would have tried for one key.

    Attributes:
        name: the kernel's name.
        candidates: configuration, as Triton writes it, to the kernel's identifier; ``None`` when its launch failed
            before the compiler was asked.
        errors: configuration to the reason, for those.
        launches: configuration to its launch, where that was recorded.
        first: the tuning whose choice this follows, where the same key was launched with other sizes.
    """

    name: str
    candidates: Mapping[str, str | None]
    errors: Mapping[str, str]
    launches: Mapping[str, TriedLaunch] = field(default_factory=dict)
    first: "CapturedTuning | None" = None

    @property
    def choosing(self) -> "CapturedTuning":
        """The tuning that makes the choice: the autotuner's first one for the key."""
        return self if self.first is None else self.first

    def listed_for(self, kernel: str, grid: Grid, arguments: Mapping[str, Any]) -> Mapping[str, TriedLaunch]:
        """Return the launches of all configurations that stand beside one launch; none if they are of other sizes."""
        own = TriedLaunch(kernel, grid, arguments)
        return self.launches if own in self.launches.values() else {}


def with_candidates(
    kernel: "CapturedKernel", tuning: CapturedTuning | None, kernels: "Mapping[str, CapturedKernel]"
) -> "CapturedKernel":
    """Return a kernel, of one launch, with what its autotuner would choose among.

    Args:
        kernel: with the grid and the arguments of the launch.
        tuning: of that launch; ``None``: nothing chose.
        kernels: of the capture, by identifier.
    """
    if tuning is None:
        return kernel
    grid = next(iter(kernel.grids), ())
    listed = tuning.listed_for(kernel.id, grid, kernel.arguments)
    first = tuning.choosing.launches if listed and tuning.first is not None else {}

    def launched(tried: Mapping[str, TriedLaunch]) -> "dict[str, CapturedKernel]":
        return {
            config: replace(
                kernels[one.kernel],
                grids={one.grid: 1},
                arguments=one.arguments,
                product=kernel.product,
                choice_unknown=False,
                candidates={},
            )
            for config, one in tried.items()
            if one.kernel in kernels
        }

    return replace(kernel, candidates=launched(listed), first_candidates=launched(first))


def caller(site: Sequence[Location]) -> str:
    """The innermost place of the program's own code."""
    own = (place for place in site if "site-packages" not in place.file and "dist-packages" not in place.file)
    return str(next(own, site[0] if site else "an unknown place"))


@dataclass(frozen=True)
class UnrunOperator:
    """An operator on tensors of the GPU that was answered without running what the GPU would run.

    Attributes:
        name: ``library::operator.overload``.
        how: what answered: ``zeros``, ``cpu kernel``, ``recursion`` or ``shape``.
        calls: how often, over all processes; at least, where a process was killed.
        site: where it was called first, and the callers outwards.
    """

    name: str
    how: str
    calls: int
    site: Sequence[Location] = ()

    def __str__(self) -> str:
        return f"{self.name} ({self.calls:,} call{'' if self.calls == 1 else 's'}, {_HOW.get(self.how, self.how)})"


_HOW = {
    "cpu kernel": "by its CPU kernel",
    "recursion": "by the CPU, since it calls itself without end",
    "shape": "with the shape alone",
}
_NAMED = 8


def unrun_words(operators: Sequence[UnrunOperator], most: int = _NAMED) -> str | None:
    """What was answered without running, in one sentence; ``None`` when nothing was.

    Args:
        operators: of a capture.
        most: names that are listed.
    """
    if not operators:
        return None
    listed = ", ".join(map(str, operators[:most]))
    more = f", and {len(operators) - most} more" if len(operators) > most else ""
    count = "1 operator" if len(operators) == 1 else f"{len(operators)} operators"
    return f"{count} answered without running: {listed}{more}"


@dataclass(frozen=True)
class CapturedKernel:
    """One specialisation of a kernel.

    Attributes:
        id: its folder below ``kernels``; the same program with the same Triton gives the same one.
        name: the Triton function's name.
        arch: architecture that it was compiled for.
        triton: version of the compiling Triton.
        module: the Python module that defines it; empty when not known.
        source: its file and line. Never opened or imported by kprof's reader.
        request: everything that was asked of the compiler. ``path`` in it comes from the capture: do not import it.
        specialized: compile-time values of the request that the function does not declare so: arguments that were 1.
        result: how the compile went; ``None`` when the recording ended before it did.
        folder: where its files are.
        launches: how often it was launched.
        grids: grid to the number of launches with it, most frequent first.
        arguments: of its first launch with the most frequent grid, by name, as in :attr:`CapturedLaunch.arguments`;
            empty when never launched.
        site: the Python line of its first launch, and its callers outwards.
        configs: configurations of autotuners that it is, as Triton writes them.
        choice_unknown: it was launched only for an autotuner whose choice is not known.
        listed: configurations among which that autotuner chooses; 0 where it is of none.
        candidates: these configurations, as Triton writes them, to their kernels with the grid and the arguments that
            the program would launch them with; empty where that was not recorded.
        first_candidates: the same for the launch that the autotuner chose with, where it had other sizes.
        product: the product that was named when it was recorded, or that the program was told it runs on where an
            older version did not record the name; ``None`` when only an architecture was named.
        product_assumed: whether it is not known that the product was named.
        unrecorded: what of its program was answered without running, one sentence; ``None`` when nothing was.
        moved: folder that its sources were recorded in, and the one that they are in now; ``None`` when they have not
            moved, or are not there.
    """

    id: str
    name: str
    arch: str
    triton: str
    module: str
    source: Location | None
    request: CompileRequest
    result: CompileRecord | None
    folder: Path
    launches: int = 0
    grids: Mapping[Grid, int] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    site: Sequence[Location] = ()
    configs: Sequence[str] = ()
    choice_unknown: bool = False
    product: Product | None = None
    product_assumed: bool = False
    unrecorded: str | None = None
    moved: tuple[str, str] | None = None
    specialized: frozenset[str] = frozenset()
    listed: int = 0
    candidates: "Mapping[str, CapturedKernel]" = field(default_factory=dict)
    first_candidates: "Mapping[str, CapturedKernel]" = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether it was compiled."""
        return self.result is not None and self.result.status == "ok"

    @property
    def error(self) -> str | None:
        """Why it was not compiled, one sentence; ``None`` when it was."""
        if self.result is None:
            return NOT_COMPILED
        return None if self.ok else self.result.error or self.result.status

    @property
    def specialization(self) -> Specialization:
        """What was compiled, as the report says it."""
        return specialization_of(self.request)

    @cached_property
    def metadata(self) -> Mapping[str, Any]:
        """Triton's metadata (``shared`` is the LDS in bytes); empty when there is none."""
        return read_metadata(self.folder)

    @property
    def launch_problems(self) -> Sequence[LaunchProblem]:
        """Limits of the hardware that the compiled kernel breaks: it cannot be launched."""
        return launch_problems(self.arch, self.metadata)

    @property
    def refused(self) -> bool:
        """Whether its launch failed since it does not fit, and the program went on; an autotuner's do not count."""
        return self.ok and not self.launches and not self.listed and bool(self.launch_problems)

    def text(self, stage: str) -> str:
        """``ttir``, ``ttgir`` or ``amdgcn``.

        Raises:
            KprofError: it was not made, or cannot be read.
        """
        if stage not in layout.STAGES:
            raise InputError(f"a capture holds {', '.join(layout.STAGES)}, not {stage}", path=str(self.folder))
        return read_stage(self.folder, stage)


@dataclass(frozen=True)
class Capture:
    """A capture directory.

    Attributes:
        path: the directory.
        head: what was asked.
        kernels: unique specialisations in the order of their first appearance.
        processes: command line of each recorded process that used Triton.
        executed: whether kernels ran, on a real device, or were only recorded.
        tunings: autotuned kernels.
        reads: places where the program looked at values that were not computed: what, and where.
        reads_count: how often it did.
        unrun: operators that were answered without running what the GPU would run, most calls first.
        ran: operators that the program registered for the GPU to the calls of their kernels.
        silent: of these calls, those that launched nothing, most first.
        torch: torch's own operators on tensors of the GPU, which a GPU computes without Triton, to their calls.
        peak_bytes: the most that one process had in use on one device, by torch's allocator; ``None`` if not recorded.
        notes: what is missing or doubtful, in words.
        complete: whether every process closed its journal.
        sources: the program's own files to their SHA-256, named from :attr:`root`; ``None`` when that is not recorded.
        outside: those that do not lie below it, as a capture that was moved alone no longer finds them.
        packages: those of installed packages, from the folder that these are installed in: all of packages that have
            kernels of it, of others the data that was read.
        packages_absent: what the program looked for in packages and was not there.
        distributions: packages without kernels of it, to the distribution and version that they were of.
        imported: distributions that modules without kernels were imported from, to their versions.
        absent: what the program looked for and was not there, named from :attr:`root`.
        folders: folders that it listed, to the SHA-256 of the names in them.
        overflowed: the program had more files than are kept, so that not all are compared.
    """

    path: Path
    head: Head
    kernels: Sequence[CapturedKernel]
    processes: Sequence[Sequence[str]] = ()
    executed: bool = False
    tunings: Sequence[CapturedTuning] = ()
    reads: Sequence[tuple[str, Sequence[Location]]] = ()
    reads_count: int = 0
    unrun: Sequence[UnrunOperator] = ()
    ran: Mapping[str, int] = field(default_factory=dict)
    silent: Mapping[str, int] = field(default_factory=dict)
    torch: Mapping[str, int] = field(default_factory=dict)
    peak_bytes: int | None = None
    notes: Sequence[str] = ()
    complete: bool = True
    sources: Mapping[str, str] | None = None
    outside: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    packages_absent: Sequence[str] = ()
    distributions: Mapping[str, str] = field(default_factory=dict)
    imported: Mapping[str, str] = field(default_factory=dict)
    absent: Sequence[str] = ()
    folders: Mapping[str, str] = field(default_factory=dict)
    overflowed: bool = False

    @property
    def root(self) -> Path:
        """The folder that names of sources start in."""
        return self.path / self.head.root

    def changes(self, root: Path | None = None, *, follow: bool = False) -> list[str]:
        """What is not as it was when this was recorded, each in words; nothing where no sources are known.

        Args:
            root: where the names start now, if not in :attr:`root`.
            follow: compare what does not lie below the root, too.
        """
        at = self.root if root is None else root
        changed = staleness.changed(at, self.sources or {})
        changed += staleness.changed(at, self.outside, follow=True) if follow else []
        changed += self.installed.changed()
        there = staleness.appeared(at, self.absent, follow=follow) + self.installed.appeared()
        listed = staleness.relisted(at, self.folders, follow=follow)
        return [
            *(f"{words} since it was recorded" for words in staleness.shortened(changed)),
            *(f"{words} not there when it was recorded" for words in staleness.shortened(there, ("was", "were"))),
            *(f"{words} held other files when it was recorded" for words in staleness.shortened(listed)),
        ]

    @cached_property
    def installed(self) -> InstalledFiles:
        """The packages that it was made from, as this Python has them."""
        return InstalledFiles(self.packages, self.packages_absent, self.distributions)

    @property
    def arch(self) -> str:
        """The architecture that was compiled for."""
        return self.head.arch

    @property
    def looked_at(self) -> list[str]:
        """Values that the program looked at and that no kernel had written: ``nonzero at moe.py:12``."""
        return list(dict.fromkeys(f"{what} at {caller(site)}" for what, site in self.reads))

    @property
    def launch_count(self) -> int:
        """Launches of all kernels."""
        return sum(kernel.launches for kernel in self.kernels)

    def kernel(self, identifier: str) -> CapturedKernel:
        """The kernel with this identifier.

        Raises:
            KeyError: there is none.
        """
        return self._by_id[identifier]

    @cached_property
    def _by_id(self) -> Mapping[str, CapturedKernel]:
        return {kernel.id: kernel for kernel in self.kernels}
