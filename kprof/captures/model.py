"""Data model of a capture that was read."""

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
"""Error of a kernel whose compile did not start or did not finish."""


@dataclass(frozen=True)
class TensorInfo:
    """A tensor that is an argument of a launch, or an argument or result of an operator.

    Attributes:
        dtype: torch's name without ``torch.``, for example ``bfloat16``.
        shape: elements along each dimension.
        strides: strides in elements.
        values: the tensor's integers in memory order, if the kernel's control flow or the addresses of whole tiles
            depend on them and they were known at the launch; else ``None``.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    values: tuple[int, ...] | None = None


@dataclass(frozen=True)
class TensorList:
    """A list of tensors, as optimizers pass them.

    Attributes:
        dtype: element type of the first tensor.
        tensors: number of tensors.
        elements: total number of elements.
    """

    dtype: str
    tensors: int
    elements: int


@dataclass(frozen=True)
class ModelScope:
    """The module and the phase of the training step in which a call was made.

    Attributes:
        phase: ``forward``, ``backward``, ``optimizer``, or ``outside modules``.
        module: classes of the modules around the call, outermost first, separated by dots; in the backward pass the
            modules whose gradients are computed.
        range: names of the ``record_function`` ranges around the call, outermost first, separated by `` > ``.
        place: source line of the program that made the call; ``None`` if the program's code is not on the stack.
        compiled: True if the call was made by code that ``torch.compile`` generated.
    """

    phase: str
    module: str
    range: str = ""
    place: Location | None = None
    compiled: bool = False


@dataclass(frozen=True)
class CapturedOperator:
    """One call of a torch operator, which a GPU computes with kernels that are not in the capture.

    Attributes:
        name: name of the operator, for example ``aten::mm``.
        inputs: arguments in the order of the operator's schema: :class:`TensorInfo`, :class:`TensorList`, a number, a
            text, a list or ``None``.
        outputs: results, in the same form as ``inputs``.
        process: index of the process in :attr:`Capture.processes`.
        scope: module and phase of the training step in which the operator was called; ``None`` if unknown.
        from_host: True if the operator copies from host memory; no kernel runs for such a copy.
        to_host: True if the operator copies to host memory, for example because the program reads a value.
        factor: for a matrix product, the index of its left factor's storage within the process; ``None`` for other
            operators.
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
    """One recorded kernel launch.

    Attributes:
        kernel: identifier of the kernel.
        process: index of the process in :attr:`Capture.processes`.
        sequence: position among the launches of that process.
        grid: workgroups in x, y, z.
        stream: number of the GPU stream; 0 is the default stream.
        site: the Python line of the launch, followed by its callers from inner to outer.
        arguments: values by argument name: :class:`TensorInfo`, a number, a text or ``None``.
        tuning: the autotuner's configurations; ``None`` without an autotuner. The launch uses one of them as a
            substitute, because only measurements on a real GPU show which configuration is fastest.
        scope: module and phase of the training step; ``None`` if operators were not recorded.
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
        """Whether the configuration is a substitute, because the autotuner's choice is unknown without a GPU."""
        return self.tuning is not None

    @property
    def caller(self) -> Location | None:
        """The innermost source line outside of installed packages; if there is none, the line of the launch."""
        own = (place for place in self.site if not {"site-packages", "dist-packages"} & set(Path(place.file).parts))
        return next(own, self.site[0] if self.site else None)


@dataclass(frozen=True)
class TriedLaunch:
    """Launch that the program would make with one configuration of an autotuner.

    Attributes:
        kernel: identifier of the kernel.
        grid: workgroups in x, y, z.
        arguments: as in :class:`CapturedLaunch`.
    """

    kernel: str
    grid: Grid
    arguments: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class CapturedTuning:
    """Configurations that an autotuner would have tried for one value of its ``key`` arguments.

    Attributes:
        name: the kernel's name.
        candidates: identifier of the compiled kernel by configuration, in Triton's notation; ``None`` for a
            configuration whose launch failed before the compiler ran.
        errors: reason of the failure by configuration, for configurations whose launch failed.
        launches: launch of each configuration, if it was recorded.
        first: earlier tuning with the same key but other tensor sizes, whose choice this tuning reuses; ``None`` if
            this tuning makes its own choice.
    """

    name: str
    candidates: Mapping[str, str | None]
    errors: Mapping[str, str]
    launches: Mapping[str, TriedLaunch] = field(default_factory=dict)
    first: "CapturedTuning | None" = None

    @property
    def choosing(self) -> "CapturedTuning":
        """The tuning that chooses the configuration: the autotuner's first tuning for the key."""
        return self if self.first is None else self.first

    def listed_for(self, kernel: str, grid: Grid, arguments: Mapping[str, Any]) -> Mapping[str, TriedLaunch]:
        """Return the recorded launch of each configuration if the given launch is one of them.

        Return an empty mapping for any other launch: the recorded launches do not apply to other sizes.
        """
        own = TriedLaunch(kernel, grid, arguments)
        return self.launches if own in self.launches.values() else {}


