"""The queries of a session: functions that take JSON values and return an answer of :mod:`kprof.api.live.answers`.

They run in the session's processes and call the public API, so the answers agree with those of the commands.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kprof.advised import KnownAdvice
from kprof.api.live import answers
from kprof.hardware.default import DEFAULT_GPU

if TYPE_CHECKING:
    from kprof.api.result import Result

Options = Mapping[str, Any]


def _json_values(found: "Result") -> dict[str, Any]:
    """Return a result's document as JSON values, with unchanged paths so that an editor can open the files."""
    from kprof.reporters.json_document import encoded

    document: dict[str, Any] = json.loads(encoded(found.document))
    return document


def analyze(target: str, **options: Any) -> answers.Analyzed:
    """Call ``kprof.analyze`` and return a short answer."""
    from kprof.api import analyze as analyze_
    from kprof.reporters.answer import job_line

    found = analyze_.analyze(target, **options)
    jobs = [job_line(job, found.kernels) for job in found.document.jobs]
    return answers.Analyzed(
        "; ".join([*jobs, found.summary]), [kernel_answer(one) for one in _json_values(found)["kernels"]]
    )


def report(target: str, **options: Any) -> dict[str, Any]:
    """Call ``kprof.analyze`` and return the complete document (schema ``kprof.report/1``)."""
    from kprof.api import analyze as analyze_

    return _json_values(analyze_.analyze(target, keep_programs=False, **options))


def joined_report(target: str, **options: Any) -> dict[str, Any]:
    """Return ``report`` with measurements. Measurements of another kernel or GPU are ignored, with a note."""
    from kprof.errors import InputError

    measured = {name for name in ("counters", "trace", "thread_trace") if options.get(name)}
    try:
        return report(target, **options)
    except InputError as error:
        if not measured:
            raise
        found = report(target, **{name: value for name, value in options.items() if name not in measured})
        found.setdefault("notes", []).append(f"not measured: {error.message}")
        return found


def compare(target: str, old: Options, new: Options, **options: Any) -> answers.Compared:
    """Compile a target with two sets of options and compare the results."""
    return compared(*(report(target, **{**options, **side}) for side in (old, new)))


def compared(old: Options, new: Options) -> answers.Compared:
    """Compare two documents of ``report``."""
    import msgspec

    from kprof.api import diff as diff_
    from kprof.api.result import ReportResult
    from kprof.document import Report
    from kprof.options.searches import DiffOptions

    found = diff_.diff(*(ReportResult(msgspec.convert(side, Report)) for side in (old, new)), options=DiffOptions())
    document = _json_values(found)
    changes = [
        answers.ChangeAnswer(
            kernel["name"],
            c["metric"],
            c["text"],
            c.get("old"),
            c.get("new"),
            c.get("effect", ""),
            c.get("where"),
            c.get("note", ""),
        )
        for kernel in document["kernels"]
        for step in kernel.get("steps", ())
        for c in step.get("changes", ())
    ]
    times = [_only_time(side["kernels"]) for side in (old, new)]
    return answers.Compared(found.summary, document["verdict"]["status"], times[0], times[1], changes)


def advise(target: str, **options: Any) -> answers.AdviceAnswer:
    """Call ``kprof.advise`` and return a short answer."""
    from kprof.api import advise as advise_
    from kprof.errors import TargetError

    found = advise_.advise(target, **options)
    document = _json_values(found)
    if "start" not in document:
        kernels = [one.get("kernel", "?") for one in document.get("kernels", ())]
        raise TargetError(
            f"the target holds {len(kernels)} kernels: {', '.join(kernels)}", hint="Name one: CAPTURE::NAME"
        )
    start = document["start"]
    trials = [
        answers.Suggestion(
            trial["change"], trial["config"], _time(trial, certain=document.get("told_apart", True), suggested=True),
            must_see(start["measure"], trial["measure"]),
        )
        for trial in document["best"]
    ]  # fmt: skip
    return answers.AdviceAnswer(
        found.summary,
        document["kernel"],
        document["arch"],
        _time(start),
        trials,
        tried=document["tried"],
        left=document["left"],
        failures=found.failures,
    )


_SEEN = {
    "vgpr_spills": "spilled VGPRs",
    "scratch": "bytes of scratch",
    "vgprs": "VGPRs",
    "lds_bytes": "bytes of LDS",
    "waves": "wavefronts a SIMD",
    "full_waits": "full waits",
    "instructions": "instructions an iteration",
}


