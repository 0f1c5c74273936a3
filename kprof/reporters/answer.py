"""The answer about one kernel in words: cause, cost, place and fix. All formats for people use these texts."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from kprof.condition import in_short
from kprof.document import JobSummary, KernelReport, OtherRelease
from kprof.findings import WORTH_A_CHANGE, Cause, Cure, Finding, Gain, Severity
from kprof.output.quantities import duration, plural, predicted_time
from kprof.reporters._plain_words import lines_of, said
from kprof.roofline import RooflineLevel

NEGLIGIBLE = 0.005
"""Share of the time below which a cost is negligible."""

NEAR_LIMIT = 75
"""Minimum percentage of the GPU's limit for a kernel to count as near its limit."""

_SAME_TIME = 1.12
"""Times under two Triton releases count as equal up to this ratio."""

_FIGURES = {"vgpr_spills": "spilled VGPRs", "waves_per_simd": "waves per SIMD"}
_WIDTH_NAMES = {16: "dwordx4", 12: "dwordx3", 8: "dwordx2", 4: "dword", 2: "short", 1: "byte"}
_PATHS: tuple[tuple[str, tuple[str, ...], Mapping[int, str]], ...] = (
    ("loads", ("global_load", "flat_load", "global_to_lds"), _WIDTH_NAMES),
    ("stores", ("global_store", "flat_store"), _WIDTH_NAMES),
    ("LDS reads", ("lds_load",), {}),
    ("LDS writes", ("lds_store",), {}),
)


@dataclass(frozen=True)
class CauseText:
    """A cause in words.

    Attributes:
        finding: the finding that names the cause.
        severity: the worst severity of the cause's findings.
        message: description of the cause.
        cost: cost of the cause, or "" if not known.
        place: source location such as ``file.py:12``, or "".
        todo: what to do and its gain, by kind: ``try`` lists knobs that were not compiled, ``fix`` a compiled change of
            knobs, a change of the code, or both.
        followers: the other findings of the cause, or "".
    """

    finding: Finding
    severity: Severity
    message: str
    cost: str
    place: str
    todo: Mapping[str, str]
    followers: str

    @property
    def line(self) -> str:
        """Message, cost and actions on one line, for lists and logs."""
        return " ".join(filter(None, (f"{costing(self.message, self.cost)}.", self.advice)))

    @property
    def advice(self) -> str:
        """The actions in sentences: ``Fix: waves_per_eu 2 → 1: 3.82 ms → 934 µs (4.09x) (compiled).``."""
        return sentences(self.todo)


def costing(message: str, cost: str) -> str:
    """Return a message followed by its cost, if known."""
    return f"{message}: {cost}" if cost else message


def sentences(todo: Mapping[str, str]) -> str:
    """Return actions by kind as sentences that each begin with the kind."""
    return " ".join(f"{kind.capitalize()}: {words}." for kind, words in todo.items())


def causes_of(kernel: KernelReport) -> list[Cause]:
    """Return the causes of a kernel; findings that were not grouped are one cause each."""
    return kernel.causes or [Cause([position], found.gain) for position, found in enumerate(kernel.findings)]


def is_negligible(cause: Cause, kernel: KernelReport) -> bool:
    """Return whether repairing a cause gains nothing that can be measured.

    A finding of severity ``note`` with unknown cost is also negligible if the next step is to compare configurations.
    """
    severity = kernel.findings[cause.findings[0]].severity
    if cause.cure is not UNSET or severity is Severity.ERROR:
        return False
    if cause.gain is None:
        return severity is Severity.NOTE and bool(next_step(kernel)[1])
    return cause.gain.share < NEGLIGIBLE


