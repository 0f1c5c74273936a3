"""``kprof.profile``: predict where a program spends its time on a GPU, without that GPU."""

import dataclasses
import functools
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from kprof.api.programs import TIME_LIMIT
from kprof.api.result import Result
from kprof.api.run_kernel_pages import beside
from kprof.condition import CONDITIONS, Condition
from kprof.errors import KprofError, TargetError
from kprof.hardware.default import DEFAULT_GPU
from kprof.options.keywords import keywords
from kprof.options.programs import ProfileOptions
from kprof.output.command_line import with_option

if TYPE_CHECKING:
    import pandas as pd

    from kprof.captures.model import Capture
    from kprof.hardware.machine import Product
    from kprof.tuning.recorded.relaunch import RelaunchedProgram
    from kprof_analyzers.whole_step.document import ProfileChange, ProfileDocument
    from kprof_analyzers.whole_step.timing import StepCall

_NAMED = 8


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Result):
    """A program's predicted time on one GPU.

    Attributes:
        document: the JSON document that ``kprof profile --json`` writes. Times are microseconds.
        calls: all launches and operator calls, in order.
        kernel_pages: file names of the pages of Triton kernels, next to the page that :func:`profile` wrote.
        others: profiles of the other GPUs, if several were named.
    """

    document: "ProfileDocument"
    calls: "Sequence[StepCall]" = field(repr=False, default=())
    kernel_pages: "Mapping[str, str]" = field(default_factory=dict)
    others: "Sequence[Profile]" = field(repr=False, default=())
    kind: ClassVar[str] = "profile"

    @property
    def summary(self) -> str:
        """The total time with its range and what is unknown, in one line per GPU."""
        from kprof.reporters.profile_text import verdict

        return "\n".join(verdict(one) for one in (self.document, *self.document.other_gpus))

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per group of calls and ``gpu``: ``us``, ``low_us``, ``high_us`` and ``share`` of the time."""
        from kprof.api.frames import struct_frame
        from kprof_analyzers.whole_step.document import ProfiledRow

        every = (self.document, *self.document.other_gpus)
        return struct_frame(ProfiledRow, [({"gpu": one.gpu}, row) for one in every for row in one.rows], ("gpu",))

    def to_html(self) -> str:
        """Return one self-contained page: possible improvements, and the calls by name, phase and module."""
        from kprof.reporters.html.profile import profile_page
        from kprof_analyzers.whole_step.table import rows_of

        every = [
            (one.document, {by: rows_of(one.calls, by) for by in ("name", "phase", "module")})
            for one in (self, *self.others)
        ]
        return profile_page(every, self.kernel_pages)

    def to_kineto(self) -> str:
        """Return the predicted step as a trace in Kineto's format, marked as predicted, for kprof's trace commands.

        If layers were extrapolated, the trace's metadata says so, and each kernel that was not recorded contains the
        number of its repetition.

        Raises:
            KprofError: the profile covers several GPUs, but a trace describes one.
        """
        from kprof.hardware.machine import find_product
        from kprof_analyzers.whole_step.kineto import kineto

        if self.document.other_gpus:
            raise KprofError("a trace is of one GPU", hint=f"name one: --arch {self.document.gpu}")
        product = find_product(self.document.gpu)
        assert product is not None
        return kineto(self.calls, product, self.document.layers)


@keywords
def profile(target: "str | os.PathLike[str] | Sequence[str]", *, options: ProfileOptions) -> Profile:
    """Predict where a program spends its time on a GPU. Needs no GPU.

    The times of Triton kernels come from the performance model. The time of a torch operator is its roofline time,
    divided by the share of the roofline that such operators reached in public traces. Host time, overlap between
    streams and other ranks are not modelled.

    With several GPUs the program runs once for each, since its launches may depend on the GPU. A capture belongs to one
    architecture; the default is the GPU that it was recorded for. With ``html``, each Triton kernel gets its own page
    for the first GPU. ``advise`` searches better knobs for kernels that take at least 5 % of the step on the first GPU;
    for this search, a program that ran no longer than ``advise`` seconds is run again. With ``layers``, the program is
    run with 1 and 2 layers (for ``4,8,32`` with 4 and 8), and the difference is extrapolated to the requested number.

    Args:
        target: a capture that was recorded with its operators, or a program to run: ``["python", "step.py"]``.
        options: the GPUs, and the outputs. ``output`` is the file for the step as a trace in Kineto's format.

    Raises:
        TargetError: the program launches no kernel and calls no operator, or fails before it does.
        KprofError: the capture cannot be read or has no operators, or the architecture has no product with known peaks.
    """
    from msgspec.structs import replace

    from kprof.output.writing import write_output
    from kprof_analyzers.whole_step.table import groups_of

    groups_of(options.rows_by)
    if options.output is not None and len(options.arch) > 1:
        raise KprofError("--output writes a trace, which describes one GPU", hint="name one GPU with --arch")
    if options.layers:
        _check_layers(target, advise=options.advise > 0)
    asked = options
    found = []
    for gpu in options.arch or ("",):
        if isinstance(target, str | os.PathLike):
            found.append(_of_capture(Path(target), gpu, asked, []))
        else:
            run = functools.partial(_of_program, arch=gpu or DEFAULT_GPU, asked=asked)
            found.append(_of_layers(target, options, run) if options.layers else run(list(target)))
        asked = dataclasses.replace(options, html=None, advise=0.0)
    first, *others = found
    if others:
        document = replace(first.document, other_gpus=[one.document for one in others])
        first = Profile(document, first.calls, first.kernel_pages, others)
    if options.html is not None:
        write_output(options.html, first.to_html())
    if options.output is not None:
        write_output(options.output, first.to_kineto())
    return first


def _of_layers(program: Sequence[str], options: ProfileOptions, run: "Callable[[list[str]], Profile]") -> Profile:
    from kprof.api.profile_layers import OneRun, layers_of, scaled

    def one(command: list[str]) -> OneRun:
        found = run(command)
        return OneRun(found.document, found.calls, found.kernel_pages)

    found = scaled(program, layers_of(options.layers), options.rows_by, one)
    return Profile(found.document, found.calls, found.pages)


def _check_layers(target: object, *, advise: bool) -> None:
    """Reject captures and searches with ``--layers``, which runs a program twice.

    Raises:
        KprofError: the target is a capture, or a search is requested.
    """
    if isinstance(target, str | os.PathLike):
        raise KprofError(
            "--layers cannot be used with a capture", hint="--layers runs a program: -- python step.py {layers}"
        )
    if advise:
        raise KprofError("--layers and --advise cannot be combined", hint="Use --advise without --layers.")


@dataclass(frozen=True)
class _Again:
    """Settings with which a search repeats launches.

    Attributes:
        program: the program to run; ``None`` for the program that the capture names.
        run: whether the program may be run again.
    """

    program: "RelaunchedProgram | None" = None
    run: bool = True


def _of_program(program: list[str], arch: str, asked: ProfileOptions) -> Profile:
    from kprof.output.writing import log
    from kprof.recording.command import RecordOptions, prepare, run
    from kprof.tuning.recorded.relaunch import RelaunchedProgram

    if not program:
        raise TargetError("no program is named", hint="kprof profile -- python step.py")
    with tempfile.TemporaryDirectory(prefix="kprof-run-") as folder:
        output = Path(folder, "capture")
        options = RecordOptions(
            arch, output, jobs=asked.jobs, execute=False, operators=True, candidate_seconds=asked.seconds
        )
        settings = prepare(options, program)
        log(f"kprof: running {' '.join(program)} on a simulated {settings.device.name}")
        ended = run(settings, program, stdout=2, time_limit=asked.time_limit or TIME_LIMIT)
        ended.obey()
        if ended.interrupted:
            raise KeyboardInterrupt
        notes = []
        if ended.stopped:
            notes.append("the program was stopped at its time limit: its later work is missing")
        elif ended.status:
            notes.append(f"the program failed with exit status {ended.status}: its later work is missing")
        again = _Again(RelaunchedProgram(program, Path.cwd(), arch), run=ended.seconds <= asked.advise)
        try:
            return _of_capture(output, arch, asked, notes, again)
        except TargetError as error:
            raise TargetError(error.message, path=" ".join(program), hint=notes[0] if notes else error.hint) from None


def _of_capture(path: Path, arch: str, asked: ProfileOptions, notes: list[str], again: _Again = _Again()) -> Profile:
    from kprof.api.profile_advice import search, worth_searching
    from kprof.captures.reader import operations, read
    from kprof_analyzers.whole_step.timing import timed_calls

    capture = read(path)
    product = _product(capture, arch)
    made = list(operations(path))
    if not made:
        raise TargetError("launched nothing and called no operator on the GPU", path=str(path))
    if not any(one.scope for one in made):
        raise TargetError(
            "this capture contains only launches", path=str(path), hint="Record it with kprof capture --operators."
        )
    once = sum(1 for _ in operations(path, replayed=False))
    if once != len(made):
        notes = [*notes, f"calls in captured graphs count once per replay: {once:,} calls recorded, {len(made):,} run"]
    within = asked.within
    if within:
        kept = [one for one in made if one.scope is not None and within in one.scope.range.split(" > ")]
        if not kept:
            there = sorted({one.scope.range for one in made if one.scope and one.scope.range})
            hint = f"There are {', '.join(there[:_NAMED])}." if there else "The program names no range."
            raise TargetError(f"no call runs within {within!r}", path=str(path), hint=hint)
        notes = [*notes, f"only calls within {within!r} count, {len(kept):,} of {len(made):,} calls"]
        made = kept
    calls = list(timed_calls(capture, made, product, CONDITIONS[asked.condition]))
    pages = {} if asked.html is None else write_pages_of_kernels(path, product.name, asked.html, asked.condition)
    changes: Sequence[ProfileChange] = ()
    if asked.advise:
        found = search(
            path, calls, product, asked.advise,
            jobs=asked.jobs, program=again.program, run=again.run, condition=asked.condition,
        )  # fmt: skip
        changes, notes = found.changes, [*notes, *found.notes]
    elif worth_searching(calls):
        from kprof_analyzers.whole_step.document import UNSEARCHED

        notes = [*notes, f"{UNSEARCHED}{with_option('--advise 60')}"]
    return Profile(_document(capture, product, calls, asked, notes, changes), calls, pages)


def _product(capture: "Capture", arch: str) -> "Product":
    from kprof.hardware.machine import find_product, load

    name = arch or capture.head.gpu or capture.head.product or capture.arch
    machine = load(name)
    if machine.name != capture.arch:
        raise TargetError(
            f"it was compiled for {capture.arch}, not for {machine.name}",
            path=str(capture.path),
            hint=f"kprof profile --arch {name} -- PROGRAM runs it again",
        )
    product = find_product(name) or find_product(capture.head.product or "")
    if product is None or product.arch != machine.name:
        raise KprofError(f"{name} has no peaks of its own: name a product", hint=", ".join(machine.products))
    return product


def _document(
    capture: "Capture",
    product: "Product",
    calls: "Sequence[StepCall]",
    asked: ProfileOptions,
    notes: list[str],
    tried: "Sequence[ProfileChange]",
) -> "ProfileDocument":
    from kprof_analyzers.whole_step.changes import changes_of
    from kprof_analyzers.whole_step.clock import FALLEN, clock_mhz
    from kprof_analyzers.whole_step.document import SCHEMA, ProfileDocument
    from kprof_analyzers.whole_step.table import rows_of, sums_of
    from kprof_analyzers.whole_step.timing import condition_time

    sums, condition = sums_of(calls), CONDITIONS[asked.condition]
    added = condition_time(condition, product, calls)
    if added.us:
        notes = [*notes, f"{condition.text}: included in the sum with {added.us:,.1f} µs"]
    if added.host_us:
        notes = [*notes, f"the GPU waits {added.host_us:,.1f} µs of it for the host, whose time for a call is assumed"]
    clock = clock_mhz(product, (call.timed for call in calls), sums.us + added.us)
    if clock is not None and product.clock_mhz and clock < FALLEN * product.clock_mhz:
        what = f"the clock falls to about {clock:,.0f} of {product.clock_mhz:,} MHz, because products draw power"
        notes = [*notes, f"{what}: included in the times of operators"]
    return ProfileDocument(
        schema=SCHEMA,
        gpu=product.name,
        program=list(capture.head.command),
        rows=rows_of(calls, asked.rows_by),
        us=sums.us + added.us,
        low_us=sums.low_us + added.low_us,
        high_us=sums.high_us + added.us,
        unwritten=list(capture.looked_at) if capture.reads_count and not capture.executed else [],
        condition=condition.name,
        added_us=added.us,
        clock_mhz=clock,
        triton_us=sums.triton_us,
        calls=len(calls),
        unknown_calls=sums.unknown_calls,
        unknown=sums.unknown,
        unknown_kernel_calls=sums.unknown_kernel_calls,
        unknown_kernels=sums.unknown_kernels,
        changes=changes_of(calls, product, tried),
        notes=[*notes, *_notes(capture, product, calls, condition)],
        peak_bytes=capture.peak_bytes,
        tritons=sorted({kernel.triton for kernel in capture.kernels if kernel.launches and kernel.triton}),
        memory_bytes=hbm.size_bytes if (hbm := product.memory.get("hbm")) is not None else None,
    )


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _unwritten(places: "Sequence[str]") -> str:
    """Return a note with the places where the program read results of kernels that did not run.

    A place is an operation and its source line: ``nonzero at moe.py:12``.
    """
    named = ", ".join(places[:3]) + (f" and {len(places) - 3} more places" if len(places) > 3 else "")
    what = "the program read results of kernels that did not run"
    return f"{what}: {named}; work that depends on these values is not included in the time"


def _notes(capture: "Capture", product: "Product", calls: "Sequence[StepCall]", condition: "Condition") -> list[str]:
    """Return notes on the assumptions and limits of the prediction, one sentence each."""
    from kprof_analyzers.autotuned import choices_in_words
    from kprof_analyzers.whole_step.efficiency import measured_elsewhere

    found = []
    timed = {call.timed.kind for call in calls if call.timed.us is not None} - {"triton"}
    kinds, gpus = measured_elsewhere(timed, product.name)
    if kinds:
        which = "torch's operators" if len(kinds) == len(timed) else f"operators of the kinds {_listed(kinds)}"
        found.append(f"{which} are assumed to reach the same shares of the peaks as on {_listed(gpus)}")
    if capture.unrun:
        found.append(
            f"{len(capture.unrun)} operators returned results without running, so their launches are not recorded"
        )
    if capture.reads_count and not capture.executed:
        found.append(_unwritten(capture.looked_at))
    if not capture.complete:
        found.append("the recording is not complete: a process was killed or still runs")
    found += choices_in_words((call.timed.name, call.timed.choice) for call in calls if call.timed.choice is not None)
    found += _without_similar(words for call in calls for words in call.timed.assumed)
    streams = {call.stream for call in calls}
    if len(streams) > 1:
        found.append(f"{len(streams)} streams: their times are added up, because overlap is not recorded")
    if capture.peak_bytes is not None:
        found.append(
            "memory counts the bytes in use in torch's allocator, without its spare segments and without workspaces"
        )
    outside = "overlap" if condition.events else "host time, overlap"
    return [*found, f"{outside} and collectives between ranks are not included"]


def _without_similar(notes: Iterable[str]) -> list[str]:
    """Return each note once; of notes that differ in numbers only, the first one with the number of the others."""
    similar: dict[str, dict[str, None]] = {}
    for note in notes:
        similar.setdefault(re.sub(r"\d[\d,.]*", "#", note), {})[note] = None
    found = []
    for first, *others in similar.values():
        found += [f"{first} (and {len(others)} similar notes)"] if len(others) > 1 else [first, *others]
    return found


def write_pages_of_kernels(capture: Path, gpu: str, output: "str | os.PathLike[str]", condition: str) -> dict[str, str]:
    """Write a page for each kernel of a capture, as ``kprof report`` does.

    Args:
        capture: a recording.
        gpu: the product.
        condition: condition that times are predicted for.
        output: path of the step's page; pages are written next to it: ``step.softmax_kernel.html`` for ``step.html``.

    Returns:
        The file name of each kernel's page, by the kernel's name.

    Raises:
        KprofError: a page cannot be written.
    """
    from kprof.api.analyze import Analysis, analyze
    from kprof.options.kernels import AnalyzeOptions
    from kprof.output.writing import write_output
    from kprof_analyzers.verdict import report

    try:
        found = analyze(capture, options=AnalyzeOptions(arch=[gpu], condition=condition), keep_going=True)
    except TargetError:
        # A step without Triton kernels has no pages, which is no error.
        return {}
    of_name: dict[str, list[int]] = {}
    for place, kernel in enumerate(found.document.kernels):
        of_name.setdefault(kernel.name, []).append(place)
    pages: dict[str, str] = {}
    for name, places in of_name.items():
        kernels = [found.document.kernels[place] for place in places]
        one = Analysis(report(kernels), programs=[found.programs[place] for place in places])
        page = beside(Path(output), name, set(pages.values()))
        write_output(os.fspath(page), one.to_html())
        pages[name] = page.name
    return pages
