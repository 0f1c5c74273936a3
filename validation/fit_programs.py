"""Fit the share of an MI355X's peaks that kinds of operators reach, from the times of whole eager programs.

    python validation/fit_programs.py --data FOLDER --mirror GITDIR --work FOLDER [--write]

The programs are the problems of SOL-ExecBench-ROCm in torch, each in all its published sizes. Only problems of the
half that may set constants are used, whose calls all have a time, at most a quarter of it in other kinds, and where
the GPU does not wait for the host. Programs are recorded without a GPU, as in ``python -m
validation.benchmarks.model.programs``. The figures of each of :data:`KINDS` are chosen together, one kind in turn, to
minimise the mean absolute log error; a problem weighs as the root of its number of sizes. A problem is left out to
compute the error on programs that the fit has not seen, and from these errors the ranges of kinds with enough programs.

The clocks in the same table give how far a free clock falls with the use of matrix units and memory.

``--write`` updates the last part of ``analyzers/kprof_analyzers/whole_step/efficiency.toml``.
"""

import argparse
import itertools
import math
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fit_types import FILE, PROGRAMS_MARK, SWEPT, written
from msgspec.structs import replace

from kprof.captures.model import CapturedOperator
from kprof.captures.reader import operations, read
from kprof.condition import CONDITIONS
from kprof.hardware.machine import Product, find_product
from kprof_analyzers.profiles.timeline.operators.rooflines import bound_of, limits_of_product
from kprof_analyzers.whole_step.clock import shares_of_peaks
from kprof_analyzers.whole_step.efficiency import Efficiency, figures_by_part, fitted_to
from kprof_analyzers.whole_step.kinds import ResultTiles, kind_at
from kprof_analyzers.whole_step.operator_work import work_of_call
from kprof_analyzers.whole_step.timing import ConditionTime, StepCall, condition_time, timed_calls

sys.path.insert(0, str(Path(__file__).parents[1]))
from validation.benchmarks.model.programs.chosen import Job, half_of, torch_jobs  # the path comes first
from validation.benchmarks.model.programs.recorded import prepare, record
from validation.benchmarks.model.programs.scored import calls_by_job, reads_unwritten

KINDS: Mapping[str, str] = {
    "product": "fp32",
    "convolution": "fp32",
    "copy": "",
    "elementwise": "",
    "batched product": "",
}
"""Map each fitted kind to the type of its operands, or "" for all types."""
MANY_CALLS = ("L1__094_time_decay_exponential_stabilization",)
"""Problems left out: their loops make so many calls that recording one size takes minutes."""
OTHERS = 0.25
"""Maximum share of the predicted time in calls of other kinds, whose errors would change the fit."""
MOST_CALLS = 1000
"""Maximum number of calls of a program; in longer loops the host also needs time for the Python code between calls."""
ENOUGH, FEWEST = 20, 4
"""Minimum programs, and problems that they belong to, that give a kind a range of its own."""
NARROWEST = 0.6, 1.7
"""Narrowest range that programs alone give a kind. It was chosen with the ranges and widths of both halves in view, as
was :data:`MOST_CALLS`."""
INDEXED = 1_000_000
"""Minimum elements of an indexing operator whose rate is printed."""
_SHARES = (0.8, 0.85, 0.9, 0.93, 0.97, 1.0, 1.03, 1.06, 1.1, 1.2, 1.3, 1.4, 1.5)
"""Factors of a share that are tried; a share is at most 1."""
_FLOORS = (2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0, 45.0)
_POWERS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
_DEPTHS = (0.0, 1.0, 2.0, 4.0)
_HELD = {"share": 0.02, "floor_us": 0.006}
"""Weight, in mean log errors, of the log ratio of a figure to the one that other sources gave."""

Figures = Mapping[str, Efficiency]
Part = tuple[float, ResultTiles | None]
"""A call's microseconds at its limit, and the tiles of its result."""


@dataclass(frozen=True)
class Program:
    """A program on one size.

    Attributes:
        problem: name of the problem.
        measured: microseconds.
        others: predicted microseconds of the calls whose kind is not fitted, and of what the condition adds.
        parts: number of calls by fitted kind, and by their limit and tiles.
    """

    problem: str
    measured: float
    others: float
    parts: Mapping[str, Mapping[Part, int]]

    def part(self, kind: str, one: Efficiency, units: int) -> float:
        """Return the predicted microseconds of a fitted kind's calls."""
        return sum(count * one.time_us(*part, units) for part, count in self.parts.get(kind, {}).items())

    def time(self, figures: Figures, units: int) -> float:
        """Return the predicted microseconds of the kinds that have figures, and of the kinds that are not fitted."""
        return self.others + sum(self.part(kind, one, units) for kind, one in figures.items())

    def error(self, figures: Figures, units: int) -> float:
        """Return the log of predicted over measured time."""
        return math.log(self.time(figures, units) / self.measured)