def cause_text(kernel: KernelReport, cause: Cause, *, verbatim: bool = False) -> CauseText:
    """Describe one cause of a kernel's time in words.

    Args:
        kernel: the kernel.
        cause: one of the kernel's causes.
        verbatim: whether to keep loop labels and instruction names in the description.
    """
    finding, *others = (kernel.findings[position] for position in cause.findings)
    places = Counter(f"{other.rule} {other.name}" for other in others if other.rule != finding.rule)
    followers = ", ".join(f"{name} ({count} places)" if count > 1 else name for name, count in places.items())
    same = sum(other.rule == finding.rule for other in others)
    message = finding.message if verbatim else said(finding.message, kernel)
    return CauseText(
        finding=finding,
        severity=max((finding.severity, *(other.severity for other in others)), key=lambda one: one.rank),
        message=f"{message}; {same} more {'place' if same == 1 else 'places'}" if same else message,
        cost=cost_words(cause.gain),
        place="" if finding.location is UNSET else str(finding.location),
        todo=_todo(kernel, cause, finding),
        followers=followers,
    )


def _todo(kernel: KernelReport, cause: Cause, finding: Finding) -> dict[str, str]:
    """Return actions by kind; if no fix was compiled, the last action ends with an estimate of its gain."""
    if cause.cure is not UNSET and cause.cure.divisible:
        code = "" if finding.fix is UNSET else finding.fix
        return {"fix": f"{code}{'; together ' if '; ' in code else ': '}{cure_words(cause.cure)}"}
    todo = steps(finding, "" if cause.cure is UNSET else cure_words(cause.cure))
    saves_us = None if cause.gain is None else cause.gain.us
    if cause.cure is UNSET and todo and (estimate := at_best(time_of(kernel), saves_us)):
        last = list(todo)[-1]
        todo[last] += f" ({estimate})"
    return todo


def steps(finding: Finding, compiled: str) -> dict[str, str]:
    """Return actions by kind: the compiled knobs, or else knobs that the rule proposes; and the change of the code."""
    code = "" if finding.fix is UNSET else finding.fix
    fixes = f"{compiled}; in the code: {code}" if compiled and code else compiled or code
    found = {"try": "" if compiled else proposals(finding), "fix": fixes}
    return {kind: words for kind, words in found.items() if words}


def at_best(before_us: float | None, saves_us: float | None) -> str:
    """Return an estimate such as ``gain not known, at best 120 µs → 36.2 µs: not compiled``.

    Empty if the time or the saving is not known, or if the saving is too small to be measured.

    Args:
        before_us: predicted time of a launch, in microseconds.
        saves_us: upper bound of the saving, in microseconds.
    """
    if before_us is None or saves_us is None or saves_us < NEGLIGIBLE * before_us:
        return ""
    left = duration(max(before_us - saves_us, 0.0))
    return f"gain not known, at best {duration(before_us)} → {left}: not compiled"


def cost_words(gain: Gain | None) -> str:
    """Return the cost of a cause in words, or "" if it is not known.

    For example ``2.87 ms (75 %)``; an upper bound begins with ``up to``.
    """
    if gain is None:
        return ""
    if gain.share < NEGLIGIBLE:
        return "no measurable cost"
    return f"{'up to ' if gain.at_most else ''}{duration(gain.us)} ({100 * gain.share:.0f} %)"


def cure_words(cure: Cure) -> str:
    """Return a compiled fix in words: its change, its effect on time and resources, and its certainty.

    For example ``waves_per_eu 2 → 1: 3.82 ms → 934 µs (4.09x), spilled VGPRs 443 → 0 (compiled; 95 % sure)``.
    """
    from kprof_analyzers.model.certainty import sure_words

    change = ", ".join(f"{knob} {_value(old)} → {_value(new)}" for knob, (old, new) in cure.change.items())
    compiled = f"compiled with multiples of 16 as {' and '.join(cure.divisible)}" if cure.divisible else "compiled"
    times = f"{duration(cure.before_us)} → {duration(cure.after_us)} ({cure.speedup:.3g}x)"
    figures = [f"{_FIGURES[name]} {_value(old)} → {_value(new)}" for name, (old, new) in cure.figures.items()]
    sure = "" if cure.certainty is UNSET else f"; {sure_words(cure.certainty)}"
    return ", ".join([f"{change}: {times}" if change else times, *figures]) + f" ({compiled}{sure})"


def _value(value: object) -> str:
    if value is None:
        return "not set"
    return f"{value:g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def proposals(finding: Finding) -> str:
    """Return a finding's proposed, not compiled changes of knobs: ``BLOCK_M 128 → 64, num_warps 4 → 8``."""
    unique = {(advice.knob, str(advice.to)): advice for advice in finding.advice}
    return ", ".join(f"{advice.knob} {advice.from_} → {advice.to}" for advice in unique.values())