def with_candidates(
    kernel: "CapturedKernel", tuning: CapturedTuning | None, kernels: "Mapping[str, CapturedKernel]"
) -> "CapturedKernel":
    """Return the kernel of one launch with the configurations among which its autotuner would choose.

    Args:
        kernel: the kernel, with the grid and the arguments of the launch.
        tuning: tuning of that launch; ``None`` without an autotuner.
        kernels: kernels of the capture, by identifier.
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
    """Return the innermost source line of a call stack that is in the program's own code."""
    own = (place for place in site if "site-packages" not in place.file and "dist-packages" not in place.file)
    return str(next(own, site[0] if site else "an unknown location"))


@dataclass(frozen=True)
class UnrunOperator:
    """An operator on GPU tensors whose result was provided without running the GPU's implementation.

    Attributes:
        name: ``library::operator.overload``.
        how: how the result was made: ``zeros``; ``cpu kernel``; ``recursion`` (on the CPU, because the operator calls
            itself endlessly); ``shape`` (only the result's shape is right).
        calls: number of calls over all processes; a lower bound if a process was killed.
        site: source line of the first call, followed by its callers from inner to outer.
    """

    name: str
    how: str
    calls: int
    site: Sequence[Location] = ()

    def __str__(self) -> str:
        return (
            f"{self.name} ({self.calls:,} call{'' if self.calls == 1 else 's'}, "
            f"{_ANSWER_WORDS.get(self.how, self.how)})"
        )


@dataclass(frozen=True)
class LeftOutLaunches:
    """Launches of another language than Triton that the program made and that are not in the capture.

    Attributes:
        language: name of the language.
        reason: why they could not be recorded.
        launches: number of launches; 0 if they could not be counted.
    """

    language: str
    reason: str
    launches: int = 0

    def __str__(self) -> str:
        count = {0: "launches", 1: "1 launch"}.get(self.launches, f"{self.launches:,} launches")
        verb = "is" if self.launches == 1 else "are"
        return f"{count} of {self.language} kernels {verb} not in this capture: {self.reason}"


_ANSWER_WORDS = {
    "cpu kernel": "by its CPU kernel",
    "recursion": "by the CPU, because it calls itself endlessly",
    "shape": "with the shape alone",
}
_MAX_SHOWN = 8


def unrun_words(operators: Sequence[UnrunOperator], most: int = _MAX_SHOWN) -> str | None:
    """Return a sentence that lists the operators that did not run on the GPU, or ``None`` if there are none.

    Args:
        operators: operators of a capture.
        most: maximum number of names to list.
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
        id: name of its folder below ``kernels``; recording the same program with the same Triton again gives the same
            identifier.
        name: the Triton function's name.
        arch: architecture that it was compiled for.
        triton: version of Triton that compiled it; "" for a kernel of another language.
        compiler: the other language with its version, for example ``FlyDSL 0.5.0``; "" for Triton.
        module: Python module that defines it; "" if unknown.
        source: file and line of the function. kprof's reader never opens or imports the file.
        request: the complete compile request. Its ``path`` comes from the capture: do not import it.
        specialized: arguments that became compile-time constants although the function does not declare them as
            constexpr, because their value was 1.
        result: result of the compile; ``None`` if the recording ended before the compile.
        folder: folder of its files.
        launches: number of launches.
        grids: number of launches by grid, most frequent first.
        arguments: arguments of its first launch with the most frequent grid, by name, as in
            :attr:`CapturedLaunch.arguments`; empty when never launched.
        site: the Python line of its first launch, followed by its callers from inner to outer.
        configs: autotuner configurations that compile to this kernel, in Triton's notation.
        choice_unknown: True if the kernel was launched only as a substitute for an autotuner's unknown choice.
        listed: number of configurations among which the kernel's autotuner chooses; 0 without an autotuner.
        candidates: kernel of each autotuner configuration, with the grid and the arguments of the launch that the
            program would make; keys are configurations in Triton's notation. Empty if not recorded.
        first_candidates: like ``candidates``, but for the earlier launch with other sizes for which the autotuner made
            its choice; empty if the choice was made for this launch.
        product: product that the user named for the recording; ``None`` if the user named only an architecture. Older
            captures do not contain the name; for them, the product that the simulated GPU reported.
        product_assumed: True if it is not known whether the user named the product.
        unrecorded: a sentence about the program's operators that did not run; ``None`` if all ran.
        moved: folder in which its sources were recorded, and their folder now; ``None`` if the sources have not moved
            or are missing.
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
    compiler: str = ""
    candidates: "Mapping[str, CapturedKernel]" = field(default_factory=dict)
    first_candidates: "Mapping[str, CapturedKernel]" = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the kernel was compiled successfully."""
        return self.result is not None and self.result.status == "ok"

    @property
    def error(self) -> str | None:
        """Reason why the kernel was not compiled, as a sentence; ``None`` if it was compiled."""
        if self.result is None:
            return NOT_COMPILED
        return None if self.ok else self.result.error or self.result.status

    @property
    def specialization(self) -> Specialization:
        """Signature, constants and options of the compile, as in a report."""
        return specialization_of(self.request)

    @cached_property
    def metadata(self) -> Mapping[str, Any]:
        """Triton's metadata (``shared`` is the LDS in bytes); empty if there is none."""
        return read_metadata(self.folder)

    @property
    def launch_problems(self) -> Sequence[LaunchProblem]:
        """Hardware limits that the compiled kernel exceeds, so that it cannot be launched."""
        return launch_problems(self.arch, self.metadata)

    @property
    def refused(self) -> bool:
        """Whether a launch exceeded a hardware limit and the program continued. False for autotuner configurations."""
        return self.ok and not self.launches and not self.listed and bool(self.launch_problems)

    def text(self, stage: str) -> str:
        """Return the text of a stage: ``ttir``, ``ttgir`` or ``amdgcn``.

        Raises:
            KprofError: the compiler did not reach the stage, or its text cannot be read.
        """
        if stage not in layout.STAGES:
            raise InputError(f"a capture contains {', '.join(layout.STAGES)}, not {stage}", path=str(self.folder))
        return read_stage(self.folder, stage)