def main() -> None:
    """Record, fit, print the errors, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    # The last fit would otherwise be the start of this one.
    figures_by_part().pop("programs", None)
    every = list(recorded_programs(options.data, options.mirror, options.work))
    programs = [program for one in every if (program := program_of(*one)) is not None]
    start = {kind: fitted_to(kind, SWEPT, f"matrix_{of_type}" if of_type else "") for kind, of_type in KINDS.items()}
    found = fit(programs, start)
    _say("before", programs, [(start, program) for program in programs])
    _say("fitted", programs, [(found, program) for program in programs])
    unseen = []
    for problem in sorted({program.problem for program in programs}):
        seen = fit([program for program in programs if program.problem != problem], start)
        unseen += [(seen, program) for program in programs if program.problem == problem]
    _say("left out", programs, unseen)
    lines = [PROGRAMS_MARK.strip()]
    for kind, of_type in KINDS.items():
        rows = sum(kind in program.parts for program in programs)
        if not rows:
            continue
        one = replace(found[kind], rows=rows, gpus=(SWEPT,), **_range(kind, found[kind], unseen))
        lines += written(f'programs.{SWEPT}."{f"{kind} {of_type}".strip()}"', one)
    _say_indexing(every)
    lines += clock_lines(every)
    print("\n".join(lines))
    if options.write:
        text = FILE.read_text(encoding="utf-8").partition(PROGRAMS_MARK)[0].rstrip()
        FILE.write_text(f"{text}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


Recorded = tuple[Job, Sequence[StepCall], ConditionTime]
"""A program on one size, its calls, and what the condition adds."""


def recorded_programs(data: Path, mirror: Path, work: Path) -> Iterator[Recorded]:
    """Yield the programs whose calls all have a time, recorded in ``work``."""
    jobs = [
        job for job in torch_jobs(data, mirror, "eager", every_size=True)
        if half_of(job.problem) == "constants" and job.problem not in MANY_CALLS
    ]  # fmt: skip
    by_number = {job.id: job for job in jobs}
    prepare(work, mirror, jobs)
    product = _gpu()
    condition = CONDITIONS["flushed"]
    for capture, _ in record(work, jobs, SWEPT, "", 600.0):
        if not (capture / "journal").is_dir():
            continue
        recorded = read(capture)
        timed = timed_calls(recorded, operations(capture), product, condition)
        for number, calls in calls_by_job(timed).items():
            job = by_number[number]
            unknown = any(call.timed.us is None for call in calls)
            if not unknown and not reads_unwritten(recorded, f"{job.problem}.py"):
                yield job, calls, condition_time(condition, product, calls)


def program_of(job: Job, calls: Sequence[StepCall], added: ConditionTime) -> Program | None:
    """Return the program if the fit can use it."""
    if added.host_us or len(calls) > MOST_CALLS:
        return None
    parts: defaultdict[str, Counter[Part]] = defaultdict(Counter)
    others = added.us
    for call in calls:
        kind, part = _part(call)
        if part is None:
            others += call.timed.us or 0.0
        else:
            parts[kind][part] += 1
    known = added.us + sum(call.timed.us or 0.0 for call in calls)
    return Program(job.problem, job.measured_us, others, parts) if others <= OTHERS * known else None


def clock_lines(every: Sequence[Recorded]) -> list[str]:
    """Return the lines of the figures that say how far the clock falls, fitted to the published clocks."""
    some = [(job, calls) for job, calls, _ in every if job.clock_mhz]
    sizes = Counter(job.problem for job, _ in some)
    weights = np.array([1 / math.sqrt(sizes[job.problem]) for job, _ in some])
    shares = [shares_of_peaks(_gpu(), (call.timed for call in calls), job.measured_us) for job, calls in some]
    matrix = np.array([[1.0, -of_matrix, -of_memory] for of_matrix, of_memory in shares])
    clocks = np.array([job.clock_mhz for job, _ in some])
    found, *_ = np.linalg.lstsq(matrix * weights[:, None], clocks * weights, rcond=None)
    off = np.abs(matrix @ found / clocks - 1)
    print(f"clocks of {len(some)} programs: median error {np.median(off):.1%}, mean {np.mean(off):.1%}")
    names = ("light_mhz", "matrix_mhz", "memory_mhz")
    figures = [f"{name} = {value:.0f}" for name, value in zip(names, found, strict=True)]
    return ["", f"[clock.{SWEPT}]", *figures, f"rows = {len(some)}"]


def _say_indexing(every: Sequence[Recorded]) -> None:
    """Print the elements that indexing moves per nanosecond, if all other calls take what is predicted.

    Programs with products are left out, because errors of products would count as indexing.
    """
    for job, calls, added in every:
        works = [
            (work.indexed, call.timed.us or 0.0)
            for call in calls
            if isinstance(call.made, CapturedOperator) and (work := work_of_call(call.made)) is not None
        ]
        large = [(elements, us) for elements, us in works if elements >= INDEXED]
        known = added.us + sum(call.timed.us or 0.0 for call in calls)
        own = sum(us for _, us in large)
        products = any("product" in call.timed.kind for call in calls)
        if products or added.host_us or own < 0.15 * known:
            continue
        elements, left = sum(count for count, _ in large), job.measured_us - (known - own)
        print(f"indexing, {job.problem}: {elements // len(large):,} elements, {elements / left / 1e3:.0f} per ns")


def _part(call: StepCall) -> tuple[str, Part | None]:
    """Return a call's kind, and its part if the kind is fitted."""
    work = work_of_call(call.made) if isinstance(call.made, CapturedOperator) else None
    if work is None or work.passes > 1:
        return "", None
    bound, least = bound_of(work.work, limits_of_product(_gpu()))
    kind = kind_at(work.kind, bound)
    if kind == "batched product" and bound == "matrix_fp32":
        kind = "batched product of another type"
    of_type = KINDS.get(kind)
    if least is None or of_type is None or (of_type and bound != f"matrix_{of_type}"):
        return "", None
    return kind, (least / 1e3, work.tiles)


