"""``kprof.advise``: other knobs, tried out by recompiling, and findings compared with measurements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from kprof.api.result import Result
from kprof.errors import KprofError, TargetError
from kprof.findings import Finding
from kprof.options.keywords import keywords
from kprof.options.searches import AdviseOptions
from kprof.targets.target import TargetKind, TargetLike, resolve

if TYPE_CHECKING:
    import pandas as pd

    from kprof.document import KernelReport
    from kprof.measured import Measured
    from kprof.tuning.evaluation import Evaluation
    from kprof.tuning.recorded import AdvisedKernel
    from kprof.tuning.recorded.relaunch import RelaunchedProgram
    from kprof.tuning.trials import Trials
    from kprof_analyzers.profiles.measured.reading import GpuMeasurements


@dataclass(frozen=True, eq=False, repr=False)
class Advised(Result):
    """What other knobs would change, and which findings the measurements confirm.

    Attributes:
        trials: the compiled configurations and their results; ``None`` without a search, or for several kernels.
            Resources and instructions are those of the compiled programs, times in microseconds are predicted.
        measured: the findings compared with measurements; ``None`` when no measurements were given.
        report: report of the measured kernel; ``None`` when no measurements were given.
        notes: what a reader should know about the run.
        kernels: results of each kernel of a capture or a program, with the change to make in its files. Empty for
            other targets.
    """

    trials: "Trials | None" = None
    measured: "Measured | None" = None
    report: "KernelReport | None" = None
    notes: Sequence[str] = ()
    kernels: "Sequence[AdvisedKernel]" = ()
    kind: ClassVar[str] = "advice"

    @property
    def best(self) -> "Sequence[Evaluation]":
        """The trials that are better than the start, the best first; each with its ``config`` and ``change``."""
        return self.trials.best if self.trials is not None else ()

    @property
    def findings(self) -> list[Finding]:
        """The findings of the kernel as it is, each with the change that fixes it where one was found."""
        from kprof.tuning.trials import advised

        if self.trials is not None:
            return advised(self.trials)
        return self.report.findings if self.report is not None else []

    @property
    def failures(self) -> list[str]:
        """Analyzers of plug-ins that could not be loaded, or failed at the kernels as they are; a sentence each."""
        from kprof.analysis import failed_words

        starts = [self.trials, *(kernel.trials for kernel in self.kernels)]
        reports = [self.report, *(one.start.report for one in starts if one is not None)]
        return failed_words(report for report in reports if report is not None)

    @property
    def untried(self) -> bool:
        """Whether the budget was spent before a configuration was compiled, and nothing was measured either."""
        trials = self.trials if self.measured is None else None
        return trials is not None and trials.left > 0 and trials.tried == 0

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as ``kprof advise --json`` writes it (``kprof.advice/1``)."""
        import msgspec

        from kprof.tuning.recorded.document import document_of

        found: dict[str, Any] = {}
        if self.measured is not None and self.report is not None:
            found = {
                "schema": "kprof.advice/1",
                "kernel": self.report.name,
                "arch": self.report.arch,
                "triton": self.report.triton if isinstance(self.report.triton, str) else None,
                "findings": msgspec.to_builtins(self.report.findings),
                "measured": msgspec.to_builtins(self.measured),
            }
        if self.trials is not None:
            from kprof.tuning.trials.document import document

            found |= document(self.trials)
        if len(self.kernels) == 1:
            found |= document_of(self.kernels[0])
        elif self.kernels:
            found |= {"schema": "kprof.advice/1", "kernels": [document_of(kernel) for kernel in self.kernels]}
        return found

    @property
    def summary(self) -> str:
        """What to try first, in one line; without a search, how many findings were confirmed."""
        from kprof.reporters import advice_text, measured_text, recorded_text

        if self.kernels:
            return recorded_text.verdict(self.kernels)
        if self.trials is not None:
            return advice_text.verdict(self.trials)
        assert self.measured is not None
        return measured_text.verdict(self.measured)

    def to_frame(self) -> "pd.DataFrame":
        """A row a trial, the start first: ``kind`` (``start``, ``best``, ``dominated``), the knobs as ``change``,
        ``time_us``, ``low_us``, ``high_us``, ``vgpr_spills``, ``vgprs``, ``waves`` a SIMD and ``lds_bytes``.
        """  # noqa: D205 - one sentence
        from kprof.api.frames import trials_frame

        return trials_frame(self.trials)

    def _repr_html_(self) -> str:
        from kprof.reporters._notebook import advice

        return advice(self.summary, self.trials, self.measured)


