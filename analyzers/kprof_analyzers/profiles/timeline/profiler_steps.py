"""Find the steps of a program in a trace: steps marked by torch.profiler, or batches marked by vLLM and SGLang."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from statistics import median

import msgspec

from kprof.inputs.torch_profiler.issues import TraceIssue
from kprof.inputs.torch_profiler.model import LinkedTrace, TraceInfo

_PROFILER = re.compile(r"^ProfilerStep#(\d+)$")
# execute_32_context_0(...)_generation_32(...): numbers of requests in a batch that are in prefill and in decode.
_BATCH = re.compile(r"^execute_(?:\w*?_)?context_(\d+)(?:\([^)]*\))?_generation_(\d+)")
_EXECUTE = re.compile(r"^execute_\w+")
_SGLANG = re.compile(r"^step\[(\w+)")
_SLOW = 1.25


class ProfilerStep(msgspec.Struct, frozen=True):
    """One step of one rank.

    Attributes:
        name: name of the step in the trace.
        phase: ``prefill``, ``decode``, ``mixed``; "" if the name does not contain it.
        start_ns, host_ns: start and duration of the annotation on the CPU.
        kernels: number of kernels launched in the step.
        kernel_ns: total time of these kernels, whenever they ran.
        busy_ns: time in which at least one of them ran.
        whole: whether the trace has the kernels of all launches in the step. In a truncated trace, some are missing.
    """

    name: str
    rank: int
    phase: str
    start_ns: int
    host_ns: int
    kernels: int = 0
    kernel_ns: int = 0
    busy_ns: int = 0
    whole: bool = True


class StepTable(msgspec.Struct, frozen=True):
    """Steps of one trace.

    Attributes:
        steps: steps by rank and start.
        outside_ns: time of kernels that were launched outside of steps.
        slow: positions in ``steps`` of complete steps whose kernels take more than 1.25 times the median of their
            phase.
    """

    info: TraceInfo
    steps: list[ProfilerStep]
    outside_ns: int
    slow: list[int]
    issues: tuple[TraceIssue, ...]


def phase_of(name: str) -> str:
    """Return the phase of a batch (``prefill``, ``decode`` or ``mixed``) from its name; "" if the name has none.

    >>> phase_of("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)")
    'decode'
    """
    batch = _BATCH.match(name)
    if batch:
        prefill, decode = int(batch[1]), int(batch[2])
        return "mixed" if prefill and decode else "prefill" if prefill else "decode" if decode else ""
    marked = _SGLANG.match(name)
    if marked is None:
        return ""
    return {"EXTEND": "prefill", "DECODE": "decode", "MIXED": "mixed"}.get(marked[1].upper(), "")


def step_table(trace: LinkedTrace) -> StepTable:
    """Assign kernels to steps and sum them up.

    A kernel belongs to the step of its launch or, if its launch is unknown, of its operator. In traces without
    launches, a kernel without an operator belongs to the step in which it ran.
    """
    steps, places = launched_in(trace)
    runs: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    outside = 0
    starts, durations = (trace.activities.numbers(field).data for field in ("start_ns", "duration_ns"))
    for row, place in places:
        if place < 0:
            outside += durations[row]
        else:
            runs[place].append((starts[row], durations[row]))
    found = [_summed(step, runs.get(place, [])) for place, step in enumerate(steps)]
    return StepTable(trace.info, found, outside, _slow(found), trace.issues)


def launched_in(trace: LinkedTrace) -> tuple[list[ProfilerStep], Iterator[tuple[int, int]]]:
    """Return the steps before summing, and the row of each kernel with the position of its step (-1 for none)."""
    steps = list(_steps(trace))
    finder = _Finder(steps)
    lacking = {finder.at(rank, start) for rank, start in _without_kernel(trace)} - {-1}
    if len(lacking) < len(steps):
        steps = [msgspec.structs.replace(s, whole=False) if p in lacking else s for p, s in enumerate(steps)]
    return steps, _placed(trace, finder)


class _Finder:
    """Index for finding the step at a time on the CPU."""

    def __init__(self, steps: list[ProfilerStep]) -> None:
        self._steps = steps
        self._places: defaultdict[int, list[int]] = defaultdict(list)
        for place, step in enumerate(steps):
            self._places[step.rank].append(place)
        self._starts = {rank: [steps[place].start_ns for place in found] for rank, found in self._places.items()}

    def at(self, rank: int, moment: int) -> int:
        """Return the position of the step at a time, or -1 for none."""
        position = bisect_right(self._starts.get(rank, ()), moment) - 1
        if position < 0:
            return -1
        place = self._places[rank][position]
        step = self._steps[place]
        return place if moment < step.start_ns + step.host_ns else -1


def _without_kernel(trace: LinkedTrace) -> Iterator[tuple[int, int]]:
    """Yield rank and start of kernel launches whose kernel is missing in the trace."""
    names = trace.launches.words("name")
    launches_kernels = ["LaunchKernel" in name or "GraphLaunch" in name for name in names.words]
    columns = (trace.launches.numbers(field).data for field in ("rank", "start_ns", "activities"))
    for name, rank, start, activities in zip(names.data, *columns, strict=True):
        if not activities and launches_kernels[name]:
            yield rank, start


def _placed(trace: LinkedTrace, finder: _Finder) -> Iterator[tuple[int, int]]:
    kinds = trace.activities.words("kind")
    kernel, launched = kinds.code("kernel"), trace.launches.numbers("start_ns").data
    asked = trace.operators.numbers("start_ns").data
    columns = (trace.activities.numbers(field).data for field in ("rank", "launch", "operator", "start_ns"))
    for row, (kind, rank, launch, operator, start) in enumerate(zip(kinds.data, *columns, strict=True)):
        if kind != kernel:
            continue
        if launch < 0 and operator < 0 and launched:
            # The kernel was launched before the trace began. It ran in the first step, but does not belong to it.
            yield row, -1
        else:
            moment = launched[launch] if launch >= 0 else asked[operator] if operator >= 0 else start
            yield row, finder.at(rank, moment)


def _steps(trace: LinkedTrace) -> Iterator[ProfilerStep]:
    """Yield the steps of the more frequent kind of mark (torch.profiler or server); torch.profiler wins a tie."""
    names, ranks = trace.operators.words("name"), trace.operators.numbers("rank").data
    kinds = [_kind(name) for name in names.words]
    counts = dict.fromkeys(("profiler", "batch"), 0)
    for code in names.data:
        kind = kinds[code]
        if kind:
            counts[kind] += 1
    chosen = "batch" if counts["batch"] > counts["profiler"] else "profiler"
    starts, durations = (trace.operators.numbers(field).data for field in ("start_ns", "duration_ns"))
    rows = [row for row, code in enumerate(names.data) if kinds[code] == chosen]
    ends: dict[int, int] = {}
    for row in sorted(rows, key=lambda r: (ranks[r], starts[r], -durations[r])):
        # A mark inside another mark of the same kind belongs to the outer step.
        if starts[row] >= ends.get(ranks[row], starts[row]):
            ends[ranks[row]] = starts[row] + durations[row]
            name = names[row]
            yield ProfilerStep(name, ranks[row], phase_of(name), starts[row], durations[row])


def _kind(name: str) -> str:
    if _PROFILER.match(name):
        return "profiler"
    return "batch" if _EXECUTE.match(name) or phase_of(name) else ""


def _summed(step: ProfilerStep, runs: list[tuple[int, int]]) -> ProfilerStep:
    busy = end = 0
    for start, duration in sorted(runs):
        busy += max(0, start + duration - max(start, end))
        end = max(end, start + duration)
    whole = sum(duration for _, duration in runs)
    return msgspec.structs.replace(step, kernels=len(runs), kernel_ns=whole, busy_ns=busy)


def _slow(steps: list[ProfilerStep]) -> list[int]:
    """Return the positions of unusually slow steps; a phase needs at least three steps."""
    by_phase: defaultdict[str, list[int]] = defaultdict(list)
    for place, step in enumerate(steps):
        if step.whole:
            by_phase[step.phase].append(place)
    slow = []
    for found in by_phase.values():
        middle = median(steps[place].kernel_ns for place in found)
        slow += [place for place in found if len(found) >= 3 and steps[place].kernel_ns > _SLOW * middle > 0]
    return sorted(slow)