def job_line(job: JobSummary, kernels: Sequence[KernelReport]) -> str:
    """Return the total of a call with several launches, and which launch takes most of the time.

    For example ``attention on MI300X: 11.4 ms predicted (likely 8.7 to 17 ms) in 3 launches; backward takes 64 %``.
    """
    where = job.arch if job.product is UNSET else job.product
    launches = by_cost([kernels[position] for position in job.launches])
    count = f"{len(launches)} launches"
    if job.time_us is None:
        unknown = [short_name(kernel) for kernel in launches if time_of(kernel) is None]
        return f"{job.name} on {where}: {count}; time not known of {', '.join(unknown)}"
    share = (time_of(launches[0]) or 0.0) / job.time_us
    most = f"{short_name(launches[0])} takes {100 * share:.0f} %"
    return f"{job.name} on {where}: {predicted_time(job.time_us, job.low_us, job.high_us)} in {count}; {most}"


def by_cost(kernels: Sequence[KernelReport]) -> list[KernelReport]:
    """Sort the launches of a call: first those without a predicted time, then from the slowest to the fastest."""
    return sorted(kernels, key=lambda kernel: -(time_of(kernel) or float("inf")))


def time_of(kernel: KernelReport) -> float | None:
    """Return the predicted time of a launch in microseconds, or None if it is not known."""
    return None if kernel.model is UNSET else kernel.model.time_us


def short_name(kernel: KernelReport) -> str:
    """Return a launch's name within its call: ``backward_keys`` of ``attention::backward_keys``."""
    return kernel.name.rpartition("::")[2]


def launch_line(kernel: KernelReport) -> str:
    """Return the problem, the grid, the clock and the timing condition; empty if the launch is not known."""
    if kernel.launch is UNSET:
        return ""
    problem = kernel.launch.get("problem", {})
    sizes = " ".join(f"{name}={value}" for name, value in problem.items())
    grid = kernel.launch.get("grid") or []
    count = 1
    for axis in grid:
        count *= axis
    shape = "x".join(map(str, grid))
    groups = f"grid {shape}" if len(grid) == 1 else f"grid {shape} = {count:,} workgroups"
    clock = None if kernel.model is UNSET else kernel.model.clock_mhz
    condition = "" if kernel.model is UNSET else in_short(kernel.model.condition)
    return "   ".join(filter(None, [sizes, groups, "" if clock is None else f"{clock:,.0f} MHz", condition]))


def releases_line(kernel: KernelReport) -> str:
    """Return the differences under neighbouring releases of Triton; empty if there are none or none was compiled.

    For example ``with Triton 3.8.0: 1.26 ms (0.703x), spilled VGPRs 0 → 68; with all of these likely 674 µs to 1.77
    ms``.
    """
    if kernel.other_releases is UNSET:
        return ""
    differing = {other: words for other in kernel.other_releases if (words := _difference(kernel, other))}
    parts = [f"with Triton {other.triton}{words}" for other, words in differing.items()]
    ranges = [] if kernel.model is UNSET else [(kernel.model.low_us, kernel.model.high_us)]
    ranges += [(other.low_us, other.high_us) for other in differing if not _same_time(kernel, other)]
    lows, highs = [low for low, _ in ranges if low is not None], [high for _, high in ranges if high is not None]
    if len(lows) == len(highs) == len(ranges) > 1:
        parts.append(f"with all of these likely {duration(min(lows))} to {duration(max(highs))}")
    return "; ".join(parts)


def _difference(kernel: KernelReport, other: OtherRelease) -> str:
    """Return how the result under another Triton release differs; empty if it does not differ."""
    if other.error is not UNSET:
        return f" it does not compile: {other.error}"
    words = []
    if other.time_us and not _same_time(kernel, other):
        words.append(f"{duration(other.time_us)} ({(time_of(kernel) or 0.0) / other.time_us:.3g}x)")
    spills = None if kernel.resources is UNSET else kernel.resources.vgpr_spills
    if isinstance(spills, int) and other.vgpr_spills not in {None, spills}:
        words.append(f"spilled VGPRs {_value(spills)} → {_value(other.vgpr_spills)}")
    return f": {', '.join(words)}" if words else ""