def must_see(old: Options, new: Options) -> list[str]:
    """Return the figures of the compiled code that changed, to verify before benchmarking: "VGPRs: 128 to 96"."""
    return [
        f"{words}: {old[name]:g} to {new[name]:g}"
        for name, words in _SEEN.items()
        if isinstance(old.get(name), int | float) and isinstance(new.get(name), int | float) and old[name] != new[name]
    ]


def rank(target: str, **options: Any) -> answers.Ranking:
    """Call ``kprof.tune`` for one problem and return a short answer."""
    from kprof.api import tune as tune_
    from kprof.errors import TargetError

    found = tune_.tune(target, **options)
    document = _json_values(found)
    if len(document["problems"]) != 1:
        names = ", ".join(problem["name"] for problem in document["problems"])
        raise TargetError(
            f"the target has {len(document['problems'])} problems: {names}", hint="choose one with case or shape"
        )
    (problem,) = document["problems"]
    configs = [
        answers.RankedConfig(
            number,
            entry["config"],
            _time(entry) or answers.Time(entry["time_us"], entry["time_us"], entry["time_us"]),
            entry["resources"].get("vgpr_spills"),
            entry["resources"].get("waves_per_simd"),
            entry.get("tie", False),
        )
        for number, entry in enumerate(problem["ranking"], 1)
    ]
    search = document["search"]
    return answers.Ranking(
        found.summary, problem["name"], search["ended"], search["looked_at"], document["space"]["legal"], configs
    )


def occupancy(target: str | None = None, **numbers: Any) -> answers.Occupied:
    """Call ``kprof.occupancy`` for a kernel or for given resource counts."""
    from kprof.api import occupancy as occupancy_

    found = occupancy_.occupancy(target, **numbers) if target else occupancy_.occupancy(**numbers)
    return answers.Occupied(found.summary, _json_values(found)["kernels"])


def explain_rule(rule: str) -> answers.RuleText:
    """Return the text that ``kprof explain`` prints for a rule."""
    from kprof.api import rules

    found = rules.rule(rule)
    return answers.RuleText(found.id, found.name, found.severity.value, found.help)


def kernels(arch: str | list[str] = DEFAULT_GPU) -> answers.KernelList:
    """Return the bundled kernels, with their support on a GPU."""
    from kprof.api import kernels as bundled

    return answers.KernelList(json.loads(json.dumps(bundled.kernels(arch), default=str)))


def capture(program: list[str], output: str, arch: str | list[str] = DEFAULT_GPU) -> answers.Captured:
    """Run a program on the simulated GPU and record the kernels it launches."""
    from kprof.api.record import record
    from kprof.options.programs import CaptureOptions

    found = record(program, options=CaptureOptions(arch=arch, output=output))
    launched = [
        {"name": kernel.name, "launches": kernel.launches, "compiles": kernel.ok} for kernel in found.capture.kernels
    ]
    words = found.trouble or f"{len(launched)} kernels recorded"
    return answers.Captured(words, output, launched, found.complete)


def knobs(target: str, **options: Any) -> dict[str, Any]:
    """Return the knobs of a target with their selectable values, its cases, and the GPUs."""
    from kprof.api.live.knob_values import knob_values

    return asdict(knob_values(target, **options))


def listing(target: str, stage: str, **options: Any) -> dict[str, Any]:
    """Return one compiler stage line by line, with the source line of each line."""
    from kprof.api.live.listings import listing as listing_

    # The lines are JSON values already. asdict() would copy each of up to 60,000 lines.
    return dict(vars(listing_(target, stage, **options)))


def difference(target: str, stage: str, **options: Any) -> dict[str, Any]:
    """Return one compiler stage under two sets of options, side by side."""
    from kprof.api.live.difference import difference as difference_

    return asdict(difference_(target, stage, **options))


def wavefronts(target: str, **options: Any) -> dict[str, Any]:
    """Return the modelled wavefronts of a SIMD over time."""
    from kprof.api.live.wavefronts import wavefronts as wavefronts_

    return asdict(wavefronts_(target, **options))


def landing(target: str, rule: str, **options: Any) -> dict[str, Any]:
    """Return the assembly lines that a finding refers to."""
    return asdict(find_landing(target, rule, **options))


