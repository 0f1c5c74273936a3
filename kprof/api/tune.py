"""``kprof.tune``: rank a kernel's configurations by predicted time."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from kprof.api.result import JudgedResult
from kprof.errors import KprofError, TargetError
from kprof.hardware.default import DEFAULT_GPU
from kprof.options.groups import CompileOptions
from kprof.options.keywords import keywords
from kprof.options.searches import TuneOptions
from kprof.targets.target import TargetLike
from kprof.tuning import measured_times, request
from kprof.tuning.document import Ranked, TunedProblem, TuneReport, document

if TYPE_CHECKING:
    import pandas as pd

    from kprof.bench.document import Device
    from kprof.tuning.formats.interface import Writer
    from kprof.tuning.recorded.answer import Answer
    from kprof.tuning.search_result import Progress, SearchResult
    from kprof.tuning.space import Space
    from kprof.tuning.subject import TuningSubject


@dataclass(frozen=True)
class _Search:
    """Data of a search in addition to its document, needed by :meth:`Tuned.write`."""

    subject: "TuningSubject"
    found: "SearchResult"
    options: TuneOptions
    writers: "Sequence[Writer]"


@dataclass(frozen=True, eq=False, repr=False)
class Tuned(JudgedResult):
    """Ranked configurations, fastest prediction first.

    Attributes:
        document: the JSON document that ``kprof tune --json`` writes (``kprof.tune/1``). Times are predicted, in
            microseconds; ``measured_ms`` is set for configurations that ``verify`` measured.
        answer: for a recorded kernel, the location of its configuration in the source, and the text to write at this
            location.
    """

    document: TuneReport
    _search: _Search | None = None
    answer: "Answer | None" = None
    kind: ClassVar[str] = "tune"

    @property
    def problems(self) -> list[TunedProblem]:
        """The problems, each with its ranking, short list (configurations to measure) and current configuration."""
        return self.document.problems

    @property
    def best(self) -> Ranked | None:
        """The configuration ranked first for the only problem; ``None`` if no time could be predicted.

        Its knobs are ``best.config``.

        Raises:
            KprofError: there are several problems.
        """
        if len(self.document.problems) != 1:
            count = len(self.document.problems)
            raise KprofError(
                f"there are {count} problems", hint="Use the ranking of one problem: .problems[0].ranking[0]"
            )
        ranking = self.document.problems[0].ranking
        return ranking[0] if ranking else None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C stopped the search; the same call continues it."""
        return self.document.search.ended == "interrupted"

    @property
    def summary(self) -> str:
        """The configuration ranked first and its gain, in one line."""
        from kprof.reporters.tune_text import verdict

        return verdict(self.document)

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per problem and configuration, in the order of the ranking.

        The columns are ``problem``, ``rank`` from 1, times in microseconds, ``bound``, registers, LDS in bytes,
        ``measured_ms``, and a column for each knob.
        """
        from kprof.api.frames import ranking_frame

        return ranking_frame(self.document)

    def _repr_html_(self) -> str:
        from kprof.reporters._notebook import tuning

        return tuning(self.summary, self.document)

    def write(self) -> list[str]:
        """Write ``result.json`` and the files of each format into ``output``; return notes on the files.

        Raises:
            KprofError: a format does not support the kernel, or a file cannot be written.
        """
        from kprof.output.writing import write_output

        search = self._search
        if search is None or search.options.output is None:
            return []
        write_output(os.path.join(search.options.output, "result.json"), self.to_json())  # noqa: PTH118 - text
        notes = self._write_times(search.options.output)
        return notes + request.write_formats(
            search.writers, search.subject, search.found, self.document, search.options
        )

    def _write_times(self, folder: str) -> list[str]:
        """Write a list of configurations to be timed by the user.

        An existing file is kept, because it may contain measured times.
        """
        from kprof.output.writing import write_output
        from kprof.tuning.measured_times import NAME, times_csv

        place = os.path.join(folder, NAME)  # noqa: PTH118 - text
        text = times_csv(self.document)
        if not text or os.path.exists(place):  # noqa: PTH110 - text
            return []
        write_output(place, text)
        return [f"{place}: the ten configurations whose times correct the model best; fill in time_us for --measured"]


@keywords
def tune(
    kernel: TargetLike | None = None,
    *,
    options: TuneOptions,
    program: Sequence[str] | None = None,
    progress: "Callable[[Progress], None] | None" = None,
    tell: Callable[[str], None] = lambda _text: None,
) -> Tuned:
    """Rank a kernel's configurations by predicted time. All are compiled, and no GPU is used.

    Ctrl-C ends the search with the results so far; the same call continues it.

    Args:
        kernel: a bundled kernel, a file with a ``KERNEL``, ``"file.py::function"``, a :class:`kprof.Kernel`, a
            ``@triton.jit`` function, or ``"capture::kernel"``. With ``program``, a Python file to run,
            ``"file.py::function"`` to tune that function's launch, or ``None``.
        options: problems, space and search, and the files that :meth:`Tuned.write` writes.
        program: a program to record, whose launch is tuned: its command, or only its arguments if ``kernel`` is a file.
        progress: called with the state of the search.
        tell: called with a line on each measurement and each program that is run.

    Raises:
        TargetError: the kernel, case, knob or size does not exist.
        CompileError: Triton is missing.
        HardwareError: the architecture is not known, or there is no GPU to verify on.
        KprofError: a space, a grid, a format or a file of times cannot be used.
    """
    writers = request.writers(options.write, options.output)
    device = _device(kernel, verify=options.verify, program=program)
    times = None if options.measured is None else measured_times.read(options.measured)
    if program is None and kernel is None:
        raise TargetError("no target is named", hint="kprof tune KERNEL, CAPTURE::KERNEL or FILE.py::FUNCTION -- ARGS")
    asked = request.TuningRequest(kernel or "", options)
    with _recorded(asked, kernel, program) as wanted, request.prepared(wanted, tell) as (subject, chosen):
        _check(subject, device)
        found, facts = _searched(options, subject, chosen, progress)
        if times is not None:
            measured_times.correct(found, subject.problems, times, options.measured or "")
        measured_on = _measured(str(kernel), subject, found, device, top=options.short_list, tell=tell)
        report = document(subject, found, measured_on=measured_on, top=options.short_list, **facts)
        return Tuned(report, _Search(subject, found, options, writers), _answer(subject, found))


@contextmanager
def _recorded(
    wanted: request.TuningRequest, kernel: TargetLike | None, program: Sequence[str] | None
) -> Iterator[request.TuningRequest]:
    """Yield the request to search; for a program, record it first and keep the recording until the search ends."""
    if program is None:
        yield wanted
        return
    from kprof.api.programs import recording

    options = wanted.options
    request.check_recorded(options, f"what {' '.join(program) if kernel is None else kernel} launches")
    gpu = options.one_gpu("kprof tune") or DEFAULT_GPU
    with recording(kernel, program, gpu, jobs=options.jobs, options=CompileOptions()) as (capture, again):
        yield replace(wanted, kernel=capture, options=replace(options, arch=[gpu]), program=again)


def _answer(subject: "TuningSubject", found: "SearchResult") -> "Answer | None":
    """Return the source change that sets the best configuration of a recorded kernel; ``None`` for other kernels."""
    from kprof.tuning.recorded.answer import answer
    from kprof.tuning.recorded.subject import RecordedSubject

    if not isinstance(subject, RecordedSubject) or not found.ranked[0]:
        return None
    return answer(subject, subject.program.ready if subject.program is not None else None, found.ranked[0][0].config)


def _device(kernel: TargetLike | None, *, verify: bool, program: Sequence[str] | None) -> "Device | None":
    """Return the GPU to verify on, found before anything is compiled; ``None`` if ``verify`` is not set."""
    if verify and program is not None:
        raise TargetError(
            "--verify cannot measure the kernels that a program launches",
            hint="Write the configuration into the program, and time the program.",
        )
    if verify and not isinstance(kernel, str | os.PathLike):
        raise TargetError("--verify can only measure a kernel from a file", hint="Name a bundled kernel or FILE.py.")
    return request.device(verify=verify)


def _check(subject: "TuningSubject", device: "Device | None") -> None:
    from kprof.tuning import verify

    if device is not None:
        verify.check(subject, device)


def _measured(
    kernel: str,
    subject: "TuningSubject",
    found: "SearchResult",
    device: "Device | None",
    *,
    top: int,
    tell: Callable[[str], None],
) -> str | None:
    """Measure the best predicted configurations and return the GPU's name; return ``None`` if nothing was measured."""
    from kprof.tuning import verify

    if device is None or found.ended == "interrupted":
        return None
    name = verify.measure(kernel, subject, found, top=top, device=device, report=tell)
    found.learned.clear()
    measured_times.by_verified(found)
    return name


def _searched(
    options: TuneOptions,
    subject: "TuningSubject",
    space: "Space",
    progress: "Callable[[Progress], None] | None",
) -> "tuple[SearchResult, dict[str, str]]":
    from kprof.tuning import journal
    from kprof.tuning.search import Search

    judge = request.judge()
    executor = request.executor(judge, subject, options.jobs, options.scheduler)
    files = tuple(sorted(subject.dependencies()))
    place = journal.place(options.output, subject.kernel.name, subject.arch.name, files)
    kept = journal.TuningJournal(place, fresh=not options.resume, in_cache=options.output is None)
    try:
        found = Search(
            subject, space, judge=judge, executor=executor, journal=kept, budget=options.budget or None,
            report=progress, in_flight=request.in_flight(options),
        ).run()  # fmt: skip
    finally:
        kept.close()
    return found, {"workers": executor.description, "journal": "" if place is None else str(place)}
