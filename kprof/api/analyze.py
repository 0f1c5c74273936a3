"""``kprof.analyze``: analyse how a kernel will run on an AMD GPU and what limits it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kprof.api.measurements import joining
from kprof.api.programs import launches_of
from kprof.api.result import ReportResult
from kprof.document import KernelReport
from kprof.errors import KprofError, TargetError, near_hint
from kprof.findings import Severity
from kprof.options.kernels import AnalyzeOptions, KernelOptions
from kprof.options.keywords import keywords
from kprof.targets.target import TargetKind, TargetLike, is_report, resolve

if TYPE_CHECKING:
    from kprof.api.measurements import Joining
    from kprof.details import Details
    from kprof.targets.jobs import TargetJob
    from kprof.targets.loaded import LoadedKernel


_SOURCES = frozenset({TargetKind.SOURCE, TargetKind.KERNEL, TargetKind.FUNCTION})


@dataclass(frozen=True)
class Program:
    """Compiled code of an analysed kernel, which pages and timelines need in addition to the report.

    Attributes:
        loaded: the kernel with its instructions.
        folders: folders whose source files may be shown; ``None`` if kprof compiled the kernel, because its source
            paths can then be trusted.
    """

    loaded: "LoadedKernel"
    folders: Sequence[Path] | None


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(ReportResult):
    """Result of :func:`analyze`: the reports of the analysed kernels.

    Attributes:
        document: the JSON document that ``kprof analyze kernel --json`` writes (``kprof.report/1``).
        failures: errors of targets that could not be analysed; empty unless ``keep_going`` is set.
        programs: the kernels' instructions, in the order of ``kernels``; ``None`` for kernels of saved reports.
    """

    failures: Sequence[KprofError] = ()
    programs: Sequence[Program | None] = ()

    @property
    def time_us(self) -> float | None:
        """Predicted time of the only analysed kernel or call, in microseconds; ``None`` if it is not known.

        Raises:
            KprofError: several kernels were analysed; use ``kernels`` or ``document.jobs`` instead.
        """
        if len(self.document.jobs) == 1 and len(self.document.jobs[0].launches) == len(self.kernels):
            return self.document.jobs[0].time_us
        return self._only.time_us

    @property
    def tflops(self) -> float | None:
        """Throughput of the only kernel in TFLOP/s (1e12 operations per second), from its predicted time."""
        return self._only.tflops

    @property
    def asm(self) -> str:
        """Assembly of the only kernel."""
        return self._stage("amdgcn")

    @property
    def ttgir(self) -> str:
        """TTGIR of the only kernel."""
        return self._stage("ttgir")

    @property
    def _only(self) -> KernelReport:
        if len(self.kernels) != 1:
            names = ", ".join(kernel.name for kernel in self.kernels)
            raise KprofError(f"{len(self.kernels)} kernels were analysed: {names}", hint="Use one of result.kernels.")
        return self.kernels[0]

    def _stage(self, name: str) -> str:
        kernel = self._only
        program = self.programs[0] if self.programs else None
        text = None if program is None else program.loaded.stages.get(name)
        if not isinstance(text, str):
            raise KprofError(f"{kernel.name} has no {name}", hint="Only kernels that kprof compiles have it.")
        return text

    def timeline(self) -> str:
        """Return the modelled wavefronts of a SIMD as a JSON trace for ui.perfetto.dev. Nothing in it is measured."""
        from kprof_analyzers.model.wave_timeline import wave_timeline
        from kprof_analyzers.pipeline import facts_of

        return "".join(wave_timeline(facts_of(one.loaded)[0] for one in self.programs if one is not None))

    def to_html(self, max_size: float | None = None) -> str:
        """Return one self-contained page: findings, source next to TTGIR and instructions, loops, pictures.

        Args:
            max_size: maximum size of the page in megabytes, 1 by default, 0 for no limit. Kernels that do not fit are
                shortened; the worst kernels are shortened last.
        """
        if max_size is None:
            return str(self._as(".html", Path("page.html")))
        from kprof.reporters.html import HtmlReporter
        from kprof.reporters.rule_list import all_rules

        limit = int(max_size * 1e6) or 1 << 40
        return HtmlReporter(self.details(), all_rules(), limit).render(self.document)

    def details(self) -> "Mapping[int, Details]":
        """Return the details that a page shows of each kernel in addition to the document, by the kernel's position."""
        from kprof_analyzers.details import SourceText, details_of, without_program
        from kprof_analyzers.pipeline import facts_of

        found = {}
        for position, (kernel, one) in enumerate(zip(self.kernels, self.programs, strict=False)):
            if one is None:
                found[position] = without_program(kernel)
                continue
            sources = SourceText(trusted=True) if one.folders is None else SourceText(one.folders)
            ttgir = one.loaded.stages.get("ttgir")
            text = ttgir if isinstance(ttgir, str) else None
            found[position] = details_of(facts_of(one.loaded)[0], sources, kernel.findings, text)
        return found