QUESTIONS: Mapping[str, Callable[..., Any]] = {
    "analyze": analyze,
    "report": report,
    "joined_report": joined_report,
    "compare": compare,
    "advise": advise,
    "rank": rank,
    "occupancy": occupancy,
    "explain_rule": explain_rule,
    "kernels": kernels,
    "capture": capture,
    "knobs": knobs,
    "listing": listing,
    "difference": difference,
    "wavefronts": wavefronts,
    "landing": landing,
}
"""API functions that answer queries, by the query's name."""


def ask(question: str, arguments: Options) -> dict[str, Any]:
    """Answer a query and return JSON values.

    Raises:
        KprofError: the API function raises an error.
    """
    answer = QUESTIONS[question](**arguments)
    return answer if isinstance(answer, dict) else asdict(answer)


def kernel_answer(entry: Options) -> answers.KernelAnswer:
    """Return a short answer for a kernel of a report."""
    resources, occupied = entry["resources"], entry.get("occupancy") or {}
    return answers.KernelAnswer(
        name=entry["name"],
        arch=entry["arch"],
        product=entry.get("product"),
        triton=entry.get("triton") if isinstance(entry.get("triton"), str) else None,
        grid=(entry.get("launch") or {}).get("grid"),
        time=_time(entry.get("model")),
        vgprs=resources.get("vgpr"),
        agprs=resources.get("agpr"),
        vgpr_spills=resources.get("vgpr_spills"),
        lds_bytes=resources.get("lds_bytes"),
        waves_per_simd=occupied.get("waves_per_simd"),
        occupancy_limiter=occupied.get("limiter"),
        causes=list(_causes(entry)),
        not_checked=[one["rule"] for one in (entry.get("rules") or {}).get("not_checked", ())],
        notes=list(map(str, entry.get("notes", ()))),
        better=KnownAdvice(**entry["advised"]) if "advised" in entry else None,
    )


def _causes(entry: Options) -> Iterator[answers.CauseAnswer]:
    from msgspec import UNSET, convert

    from kprof.document import KernelReport
    from kprof.reporters.answer import cause_text, causes_of

    kernel = convert(entry, KernelReport)
    for cause in causes_of(kernel):
        told = cause_text(kernel, cause)
        place = told.finding.location
        yield answers.CauseAnswer(
            told.finding.rule,
            told.finding.name,
            told.severity.value,
            told.message,
            None if place is UNSET else f"{place.file}:{place.line}",
            told.cost,
            dict(told.todo),
            None if cause.gain is None else cause.gain.us,
            cause.gain is not None and cause.gain.at_most,
            list(dict.fromkeys(kernel.findings[position].rule for position in cause.findings[1:])),
        )


def _time(entry: Options | None, *, certain: bool = True, suggested: bool = False) -> answers.Time | None:
    if entry is None or entry.get("time_us") is None:
        return None
    us, low, high = (round(entry.get(name) or entry["time_us"], 3) for name in ("time_us", "low_us", "high_us"))
    sure = entry.get("certainty") if suggested else None
    certainty = answers.Time.certainty if certain else "measure this: the model cannot distinguish it from the start"
    if sure is not None:
        certainty += f"; faster than the start with a certainty of {100 * sure:.0f} %"
    return answers.Time(us, low, high, entry.get("bound", ""), certainty)


def _only_time(entries: Iterable[Options]) -> answers.Time | None:
    found = list(entries)
    return _time(found[0].get("model")) if len(found) == 1 else None


@dataclass(frozen=True)
class FindingLines:
    """Numbers of the assembly lines that a finding is about, ascending; empty for the launch or the whole kernel."""

    lines: list[int]


def find_landing(
    target: str,
    rule: str,
    file: str | None = None,
    line: int | None = None,
    loop: str | None = None,
    cause: str | None = None,
    kernel: int = 0,
    **options: Any,
) -> FindingLines:
    """Return the instructions that a finding refers to.

    Args:
        target: as for :func:`kprof.analyze`.
        rule: rule identifier of the finding.
        file: source file of the finding's location, as in the report.
        line: source line of the finding's location.
        loop: label of the loop in the finding's evidence.
        cause: cause of lost time in the finding's evidence.
        kernel: position among the target's kernels.
        options: compile options, as for :func:`kprof.analyze`.

    Raises:
        TargetError: the kernel does not exist.
        KprofError: as :func:`kprof.analyze`.
    """
    from kprof.api.live.listings import kernel_of
    from kprof_analyzers.rules.finding_instructions import Subject, instructions_of

    program = kernel_of(target, kernel, **options).program
    found = instructions_of(program, Subject(rule, file, line, loop, cause))
    return FindingLines([program.instructions[at].line for at in found])
