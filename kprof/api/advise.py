"""``kprof.advise``: search for better knobs by recompiling, and compare a kernel's findings with measurements."""

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
    """Advice on a kernel: the effects of other knob values, and the findings that measurements confirm.

    Attributes:
        trials: the compiled configurations and their results; ``None`` without a search, or for several kernels.
            Resources and instructions are read from the compiled code; times, in microseconds, are predicted.
        measured: the findings compared with measurements; ``None`` when no measurements were given.
        report: report of the measured kernel; ``None`` when no measurements were given.
        notes: remarks on how the advice was computed, for example the GPU that was assumed.
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
        """Trials that are better than the start configuration, best first; each has a ``config`` and a ``change``."""
        return self.trials.best if self.trials is not None else ()

    @property
    def findings(self) -> list[Finding]:
        """Findings of the unchanged kernel, each with the change that fixes it if the search found one."""
        from kprof.tuning.trials import advised

        if self.trials is not None:
            return advised(self.trials)
        return self.report.findings if self.report is not None else []

    @property
    def failures(self) -> list[str]:
        """One sentence per plug-in analyzer that could not be loaded or that failed on the unchanged kernels."""
        from kprof.analysis import failed_words

        starts = [self.trials, *(kernel.trials for kernel in self.kernels)]
        reports = [self.report, *(one.start.report for one in starts if one is not None)]
        return failed_words(report for report in reports if report is not None)

    @property
    def untried(self) -> bool:
        """Whether there is no result: the budget ended before the first compile, and no measurements were given."""
        trials = self.trials if self.measured is None else None
        return trials is not None and trials.left > 0 and trials.tried == 0

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``kprof advise --json`` writes (``kprof.advice/1``)."""
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
        """The change to try first, in one line; without a search, the number of confirmed findings."""
        from kprof.reporters import advice_text, measured_text, recorded_text

        if self.kernels:
            return recorded_text.verdict(self.kernels)
        if self.trials is not None:
            return advice_text.verdict(self.trials)
        assert self.measured is not None
        return measured_text.verdict(self.measured)

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per trial, with its predicted times and its resources.

        The columns are ``kind`` (``start``, ``best``, ``dominated``), the knobs as ``change``, ``time_us``, ``low_us``,
        ``high_us``, ``vgpr_spills``, ``vgprs``, ``waves`` per SIMD and ``lds_bytes``.
        """
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
    """Recompile a kernel with other knob values, and report what they change. No GPU is used.

    With ``counters`` or ``trace``, the findings are first compared with the measurements. Spills, registers, occupancy
    and instructions are read from the compiled code; time is predicted.

    For a kernel of a capture, other compiler options are tried on the recorded TTIR. Other tiles need the recorded
    program to run again up to the launch, which is done only if the program's files exist and are unchanged.

    Args:
        target: a bundled kernel, a file with a ``KERNEL``, a :class:`kprof.Kernel`, or a capture; ``CAPTURE::NAME`` is
            one kernel of a capture. With ``program``, a Python file to run, or ``None``.
        options: the knob values to start from, and settings of the search.
        program: a program to record and advise on: its command, or only its arguments if ``target`` is its file.
        progress: called with the number of finished compiles and a short text.
        tell: called with a description of each program that is run.

    Raises:
        TargetError: the kernel does not exist or has no cases, or the target holds several kernels.
        CompileError: the unchanged kernel does not compile.
        InputError: a measurement cannot be read, or does not contain the kernel.
        KprofError: more than one architecture is named, or neither a search nor a comparison is requested.
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
        raise TargetError("no target is named", hint="kprof advise KERNEL, CAPTURE or -- python program.py")
    found = Advised()
    if measurement is not None:
        notes = [] if asked or measurement.name is None else [f"compiled for {measurement.name}, the measured GPU"]
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
    """Settings of a search for better knobs; the fields are arguments of :func:`advise`."""

    options: AdviseOptions
    progress: Callable[[int, str], None] | None
    tell: Callable[[str], None] | None

    def of_program(self, target: TargetLike | None, program: Sequence[str], gpu: str) -> "list[AdvisedKernel]":
        """Record a program, and return advice on each kernel that it launches."""
        from kprof.api.programs import recording

        with recording(target, program, gpu, jobs=self.options.jobs, options=self.options) as (capture, again):
            kernels = self.of_capture(capture, gpu, again)
        # The temporary recording is deleted by now, so its path must not appear in the target.
        return [replace(kernel, target=kernel.name) for kernel in kernels]

    def of_capture(self, capture: str, gpu: str, again: "RelaunchedProgram | None" = None) -> "list[AdvisedKernel]":
        """Return advice on the kernels of a capture; an empty ``gpu`` means the GPU for which it was recorded."""
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
        """Compile a kernel with other knobs and return the trials; the options may describe a function's launch."""
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
    """Read the measurements; return ``None`` if the options name no file."""
    if not options.counters and not options.trace:
        if not options.search:
            raise KprofError("--no-search leaves nothing to do", hint="Give measurements: --counters, --trace or both.")
        return None
    from kprof_analyzers.profiles.measured import reading

    return reading.read(list(options.counters), list(options.trace), asked or None)


def _judged(
    target: TargetLike, arch: str, options: AdviseOptions, measurement: "GpuMeasurements"
) -> "tuple[KernelReport, Measured]":
    """Compile or read the kernel, and compare its findings with the measurement."""
    from kprof.targets.resolver import load
    from kprof_analyzers.autotuned import in_chosen_configuration
    from kprof_analyzers.pipeline import analyze
    from kprof_analyzers.profiles.measured.join import subject_of
    from kprof_analyzers.profiles.measured.judge import judge

    kernels = list(map(in_chosen_configuration, load(target, replace(options, arch=[arch]))))
    if len(kernels) != 1:
        listed = ", ".join(kernel.name for kernel in kernels)
        raise TargetError(
            f"the target holds {len(kernels)} kernels: {listed}",
            hint="Name one of them: measurements belong to one kernel.",
        )
    report = analyze(kernels[0])
    return report, judge(report, subject_of(kernels[0], report, kernels[0].arch), measurement)