@keywords
def analyze(
    *targets: TargetLike,
    options: AnalyzeOptions,
    keep_going: bool = False,
    keep_programs: bool = True,
    program: Sequence[str] | None = None,
) -> Analysis:
    """Compile or read kernels, and analyse how they will run on an AMD GPU. No GPU is used.

    If ``arch`` is empty, sources are compiled for the GPU of the measurements. ``kernels[0].measured`` compares the
    model with ``counters``, ``trace`` and ``thread_trace``.

    Args:
        targets: a bundled kernel's name, ``"file.py::function"``, a ``@triton.jit`` function, a :class:`kprof.Kernel`,
            an assembly file, a code object, HIP source, a Triton cache directory, a capture, or a report that
            ``--json`` wrote. Only Python files are run, as ``import`` runs them.
        options: how sources are compiled, measurements to compare with, and what to report.
        keep_going: set the verdict to ``cannot_tell`` instead of raising if a target cannot be analysed.
        keep_programs: keep the instructions, a few megabytes per kernel; pages and timelines need them.
        program: arguments of the one Python file in ``targets``, which is run as ``__main__`` in its own process
            on the simulated GPU; the kernels it launches are analysed. ``None`` runs nothing.

    Raises:
        TargetError: a target does not exist, is incomplete, or cannot use one of the options.
        CompileError: a kernel does not compile, or Triton is missing.
        InputError: a file cannot be read.
        HardwareError: an architecture is not known.
    """
    worst = Severity(options.fail_on) if options.fail_on not in {None, "never"} else None
    return analyzed(
        targets, options, dump=options.dump, worst=worst, keep_going=keep_going, keep=keep_programs, program=program
    )


def analyzed(
    targets: Sequence[TargetLike],
    options: KernelOptions,
    *,
    dump: str | None = None,
    worst: Severity | None = None,
    keep_going: bool = False,
    keep: bool = True,
    program: Sequence[str] | None = None,
) -> Analysis:
    """Analyse kernels like :func:`analyze`, for any command whose options extend ``KernelOptions``.

    Args:
        targets: kernels, files or folders to analyse.
        options: how sources are compiled, and measurements to compare with.
        dump: a folder to which each compiler stage is written.
        worst: a finding of at least this severity makes the verdict ``regression``.
        keep_going: set the verdict to ``cannot_tell`` instead of raising if a target cannot be analysed.
        keep: keep the instructions.
        program: arguments of the one Python file in ``targets``, which is run; ``None`` runs nothing.

    Raises:
        KprofError: as :func:`analyze`.
    """
    from kprof.tuning.tries_switch import cures_allowed
    from kprof_analyzers.verdict import report

    measured = joining(options, options.arch)
    gpu = "" if options.arch else _measured_gpu(measured, targets)
    options = replace(options, arch=[gpu]) if gpu else options
    folders = (Path.cwd(), *map(_folder, options.source))
    wanted = _Wanted(options, folders, dump, keep, {}, measured, options.try_cures and cures_allowed())
    run: AbstractContextManager[tuple[Sequence[TargetLike], Sequence[KprofError]]]
    run = nullcontext((targets, ())) if program is None else launches_of(targets, program, options, options.time_limit)
    with run as (chosen, problems):
        found, failures = wanted.of_all(chosen, keep_going=keep_going)
    failures[:0] = problems
    wanted.check_some(found, targets, keep_going=keep_going)
    if measured is not None:
        measured.check_some()
    document = report([entry for entry, _ in found], failed=list(map(str, failures)), fail_on=worst)
    return Analysis(document, failures, [code for _, code in found])