def fit(programs: Sequence[Program], start: Figures) -> dict[str, Efficiency]:
    """Return the figures with the least mean error; the figures of a kind are chosen together, one kind in turn."""
    found = dict(start)
    best = math.inf
    while True:
        for kind in KINDS:
            cost, found[kind] = min(
                _costs(programs, found, start, kind, _trials(kind, start[kind])), key=lambda each: each[0]
            )
        if cost > best - 1e-4:
            return found
        best = cost


def _trials(kind: str, start: Efficiency) -> Iterator[Efficiency]:
    """Yield the figures to try for a kind: the start, and every combination of the listed ones."""
    yield start
    powers = _POWERS if KINDS[kind] else (start.filled,)
    depths = _DEPTHS if (kind, KINDS[kind]) == ("product", "fp32") else (start.depth_ns,)
    shares = [round(start.share * factor, 3) for factor in _SHARES if start.share * factor <= 1]
    for share, floor, power, depth in itertools.product(shares, _FLOORS, powers, depths):
        yield replace(start, share=share, floor_us=floor, filled=power, depth_ns=depth)


def _costs(
    programs: Sequence[Program], found: Figures, start: Figures, kind: str, trials: Iterator[Efficiency]
) -> Iterator[tuple[float, Efficiency]]:
    """Yield the cost of each trial for one kind, with the figures found so far for the others."""
    weights = Counter(program.problem for program in programs)
    whole = sum(math.sqrt(count) for count in weights.values())
    units = _units()
    others = {name: one for name, one in found.items() if name != kind}
    held = sum(_held(name, one, start) for name, one in others.items())
    rest = [(program, program.time(others, units), math.sqrt(weights[program.problem])) for program in programs]
    for one in trials:
        errors = sum(
            abs(math.log((others_us + program.part(kind, one, units)) / program.measured)) / weight
            for program, others_us, weight in rest
        )
        yield errors / whole + held + _held(kind, one, start), one


def _held(kind: str, one: Efficiency, start: Figures) -> float:
    return sum(
        weight * abs(math.log(getattr(one, name) / getattr(start[kind], name))) for name, weight in _HELD.items()
    )


def _units() -> int:
    units = _gpu().compute_units
    assert units is not None
    return units


def _gpu() -> Product:
    product = find_product(SWEPT)
    assert product is not None
    return product


def _range(kind: str, one: Efficiency, unseen: Sequence[tuple[Figures, Program]]) -> dict[str, float]:
    """Return the range of a kind that takes at least a quarter of the time of enough programs that were left out.

    It is narrower than :data:`NARROWEST` only if other sources say so: errors of several calls partly cancel.
    """
    units = _units()
    ratios, problems = [], set()
    for figures, program in unseen:
        if program.part(kind, figures[kind], units) >= 0.25 * program.measured:
            ratios.append(math.exp(-program.error(figures, units)))
            problems.add(program.problem)
    if len(ratios) < ENOUGH or len(problems) < FEWEST:
        return {"low": one.low, "high": one.high}
    ends = statistics.quantiles(ratios, n=20)
    low, high = max(one.low, NARROWEST[0]), min(one.high, NARROWEST[1])
    return {"low": round(min(ends[0], low), 2), "high": round(max(ends[-1], high), 2)}


def _say(name: str, programs: Sequence[Program], pairs: Sequence[tuple[Figures, Program]]) -> None:
    units = _units()
    ratios = [math.exp(program.error(figures, units)) for figures, program in pairs]
    near = sum(abs(ratio - 1) <= 0.25 for ratio in ratios) / len(ratios)
    off = statistics.mean(abs(math.log(ratio)) for ratio in ratios)
    print(
        f"{name}: {len(programs)} sizes of {len({program.problem for program in programs})} problems,"
        f" median {statistics.median(ratios):.2f}, {near:.0%} within 25 %, mean log error {off:.3f}"
    )
    by_problem: defaultdict[str, list[float]] = defaultdict(list)
    for (_, program), ratio in zip(pairs, ratios, strict=True):
        by_problem[program.problem].append(ratio)
    for problem, some in sorted(by_problem.items()):
        print(f"    {problem}: {len(some)}, {min(some):.2f} to {max(some):.2f}, median {statistics.median(some):.2f}")


if __name__ == "__main__":
    main()
