"""Measure the errors of predictions of recorded programs, and how well they order the versions of one problem."""

import itertools
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from validation.benchmarks.model.layout import aligned
from validation.benchmarks.model.programs.chosen import Job, half_of

if TYPE_CHECKING:
    from kprof.captures.model import Capture
    from kprof.condition import Condition
    from kprof_analyzers.whole_step.timing import StepCall

APART = 1.1
"""Versions whose times differ by at least this factor, which is above the noise, should be ordered."""
TIE = 1e-3
TRITON_SHARE = 0.95
"""A program counts if at least this share of its predicted time is in Triton kernels, and not in torch's operators."""
ORDERS = ("pairs", "right", "tied", "wrong")
_RANGE = re.compile(r"R(\d+)\|")


@dataclass(frozen=True)
class Predicted:
    """A program's prediction under a condition, microseconds.

    Attributes:
        us, low_us, high_us: time of all its calls and of what the condition adds, with its range.
        triton_us: time of its Triton kernels.
        added_us: time that the condition adds.
        unknown: number of calls without a time.
        predicted_mhz: mean clock; 0 if it is unknown.
    """

    us: float
    low_us: float
    high_us: float
    triton_us: float
    added_us: float
    unknown: tuple[str, ...]
    predicted_mhz: float = 0.0


def predictions(
    capture: Path, arch: str, condition: "Condition", files: Mapping[int, str] | None = None
) -> dict[int, Predicted]:
    """Return the prediction of each job of a capture by number: launches, operators, and the condition's overhead.

    Args:
        capture: the recording.
        arch: name of the product.
        condition: timing condition.
        files: file of each job's program. A program that reads values that no kernel wrote has work without a time.
    """
    from kprof.captures.reader import operations, read
    from kprof.hardware.machine import find_product
    from kprof_analyzers.whole_step.clock import clock_mhz
    from kprof_analyzers.whole_step.table import sum_of
    from kprof_analyzers.whole_step.timing import condition_time, timed_calls

    product = find_product(arch)
    assert product is not None
    recorded = read(capture)
    answers = {}
    for job, calls in calls_by_job(timed_calls(recorded, operations(capture), product, condition)).items():
        timed = [call.timed for call in calls]
        added = condition_time(condition, product, calls)
        us, low, high = sum_of(one for one in timed if one.us is not None)
        own = sum(one.us or 0.0 for one in timed if one.kind == "triton")
        missing = {f"{one.name}: {one.why}" for one in timed if one.us is None}
        if files is not None and reads_unwritten(recorded, files[job]):
            missing.add("work that depends on values that no kernel wrote")
        unknown = tuple(sorted(missing))
        clock = clock_mhz(product, timed, us + added.us) or 0.0
        answers[job] = Predicted(us + added.us, low + added.low_us, high + added.us, own, added.us, unknown, clock)
    return answers


def reads_unwritten(capture: "Capture", file: str) -> bool:
    """Return whether a program's file reads values that kernels should have written, which were not run."""
    places = capture.looked_at if capture.reads_count and not capture.executed else ()
    return any(file in place for place in places)


def calls_by_job(calls: "Iterable[StepCall]") -> "dict[int, list[StepCall]]":
    """Return the calls of each job by its number, which is in the named range around it."""
    by_job: defaultdict[int, list[StepCall]] = defaultdict(list)
    for call in calls:
        found = _RANGE.search(call.scope.range if call.scope is not None else "")
        if found is not None:
            by_job[int(found[1])].append(call)
    return dict(by_job)


def counted(jobs: Sequence[Job], found: Mapping[int, Predicted]) -> list[Job]:
    """Return jobs in which every call has a time; of agents' programs those with nearly all of it in Triton kernels."""
    known = (job for job in jobs if job.id in found and not found[job.id].unknown)
    every = ((job, found[job.id]) for job in known)
    return [
        job for job, one in every
        if job.by != "agents" or one.triton_us >= TRITON_SHARE * (one.us - one.added_us)
    ]  # fmt: skip


def table(jobs: Sequence[Job], found: Mapping[str, Mapping[int, Predicted]]) -> str:
    """Return :func:`lines` as text."""
    header, judged = lines(jobs, found)
    return "\n".join(aligned(header, judged))


def lines(jobs: Sequence[Job], found: Mapping[str, Mapping[int, Predicted]]) -> tuple[list[str], list[list[str]]]:
    """Return a header, and a line for each condition and half of the problems: errors of times and of orders.

    Args:
        jobs: jobs that count.
        found: predictions by condition.
    """
    judged = []
    for condition, answers in found.items():
        for part in ("all", "constants", "judge"):
            some = [job for job in jobs if part in {"all", half_of(job.problem)}]
            if some:
                judged.append([condition, part, *_times(some, answers), *_orders(some, answers)])
    errors = ["median", "within 15 %", "within 25 %", "within 2x", "in range", "width"]
    return ["condition", "problems", "rows", *errors, *ORDERS], judged


def _times(jobs: Sequence[Job], found: Mapping[int, Predicted]) -> list[str]:
    ratios = [found[job.id].us / job.measured_us for job in jobs]
    inside = sum(found[job.id].low_us <= job.measured_us <= found[job.id].high_us for job in jobs)
    counts = [*(sum(abs(ratio - 1) <= off for ratio in ratios) for off in (0.15, 0.25))]
    counts += [sum(0.5 <= ratio <= 2 for ratio in ratios), inside]
    shares = [f"{count / len(jobs):.0%}" for count in counts]
    width = statistics.median(found[job.id].high_us / found[job.id].low_us for job in jobs)
    return [str(len(jobs)), f"{statistics.median(ratios):.2f}", *shares, f"{width:.2f}"]


FALLEN_MHZ = 2300
"""Clocks below this one have clearly fallen: without load an MI355X runs at 2,400 MHz."""


def clocks(jobs: Sequence[Job], found: Mapping[int, Predicted]) -> str:
    """Return a sentence on the errors of the predicted clocks; empty if no clock is known."""
    some = [job for job in jobs if job.clock_mhz and found[job.id].predicted_mhz]
    if not some:
        return ""

    def error(jobs: Sequence[Job]) -> str:
        return f"{statistics.median(abs(found[job.id].predicted_mhz / job.clock_mhz - 1) for job in jobs):.1%}"

    parts = [f"Clock: the median error of {len(some)} is {error(some)}"]
    for half in ("constants", "judge"):
        fallen = [job for job in some if job.clock_mhz < FALLEN_MHZ and half_of(job.problem) == half]
        if fallen:
            parts.append(f"of the {len(fallen)} below {FALLEN_MHZ:,} MHz in {half} {error(fallen)}")
    return "; ".join(parts) + "."


def _orders(jobs: Sequence[Job], found: Mapping[int, Predicted]) -> list[str]:
    groups: defaultdict[tuple[str, str], list[Job]] = defaultdict(list)
    for job in jobs:
        groups[job.problem, job.workload].append(job)
    counts: Counter[str] = Counter()
    for some in groups.values():
        for one, two in itertools.combinations(some, 2):
            slow, fast = (one, two) if one.measured_us > two.measured_us else (two, one)
            if slow.measured_us > APART * fast.measured_us:
                mine, other = found[slow.id].us, found[fast.id].us
                tied = abs(mine - other) <= TIE * max(mine, other)
                counts["tied" if tied else "right" if mine > other else "wrong"] += 1
    return [str(counts.total()), *(str(counts[name]) for name in ORDERS[1:])]