def _same_time(kernel: KernelReport, other: OtherRelease) -> bool:
    """Return whether the predicted times under two releases count as equal."""
    own = time_of(kernel)
    return not own or not other.time_us or 1 / _SAME_TIME <= own / other.time_us <= _SAME_TIME


_RATED = {"l2": "L2", "mall": "Infinity Cache", "hbm": "HBM"}
"""Names of the memory levels whose rate may be shown."""


def performance(kernel: KernelReport) -> str:
    """Return the achieved arithmetic and memory rates with their peaks; empty without a predicted time."""
    if kernel.model is UNSET or kernel.model.time_us is None or kernel.model.roofline is UNSET:
        return ""
    seconds, roofline = kernel.model.time_us * 1e-6, kernel.model.roofline
    parts = []
    if roofline.main_kind is not None and kernel.tflops is not None:
        peak = roofline.peaks_tflops.get(roofline.main_kind)
        unit, _, dtype = roofline.main_kind.partition("_")
        of_peak = "" if peak is None else f" of {_rate(peak)}"
        parts.append(f"{_rate(kernel.tflops)}{of_peak} TFLOP/s ({dtype} {unit})")
    if level := _rated_level(roofline.levels):
        of_peak = "" if level.peak_gbs is None else f" of {level.peak_gbs:,.0f}"
        name = _memory_of(kernel.arch) if level.name == "hbm" else _RATED[level.name]
        parts.append(f"{level.bytes / seconds / 1e9:,.0f}{of_peak} GB/s {name}")
    percent = kernel.model.speed_of_light_percent
    if kernel.model.speed_of_light_us and percent is not None:
        near = f": near its limit, {_to_gain(kernel)} to gain" if _is_near_limit(kernel) else ""
        parts.append(f"{percent:.0f} % of the GPU's limit ({duration(kernel.model.speed_of_light_us)}){near}")
    return "   ".join(parts)


def _rated_level(levels: Sequence[RooflineLevel]) -> RooflineLevel | None:
    """Return the last used memory level, unless an earlier one reaches more than twice its share of the peak."""
    reached = [level for level in levels if level.name in _RATED and level.bytes]
    if not reached:
        return None
    share = {level.name: level.bytes / (level.peak_gbs or float("inf")) for level in reached}
    nearest = max(reached, key=lambda level: share[level.name])
    return nearest if share[nearest.name] > 2 * share[reached[-1].name] > 0 else reached[-1]


def _memory_of(arch: str) -> str:
    """Return the name of an architecture's memory: HBM, or "memory" for Radeon GPUs and APUs."""
    from kprof.hardware.machine import architectures, load

    return "memory" if arch in architectures() and load(arch).family.startswith("RDNA") else "HBM"


def next_step(kernel: KernelReport) -> tuple[str, str]:
    """Return why to compare configurations, and the command for it; two empty texts if a fix should come first.

    For example ``("no finding is worth 5 %: compare configurations (gain not known, at most 342 µs)", "kprof tune
    ...")``.
    """
    if time_of(kernel) is None or kernel.launch is UNSET or any(_is_worth_it(cause, kernel) for cause in kernel.causes):
        return "", ""
    problem, (target, _, launch) = kernel.launch.get("problem"), kernel.name.partition("::")
    if not problem or launch:
        return "", ""
    where = kernel.product if isinstance(kernel.product, str) else kernel.arch
    command = tune_command(target, where, problem)
    keep = "keep it, or compare" if _is_near_limit(kernel) else "compare"
    gain = f" (gain not known, {room})" if (room := _to_gain(kernel)) else ""
    return f"no finding is worth {100 * WORTH_A_CHANGE:.0f} %: {keep} configurations{gain}", command


def tune_command(target: str, where: str, problem: Mapping[str, object]) -> str:
    """Return the command that compares configurations of a kernel for a problem on a GPU."""
    return f"kprof tune {shlex.quote(target)} --arch {shlex.quote(where)} {shape_option(problem)}"