@dataclass(frozen=True)
class _Wanted:
    """Settings of one analysis, applied to each target.

    Attributes:
        options: how sources are compiled.
        folders: folders in which sources of compiled targets are searched.
        dump: folder to which each compiler stage is written, or ``None``.
        keep: whether to keep the instructions of the analysed kernels.
        names: names of all kernels seen so far; filled by :meth:`kernels`.
        measured: measurements to merge into the reports, or ``None``.
        try_cures: whether to compile the cheap fixes of costly findings, to see their effect.
    """

    options: KernelOptions
    folders: Sequence[Path]
    dump: str | None
    keep: bool
    names: dict[str, None]
    measured: "Joining | None" = None
    try_cures: bool = True

    def of_all(
        self, targets: Sequence[TargetLike], *, keep_going: bool
    ) -> tuple[list[tuple[KernelReport, Program | None]], list[KprofError]]:
        """Analyse the kernels of all targets; return their reports and code, and the errors of targets that failed."""
        found: list[tuple[KernelReport, Program | None]] = []
        failures: list[KprofError] = []
        for target in targets:
            # The list is extended one kernel at a time, so that kernels analysed before an error are kept.
            try:
                begin = len(found)
                found.extend((entry, code if self.keep else None) for entry, code in self.kernels(target))
                found[begin:] = self._under_other_releases(target, found[begin:])
            except KprofError as error:
                if not keep_going:
                    raise
                failures.append(error)
        return found, failures

    def check_some(self, found: Sequence[object], targets: Sequence[TargetLike], *, keep_going: bool) -> None:
        """Raise an error if no kernel was found.

        Raises:
            TargetError: no kernel has the requested name, or no target has kernels and ``keep_going`` is not set.
        """
        wanted = self.options.kernel
        if not found and self.names and wanted is not None:
            hint = near_hint(wanted, self.names, "there are")
            path = ", ".join(resolve(target).text for target in targets)
            raise TargetError(f"no kernel {wanted!r}", path=path, hint=hint)
        if not (found or keep_going):
            raise TargetError("there is nothing to analyse", hint="Name a target: a kernel, a file or a folder.")

    def kernels(self, target: TargetLike) -> Iterator[tuple[KernelReport, Program | None]]:
        """Yield the analysed kernels of a target."""
        from kprof.tuning.known_advice import with_advice

        if isinstance(target, str | os.PathLike) and is_report(Path(target)):
            if self.measured is not None:
                hint = "Name the kernel instead: measurements are compared with its compiled code."
                raise TargetError("a saved report cannot be combined with measurements", path=str(target), hint=hint)
            for entry in self._saved(Path(target)):
                if self._takes(entry.name):
                    yield entry, None
            return
        if not self.keep and self.dump is None and self.measured is None and self._is_source(target):
            from kprof_analyzers.report_cache import predicted_reports

            for job, entry in predicted_reports(target, self.options):
                if self._takes(entry.name):
                    yield self._cured(with_advice(entry), job), None
            return
        from kprof.targets.jobs import job_of
        from kprof.targets.resolver import load
        from kprof_analyzers.autotuned import in_chosen_configuration
        from kprof_analyzers.pipeline import analyze as judged

        sources = self._source_folders(target)
        for loaded in map(in_chosen_configuration, load(target, self.options)):
            if self._takes(loaded.name):
                if self.dump is not None:
                    from kprof.targets.dump import write_stages

                    write_stages(loaded, Path(self.dump))
                entry = judged(loaded, model=True)
                if self.measured is not None:
                    entry = self.measured.add_to(entry, loaded)
                own = None if loaded.request is None else job_of(loaded)
                yield self._cured(with_advice(entry), own), Program(loaded, sources)

    def _cured(self, entry: KernelReport, job: "TargetJob | None") -> KernelReport:
        """Compile cheap fixes of a report's costly findings and add the results, if enabled and the source is known."""
        if not self.try_cures or job is None:
            return entry
        from kprof.tuning.cures import with_cures

        return with_cures(entry, job, jobs=self.options.jobs)

    def _under_other_releases(
        self, target: TargetLike, kernels: list[tuple[KernelReport, Program | None]]
    ) -> list[tuple[KernelReport, Program | None]]:
        """Add the results of neighbouring Triton releases to the reports, if such releases are installed."""
        if not isinstance(target, str | Path) or not self._is_source(target):
            return kernels
        if not self.try_cures or self.dump is not None or self.options.passes:
            return kernels
        from kprof.tuning.trials.releases import with_other_releases

        reports = with_other_releases([report for report, _ in kernels], os.fspath(target), self.options)
        return [(report, code) for report, (_, code) in zip(reports, kernels, strict=True)]

    def _takes(self, name: str) -> bool:
        self.names[name] = None
        return self.options.kernel in {None, name}

    def _saved(self, path: Path) -> Iterator[KernelReport]:
        from kprof.diffing.reading import read_report
        from kprof.targets.usable_options import check, given

        check(TargetKind.REPORT, str(path), given(self.options))
        document = read_report(path)
        yield from document.kernels
        if document.verdict.status == "cannot_tell" and document.notes:
            raise KprofError(f"the report is incomplete: {document.notes[0]}", path=str(path))

    @staticmethod
    def _is_source(target: TargetLike) -> bool:
        return resolve(target).kind in _SOURCES

    def _source_folders(self, target: TargetLike) -> Sequence[Path] | None:
        """Return the folders whose source files may be shown; ``None`` (any) if kprof compiles the kernel.

        A precompiled kernel may name any path in its debug information, so its paths are not trusted.
        """
        if self._is_source(target):
            return None
        found = resolve(target)
        return (*self.folders, found.path.parent) if found.path.is_file() else self.folders


def _measured_gpu(measured: "Joining | None", targets: Sequence[TargetLike]) -> str:
    """Return the measured GPU, the default of ``--arch``; "" without measurements or if a target is compiled code."""
    if measured is None or not all(resolve(target).kind in _SOURCES for target in targets):
        return ""
    return measured.measurement.name or ""


def _folder(given: "str | os.PathLike[str]") -> Path:
    path = Path(given)
    if not path.is_dir():
        raise KprofError("no such folder", path=str(path), hint="--source needs a folder with source files.")
    return path