@dataclass(frozen=True)
class Capture:
    """A capture directory.

    Attributes:
        path: the directory.
        head: content of ``capture.json``: command, GPU and version.
        kernels: specialisations without duplicates, in the order of their first appearance.
        processes: command line of each recorded process that used Triton.
        executed: True if kernels ran on a real device; False if they were only recorded.
        tunings: tunings of the autotuned kernels.
        reads: places where the program read values that were not computed: kind of read, and source lines.
        reads_count: total number of these reads, including repeated ones at the same place.
        unrun: operators whose result was provided without running the GPU's implementation, most calls first.
        ran: number of calls of GPU implementations that the program itself registered, by operator.
        silent: number of these calls that launched no kernel, by operator, largest first.
        torch: number of calls of torch operators on GPU tensors, which a GPU computes without Triton, by operator.
        left_out: launches of other languages than Triton that could not be recorded.
        peak_bytes: maximum memory in use by one process on one device, according to torch's allocator; ``None`` if not
            recorded.
        notes: sentences about missing or doubtful content.
        complete: whether every process closed its journal.
        sources: SHA-256 of the program's own files, by path relative to :attr:`root`; ``None`` when not recorded.
        outside: SHA-256 of source files that are not below the root. They are not found if only the capture is moved.
        packages: SHA-256 of files of installed packages, by path below ``site-packages``. Packages with kernels of the
            capture are listed with all used files, other packages only with the data files that were read.
        packages_absent: paths that the program looked for in packages and did not find.
        distributions: distribution and version of packages without kernels of the capture, by package.
        imported: versions of the distributions of imported modules without kernels, by distribution.
        absent: paths that the program looked for and did not find, relative to :attr:`root`.
        folders: for each folder that the program listed, the SHA-256 of the names in it.
        overflowed: True if the program used more files than a capture keeps; the other files cannot be compared.
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
    left_out: Sequence[LeftOutLaunches] = ()
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
        """The folder that source paths are relative to."""
        return self.path / self.head.root

    def changes(self, root: Path | None = None, *, follow: bool = False) -> list[str]:
        """Return phrases for the files that have changed since the recording; empty if no sources are known.

        Args:
            root: folder that source paths are relative to now; :attr:`root` by default.
            follow: whether to compare files outside the root as well.
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
            *(f"{words} contained other files when it was recorded" for words in staleness.shortened(listed)),
        ]

    @cached_property
    def installed(self) -> InstalledFiles:
        """Comparison of the package files that the capture was made from with this Python's packages."""
        return InstalledFiles(self.packages, self.packages_absent, self.distributions)

    @property
    def arch(self) -> str:
        """The architecture that the kernels were compiled for."""
        return self.head.arch

    @property
    def looked_at(self) -> list[str]:
        """Reads of values that no kernel had computed, as kind of read and source line: ``nonzero at moe.py:12``."""
        return list(dict.fromkeys(f"{what} at {caller(site)}" for what, site in self.reads))

    @property
    def launch_count(self) -> int:
        """Number of launches of all kernels."""
        return sum(kernel.launches for kernel in self.kernels)

    def kernel(self, identifier: str) -> CapturedKernel:
        """Return the kernel with this identifier.

        Raises:
            KeyError: there is no such kernel.
        """
        return self._by_id[identifier]

    @cached_property
    def _by_id(self) -> Mapping[str, CapturedKernel]:
        return {kernel.id: kernel for kernel in self.kernels}