@keywords
def advise(
    target: TargetLike | None = None,
    *,
    options: AdviseOptions,
    program: Sequence[str] | None = None,
    progress: Callable[[int, str], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Advised:
    """Try other knobs by recompiling, and say what they change. No GPU is used.

    With ``counters`` or ``trace`` the findings are first compared with what was measured. Spills, registers, occupancy
    and instructions are those of compiled programs; time is predicted.

    Kernels of a capture get other compiler options from what was recorded, and other tiles by running its program again
    up to the launch; that is only done where the program lies here as it was recorded.

    Args:
        target: a bundled kernel, a file with a ``KERNEL``, a :class:`kprof.Kernel`, or a capture, with ``::NAME`` one
            kernel of it. With ``program`` a Python file to run, or ``None``.
        options: the knobs to start from, and how others are searched.
        program: a program to record and to advise on: its command, or with a file as the target its arguments.
        progress: called with the number of finished compiles and a few words.
        tell: called with what is run.

    Raises:
        TargetError: there is no such kernel, it has no cases, or it is several.
        CompileError: it does not compile as it is.
        InputError: a measurement cannot be read, or does not have the kernel.
        KprofError: more than one architecture, or nothing to do.
    """
    from kprof.hardware.default import DEFAULT_GPU
    from kprof.tuning.known_advice import remember

    asked = options.one_gpu("kprof advise")
    measurement = _measurement(options, asked)
    gpu = (measurement.name if measurement is not None else None) or asked or DEFAULT_GPU
    searching = _Search(options, progress, tell)
    if program is not None:
        kernels = searching.of_program(target, program, gpu)
        return Advised(kernels=kernels, trials=_only(kernels))
    if target is None:
        raise TargetError("nothing is named to advise on", hint="kprof advise KERNEL, CAPTURE or -- python program.py")
    found = Advised()
    if measurement is not None:
        notes = [] if asked or measurement.name is None else [f"compiled for {measurement.name}, which was measured"]
        report, measured = _judged(target, gpu, options, measurement)
        found = Advised(None, measured, report, notes)
    if not options.search:
        return found
    if resolve(target).kind is TargetKind.CAPTURE:
        kernels = searching.of_capture(str(target), gpu if asked or measurement is not None else "")
        return replace(found, kernels=kernels, trials=_only(kernels))
    trials = searching.of_kernel(target, gpu)
    remember(trials)
    return replace(found, trials=trials)


@dataclass(frozen=True)
class _Search:
    """How other knobs are searched; the fields are those of :func:`advise`."""

    options: AdviseOptions
    progress: Callable[[int, str], None] | None
    tell: Callable[[str], None] | None

    def of_program(self, target: TargetLike | None, program: Sequence[str], gpu: str) -> "list[AdvisedKernel]":
        """Advice on the kernels that a program launches; it is recorded first."""
        from kprof.api.programs import recording

        with recording(target, program, gpu, jobs=self.options.jobs, options=self.options) as (capture, again):
            kernels = self.of_capture(capture, gpu, again)
        # The recording is gone by now.
        return [replace(kernel, target=kernel.name) for kernel in kernels]

    def of_capture(self, capture: str, gpu: str, again: "RelaunchedProgram | None" = None) -> "list[AdvisedKernel]":
        """Advice on the kernels of a capture; an empty ``gpu`` means the one that it was recorded for."""
        from kprof.hardware.machine import load_gpu
        from kprof.targets.usable_options import check, given
        from kprof.tuning.recorded import advise as advised

        check(TargetKind.CAPTURE, capture, given(self.options))
        machine, product = load_gpu(gpu) if gpu else (None, None)
        found = advised(
            capture,
            product=product,
            arch="" if machine is None else machine.name,
            budget=self.options.seconds,
            jobs=self.options.jobs,
            run=self.options.run,
            program=again,
            values=self.options.value,
            condition=self.options.condition,
            progress=self.progress,
            tell=self.tell or (lambda _text: None),
        )
        return list(found)

    def of_kernel(self, target: TargetLike, gpu: str) -> "Trials":
        """Trials of a kernel with cases, or of a function with the signature, grid and constexprs of its launch."""
        from kprof.hardware.machine import load_gpu
        from kprof.targets.target import kernel_of
        from kprof.tuning.trials import advise as tried
        from kprof.tuning.trials.function import advise_function

        machine, product = load_gpu(gpu)
        kernel, options = kernel_of(target, gpu), self.options
        launched = options.signature is not None or options.constexpr or options.grid
        search = advise_function if launched else tried
        return search(kernel, machine, options, product=product, budget=options.seconds, progress=self.progress)


def _only(kernels: "Sequence[AdvisedKernel]") -> "Trials | None":
    return kernels[0].trials if len(kernels) == 1 else None


def _measurement(options: AdviseOptions, asked: str) -> "GpuMeasurements | None":
    """The measurement, ``None`` when no file was given."""
    if not options.counters and not options.trace:
        if not options.search:
            raise KprofError("--no-search leaves nothing to do", hint="Give measurements: --counters, --trace or both.")
        return None
    from kprof_analyzers.profiles.measured import reading

    return reading.read(list(options.counters), list(options.trace), asked or None)


def _judged(
    target: TargetLike, arch: str, options: AdviseOptions, measurement: "GpuMeasurements"
) -> "tuple[KernelReport, Measured]":
    """Compile (or read) the kernel, and compare its findings with the measurement."""
    from kprof.targets.resolver import load
    from kprof_analyzers.autotuned import standing
    from kprof_analyzers.pipeline import analyze
    from kprof_analyzers.profiles.measured.join import subject_of
    from kprof_analyzers.profiles.measured.judge import judge

    kernels = list(map(standing, load(target, replace(options, arch=[arch]))))
    if len(kernels) != 1:
        listed = ", ".join(kernel.name for kernel in kernels)
        raise TargetError(f"this is {len(kernels)} kernels: {listed}", hint="Measurements are joined to one at a time.")
    report = analyze(kernels[0])
    return report, judge(report, subject_of(kernels[0], report, kernels[0].arch), measurement)