def shape_option(problem: Mapping[str, object]) -> str:
    """Return a problem as a quoted option: ``--shape M=64,N=64``."""
    shape = ",".join(f"{name}={value}" for name, value in problem.items() if value is not None)
    return f"--shape {shlex.quote(shape)}"


def _to_gain(kernel: KernelReport) -> str:
    """Return by how much the time exceeds the GPU's limit, ``at most 10.6 µs``; empty if not known."""
    time = time_of(kernel)
    if time is None or kernel.model is UNSET or not kernel.model.speed_of_light_us:
        return ""
    return f"at most {duration(time - kernel.model.speed_of_light_us)}"


def _is_worth_it(cause: Cause, kernel: KernelReport) -> bool:
    """Return whether a cause should be fixed before other configurations are compared."""
    if cause.gain is None:
        return kernel.findings[cause.findings[0]].severity is not Severity.NOTE
    return cause.cure is not UNSET or cause.gain.share >= WORTH_A_CHANGE


def _is_near_limit(kernel: KernelReport) -> bool:
    percent = None if kernel.model is UNSET else kernel.model.speed_of_light_percent
    return percent is not None and percent >= NEAR_LIMIT


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def access_line(kernel: KernelReport) -> str:
    """Return the widths of memory accesses and the waits for all loads: of the hot loop, or of code without loops.

    For example ``loads 16 x dwordx4 (16 B)   LDS reads 128 x 8 B   84 waits for all loads``.
    """
    hot = next((loop for loop in kernel.loops if loop.hot), None)
    if hot is None:
        return _without_loops(kernel.instructions) if not kernel.loops else ""
    parts = []
    for label, paths, names in _PATHS:
        widths: Counter[int] = Counter()
        for path in paths:
            widths.update({int(width): count for width, count in hot.widths.get(path, {}).items()})
        if widths:
            parts.append(f"{label} {_widths(widths, names)}")
    full = sum(count for wait, count in hot.waits.items() if wait.endswith("cnt(0)"))
    if full:
        parts.append(f"{plural(full, 'wait')} for all loads")
    return "   ".join(parts)


def _widths(widths: Mapping[int, int], names: Mapping[int, str]) -> str:
    return " + ".join(
        f"{count:,} x {f'{names[width]} ({width} B)' if width in names else f'{width} B'}"
        for width, count in sorted(widths.items(), reverse=True)
    )


_SUFFIXES = {
    "dwordx4": 16, "b128": 16, "dwordx3": 12, "b96": 12, "dwordx2": 8, "b64": 8, "dword": 4, "b32": 4,
    "short": 2, "ushort": 2, "sshort": 2, "u16": 2, "i16": 2, "b16": 2, "hi": 2, "byte": 1, "ubyte": 1, "sbyte": 1,
    "u8": 1, "i8": 1, "b8": 1,
}  # fmt: skip


def _without_loops(instructions: Mapping[str, int]) -> str:
    parts = []
    for label, marks in (("loads", ("_load_",)), ("stores", ("_store_",))):
        widths: Counter[int] = Counter()
        for name, count in instructions.items():
            if name.startswith(("global_", "buffer_", "flat_")) and any(mark in name for mark in marks):
                width = _SUFFIXES.get(name.rsplit("_", 1)[-1])
                if width is not None:
                    widths[width] += count
        if widths:
            parts.append(f"{label} {_widths(widths, _WIDTH_NAMES)}")
    return "   ".join(parts)


def hot_loop_line(kernel: KernelReport) -> str:
    """Return a summary of the hot loop, or "" if there is none.

    For example ``lines 44-77   256 MFMA 16x16x16 f16   1,912 instructions``.
    """
    hot = next((loop for loop in kernel.loops if loop.hot), None)
    if hot is None:
        return ""
    unit = "MFMA" if any("mfma" in name for name in hot.instructions) else "WMMA"
    parts = [lines_of(hot, kernel), *(f"{count:,} {unit} {shape}" for shape, count in hot.matrix.items())]
    if hot.spill_accesses:
        parts.append(f"{hot.spill_accesses:,} scratch accesses (spills)")
    parts.append(f"{sum(hot.instructions.values()):,} instructions")
    return "   ".join(filter(None, parts))
