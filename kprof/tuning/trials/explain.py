"""Explain why a kernel got worse with another Triton, and find cures, by compiling it with one thing changed.

First, every environment switch is toggled, one at a time; a switch that restores the old figures is the cause.
Compiling the old side's LLVM IR with the new side's LLVM shows which half of the compiler changed. Then knobs are
changed, the compiler's options before the tile sizes; a change that leaves nothing worse than before is a cure.
Figures of the compiled code decide whether a change is a cure. A change is not a cure if its predicted time is
longer than that of the code that got worse. Cures are ranked by predicted time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any, Literal, Protocol

from msgspec import UNSET, UnsetType

from kprof.compiler.versions import CODE_SWITCHES
from kprof.deadline import Deadline
from kprof.diffing import facts
from kprof.diffing.document import ByStage, Change, Explanation, TriedChange
from kprof.diffing.kernels import compare
from kprof.diffing.limits import DiffLimits
from kprof.document import KernelReport
from kprof.errors import KprofError
from kprof.findings import Severity
from kprof.hardware.machine import architectures, load
from kprof.output.assignments import assigned
from kprof.tuning.trials.changes import LLVM_SWITCH
from kprof_analyzers.model.certainty import least_difference, predicted_gain
from kprof_analyzers.rules import launch_rules

_SWITCH_NAMES = {
    "TRITON_HIP_USE_ASYNC_COPY": "async copy",
    "TRITON_HIP_USE_BLOCK_PINGPONG": "block ping-pong",
    "TRITON_HIP_USE_IN_THREAD_TRANSPOSE": "in-thread transpose",
    "AMDGCN_USE_BUFFER_OPS": "buffer operations",
    "AMDGCN_USE_BUFFER_ATOMICS": "buffer atomics",
    "AMDGCN_ANALYZE_SMALL_TENSOR_RANGE": "range analysis for buffer operations",
    "AMDGCN_SCALARIZE_PACKED_FOPS": "splitting of packed operations",
}

METRIC_WORDS = {
    "loop_spills": "scratch accesses in loops",
    "vgpr_spills": "VGPRs spilled",
    "scratch_bytes": "B of scratch per lane",
    "lds_bytes": "B of LDS",
    "waves_per_simd": "waves per SIMD",
    "vgpr_allocated": "registers allocated",
    "loop_instructions": "instructions per iteration",
}
# Figures of a trial to report, in this order.
_SHOWN = ("vgpr_spills", "lds_bytes", "waves_per_simd")


PARTS = {
    "llvm": "LLVM's code generator",
    "before llvm": "Triton's own passes, before LLVM",
    "both": "Triton's own passes and LLVM's code generator",
}
"""Names of the two halves of the compiler, and of both together."""


def switch_name(name: str) -> str:
    """Return the readable name of an environment switch: ``async copy``."""
    return _SWITCH_NAMES.get(name, name)


def price_of(change: Change) -> str:
    """Describe a change for the worse: ``waves per SIMD 2 to 1``."""
    if change.metric.startswith("finding:"):
        return f"new finding {change.text}"
    text = f"{change.text} {number(change.old)} to {number(change.new)}"
    return f"{text} {change.note}" if change.note.startswith("for ") else text


def number(value: float | None) -> str:
    """Format a figure; ``?`` if it is unknown."""
    if value is None:
        return "?"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.4g}"


def outcome(trial: TriedChange, metrics: Sequence[str] = _SHOWN) -> str:
    """Describe a trial's relevant figures: ``0 VGPRs spilled, 65,536 B of LDS``."""
    shown = [name for name in metrics if name in trial.figures]
    return ", ".join(f"{number(trial.figures[name][2])} {METRIC_WORDS[name]}" for name in shown)


def summary_of(
    labels: tuple[str, str],
    causes: Sequence[TriedChange],
    cures: Sequence[TriedChange],
    defaults: Mapping[str, tuple[bool | None, bool | None]],
    harm: Sequence[Change],
    *,
    all_tried: bool,
    by_stage: ByStage | UnsetType = UNSET,
) -> str:
    """Return a one-line summary: the cause with its numbers, and the first cure."""
    if not causes and not all_tried:
        text = "no cause was found within the time"
    elif not causes:
        worst = f" ({price_of(harm[0])})" if harm else ""
        between = f"from {labels[0]} to {labels[1]}"
        where = "the compiler itself" if by_stage is UNSET else PARTS[by_stage.part]
        text = f"no environment switch restores the old code{worst}: the change is in {where}, {between}"
    else:
        trial = causes[0]
        names = " with ".join(switch_name(name) for name in trial.change)
        restored = [name for name in (*_SHOWN, "loop_spills") if name in trial.restored and name in trial.figures]
        moved = ", ".join(
            f"{number(trial.figures[name][0])} to {number(trial.figures[name][1])} {METRIC_WORDS[name]}"
            for name in restored[:3]
        )
        text = f"{names}{_since(labels, trial, defaults)}: {moved or price_of(harm[0])}"
        text += f"; {assigned(trial.change, ', ')} {'undoes it' if trial.cured else 'undoes most of it'}"
    if cures:
        text += f"; {assigned(cures[0].change, ', ')} fixes it"
    return text


def _since(labels: tuple[str, str], trial: TriedChange, defaults: Mapping[str, tuple[bool | None, bool | None]]) -> str:
    """Say that the default of the changed switch differs between the sides, if it does."""
    changed = [name for name in trial.change if name in defaults]
    if len(changed) != len(trial.change) or not changed:
        return ""
    before, after = defaults[changed[0]]
    if before is None:
        return f", which {labels[0]} does not have"
    state = "on" if after else "off"
    return f", {state} by default in {labels[1]}, {'on' if before else 'off'} in {labels[0]}"


Tried = tuple[Mapping[str, Any], KernelReport | None, str | None]
"""A change, the kernel's report with that change, and the reason if there is no report."""

CURES_WANTED = 2
"""Number of cures by single knobs from which on no pairs of knobs are tried."""

CURES_SHOWN = 4

_ENOUGH = 0.5
# A half of the compiler with at most this share of a change is not named as its cause.
_OTHERS = 0.25
_STEP = 0.01
# Instructions without which an environment switch has no effect.
_ONLY_CODE = {"AMDGCN_USE_BUFFER_ATOMICS": "atomic"}
_OPTIONS = ("num_stages", "num_warps", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "llvm_fn_attrs")
# A change that makes one of these figures worse is not a cure.
_WORSE_THAN_ANY = ("loop_spills", "lds_over_limit")
# Prefixes of knobs that distribute the work; they hardly affect the registers and LDS of a wavefront.
_ASIDE = ("GROUP", "XCD", "SPLIT")


class KernelCompiler(Protocol):
    """Compiles one kernel with one Triton."""

    def switches(self) -> dict[str, bool | None]:
        """Return the environment switches, and whether each is on."""

    def changes(self, rules: Iterable[str]) -> list[dict[str, Any]]:
        """Return the changes of knobs that are worth a compile; findings determine the order."""

    def trials(self, changes: Sequence[Mapping[str, Any]], seconds: float) -> Iterator[Tried]:
        """Compile the kernel with each change, as far as the time allows."""

    def stages(self) -> Mapping[str, Any]:
        """Return the kernel's stages up to LLVM IR, for :meth:`through_llvm` of another Triton."""

    def through_llvm(self, stages: Mapping[str, Any]) -> KernelReport:
        """Compile the LLVM IR of another Triton with this one's LLVM.

        Raises:
            KprofError: if this LLVM cannot read the IR.
        """


@dataclass
class Case:
    """A kernel that got worse.

    Attributes:
        old, new: reports of the kernel on both sides.
        labels: names of the sides.
        sides: indices of the sides.
        config: present knobs and switches.
        limits: thresholds for relevant differences.
        harm: figures and findings that got worse.
        grave: metrics that a cure has to restore, see :func:`_metrics_to_restore`.
    """

    old: KernelReport
    new: KernelReport
    labels: tuple[str, str]
    sides: tuple[int, int]
    config: Mapping[str, Any]
    limits: DiffLimits
    harm: list[Change] = field(init=False)
    grave: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.harm = self.worse(self.new)
        self.grave = _metrics_to_restore(self.harm)

    def worse(self, kernel: KernelReport) -> list[Change]:
        """Return the relevant changes for the worse compared with the old side."""
        least = self.limits.least
        found = compare(self.old, kernel, self.limits)
        return [change for change in found if change.effect == "worse" and change.severity.rank >= least]

    def _is_no_error_now(self, left: Change) -> bool:
        """Whether a figure that was an error is none with the change: twice the old time became 1.3 times it."""
        severities = {change.severity for change in self.harm if change.metric == left.metric}
        return Severity.ERROR in severities and left.severity is not Severity.ERROR

    def judge(self, change: Mapping[str, Any], kernel: KernelReport) -> TriedChange:
        """Return the effect of a change.

        Args:
            change: the changed knobs or switches.
            kernel: the kernel's report with the change.
        """
        columns = [facts.figures(report) for report in (self.old, self.new, kernel)]
        figures = {name: (columns[0][name], columns[1][name], columns[2][name]) for name in columns[0]}
        left = self.worse(kernel)
        price = [found for found in left if found.metric not in self.grave or self._is_no_error_now(found)]
        worst = {*_WORSE_THAN_ANY, *(f"finding:{rule}" for rule in launch_rules())}
        remains = any(found.metric in self.grave and not self._is_no_error_now(found) for found in left)
        time_us, now_us = (None if report.model is UNSET else report.model.time_us for report in (kernel, self.new))
        gain = predicted_gain(time_us, now_us, self.new.arch)
        return TriedChange(
            change=dict(change),
            before={name: self.config.get(name) for name in change},
            figures={name: values for name, values in figures.items() if len(set(values)) > 1},
            restored=[name for name, values in figures.items() if _restored(*values)],
            cured=not remains and not any(found.metric in worst for found in price),
            price=[price_of(found) for found in price],
            price_severity=max((found.severity for found in price), key=lambda s: s.rank, default=Severity.NOTE),
            time_us=time_us,
            speedup=None if gain is None else gain.speedup,
            certainty=None if gain is None else gain.certainty,
        )


def _llvms_share(old: facts.Number, through: facts.Number, new: facts.Number) -> float | None:
    """Return the share of the change that the new LLVM causes alone; negative if it improves the figure."""
    if old is None or through is None or new is None or old == new:
        return None
    return (through - old) / (new - old)


def _metrics_to_restore(harm: Sequence[Change]) -> set[str]:
    """Return the metrics that a cure has to restore; other metrics that got worse are its price.

    These are the metrics of errors, together with spills. Without errors, they are all figures that got worse; without
    such figures, the findings.
    """
    errors = {change.metric for change in harm if change.severity is Severity.ERROR}
    if errors:
        return errors | {change.metric for change in harm if change.metric == "vgpr_spills"}
    figures = {change.metric for change in harm if not change.metric.startswith("finding:")}
    return figures or {change.metric for change in harm}


def _restored(old: facts.Number, new: facts.Number, tried: facts.Number) -> bool:
    """Whether a figure is closer to its old value than to its new one, or exactly restored."""
    if old is None or new is None or tried is None or old == new:
        return False
    return abs(tried - old) <= _ENOUGH * abs(new - old)


def explain(
    case: Case,
    before: KernelCompiler,
    after: KernelCompiler,
    *,
    seconds: float,
    tell: Callable[[str], None] | None = None,
) -> Explanation:
    """Search for causes and cures.

    Args:
        case: the kernel.
        before: compiles the kernel like the old side.
        after: compiles the kernel like the new side.
        seconds: time after which no further compile starts.
        tell: called with each change that is tried.

    Raises:
        KprofError: if a compiling process died.
    """
    deadline = Deadline(seconds)
    search = _Search(case, after, deadline, tell or (lambda _text: None))
    old, new = before.switches(), after.switches()
    defaults = {n: (old.get(n), new.get(n)) for n in sorted({*old, *new}) if n in new and old.get(n) != new[n]}
    flips = _flips(case, new, defaults)
    switched = search.run(flips)
    all_tried = not search.left
    # A switch that is off on both sides did not make anything worse. Turning it on may be a cure, but is not the cause.
    idle = [trial for trial in switched if all(v == "1" and name not in defaults for name, v in trial.change.items())]
    telling = (trial for trial in switched if trial not in idle and _is_informative(case, trial))
    causes = sorted(telling, key=lambda trial: _cause_rank(case, trial))
    together = {name: value for flip in flips if set(flip) & set(defaults) for name, value in flip.items()}
    if len(together) > 1 and not any(trial.cured for trial in causes):
        brought = set(causes[0].restored) if causes else set()
        joint = (trial for trial in search.run([together]) if _is_informative(case, trial))
        causes += [trial for trial in joint if trial.cured or set(trial.restored) > brought]
    by_stage, unread = _by_stage(case, before, after) if case.labels[0] != case.labels[1] else (UNSET, [])
    cures = _cures(case, search, [trial for trial in idle if _cures_it(trial)])
    notes = [*_confirmed(case, before, causes, old), *unread]
    return Explanation(
        old=case.sides[0],
        new=case.sides[1],
        summary=summary_of(case.labels, causes, cures, defaults, case.harm, all_tried=all_tried, by_stage=by_stage),
        causes=causes[:3],
        cures=cures,
        tried=search.tried,
        left=search.left,
        failed=search.failed,
        defaults=defaults,
        seconds=round(deadline.spent, 1),
        notes=notes,
        by_stage=by_stage,
    )


def _by_stage(case: Case, before: KernelCompiler, after: KernelCompiler) -> tuple[ByStage | UnsetType, list[str]]:
    """Compile the old side's LLVM IR with the new side's LLVM; return the reason as a note if that fails."""
    try:
        kernel = after.through_llvm(before.stages())
    except KprofError as error:
        return UNSET, [
            f"the LLVM IR of {case.labels[0]} does not compile with the LLVM of {case.labels[1]}: {error.message}"
        ]
    columns = [facts.figures(report) for report in (case.old, kernel, case.new)]
    figures = {name: (columns[0][name], columns[1][name], columns[2][name]) for name in columns[0]}
    harmed = {change.metric for change in case.harm} & figures.keys()
    # The predicted time combines all other metrics. Without it, every metric that got worse counts.
    telling = {"model_us"} & harmed or harmed
    shares = [share for name in telling if (share := _llvms_share(*figures[name])) is not None]
    if not shares:
        return UNSET, []
    part: Literal["llvm", "before llvm", "both"] = "both"
    if max(shares) <= _OTHERS:
        part = "before llvm"
    elif min(shares) >= 1 - _OTHERS:
        part = "llvm"
    return ByStage(part, {name: values for name, values in figures.items() if len(set(values)) > 1}), []


@dataclass
class _Search:
    """Tries changes with the new side's compiler, within the time."""

    case: Case
    compiler: KernelCompiler
    deadline: Deadline
    tell: Callable[[str], None]
    tried: int = 0
    left: int = 0
    failed: int = 0

    def run(self, changes: Sequence[Mapping[str, Any]]) -> list[TriedChange]:
        """Return the results of the changes that compiled."""
        if self.deadline.over():
            self.left += len(changes)
            return []
        found = []
        count = 0
        for change, kernel, _error in self.compiler.trials(changes, self.deadline.left):
            count += 1
            self.tell(assigned(change, ", "))
            if kernel is None:
                self.failed += 1
            else:
                found.append(self.case.judge(change, kernel))
        self.tried += count
        if self.deadline.over():
            self.left += len(changes) - count
        return found


def _flips(
    case: Case, switches: Mapping[str, bool | None], defaults: Mapping[str, tuple[bool | None, bool | None]]
) -> list[dict[str, str]]:
    """Return a toggle for each switch, switches with a changed default first."""
    found = []
    for name, is_on in switches.items():
        code = _ONLY_CODE.get(name)
        needed = code is None or any(code in instruction for instruction in case.new.instructions)
        if needed and not _is_of_others(name, case.new.arch):
            found.append({name: "0" if is_on else "1"})
    return sorted(found, key=lambda flip: not set(flip) & set(defaults))


def _is_of_others(switch: str, arch: str) -> bool:
    """Whether a switch changes the code of other architectures only."""
    having = {name for name in architectures() if switch in (load(name).triton.switches or {})}
    return bool(having) and arch in architectures() and arch not in having


def _is_informative(case: Case, trial: TriedChange) -> bool:
    """Whether a compiler switch explains why the code of the new Triton is worse than that of the old one.

    It must restore a figure that got worse, and make fewer figures worse than the new Triton did. If the predicted
    time got worse, the switch has to restore the time: saving one register does not explain a halved speed.
    """
    harmed = {harm.metric for harm in case.harm}
    if "model_us" in harmed and trial.time_us is not None and "model_us" not in trial.restored:
        return False
    brought = trial.cured or bool(set(trial.restored) & harmed)
    return brought and (len(trial.price) < len(case.harm) or not trial.price)


def _cause_rank(case: Case, trial: TriedChange) -> tuple[bool, int, int]:
    """Return a sort key: switches that restore everything first, then those that restore most of what got worse."""
    harmed = [harm.metric for harm in case.harm]
    return (not trial.cured, -len(set(trial.restored) & set(harmed)), len(trial.price))


def _cures(case: Case, search: _Search, switches: Sequence[TriedChange]) -> list[TriedChange]:
    """Return changes of knobs that are cures, best first, see :func:`ranked`.

    Pairs of knobs, and knobs that distribute the work, are only tried if single knobs do not suffice.

    Args:
        case: the kernel.
        search: compiles changes.
        switches: switches that are cures when they are turned on.
    """
    rules = {finding.rule for finding in case.new.findings}
    groups: dict[tuple[bool, bool], list[dict[str, Any]]] = {}
    for change in sorted(search.compiler.changes(rules), key=_change_size):
        effort = _change_size(change)
        groups.setdefault((effort[0] > 1, effort[1] > 1), []).append(change)
    unique: dict[tuple[str, ...], TriedChange] = {}
    for _, changes in sorted(groups.items()):
        cured = [trial for trial in search.run(changes) if _cures_it(trial)]
        # Keep one cure per set of knobs, because a second value of the same knob is hardly another way to cure the
        # kernel.
        for trial in ranked(cured):
            unique.setdefault(tuple(sorted(trial.change)), trial)
        if len(unique) >= CURES_WANTED:
            break
    return ranked([*unique.values(), *switches])[:CURES_SHOWN]


def _cures_it(trial: TriedChange) -> bool:
    """Whether a change restores the figures and is not predicted to be slower than the code that got worse."""
    return trial.cured and (trial.speedup is None or trial.speedup * (1 + least_difference()) > 1)


def ranked(cures: Sequence[TriedChange]) -> list[TriedChange]:
    """Sort cures by predicted time; among cures within 1 % of each other the one with the lowest price comes first.

    The price of a cure is the metrics that it makes worse. If a cure has no predicted time, all are sorted by price.
    """
    times = [trial.time_us for trial in cures if trial.time_us]
    if len(times) < len(cures):
        return sorted(cures, key=_cost_rank)
    return sorted(cures, key=lambda trial: (round(log(trial.time_us or 1.0) / _STEP), _cost_rank(trial)))


def _cost_rank(trial: TriedChange) -> tuple[int, int, tuple[int, int]]:
    """Return a sort key: the price of a cure, then the extent of its change."""
    return (trial.price_severity.rank, len(trial.price), _change_size(trial.change))


def _change_size(change: Mapping[str, Any]) -> tuple[int, int]:
    """Return a sort key: fewer knobs, then compiler options, tile sizes, work distribution, environment switches."""
    if all(name in _OPTIONS for name in change):
        return (len(change), 0)
    if any(name in CODE_SWITCHES for name in change):
        return (len(change), 3)
    if LLVM_SWITCH in change:
        return (len(change), 1)
    return (len(change), 2 if any(name.upper().startswith(_ASIDE) for name in change) else 1)


def _confirmed(
    case: Case, before: KernelCompiler, causes: Sequence[TriedChange], switches: Mapping[str, bool | None]
) -> Iterator[str]:
    """Confirm the first cause by setting its switch on the old side to the new side's value."""
    if not causes or len(causes[0].change) != 1:
        return
    ((name, value),) = causes[0].change.items()
    if switches.get(name) is None:
        return
    turned = "1" if value == "0" else "0"
    if switches[name] is (turned == "1"):
        return
    metrics = [metric for metric in causes[0].restored if metric in {"vgpr_spills", "lds_bytes", "waves_per_simd"}]
    for _change, kernel, error in before.trials([{name: turned}], 120.0):
        if kernel is None:
            yield f"{case.labels[0]} does not compile it with {name}={turned}: {error}"
            continue
        figures = facts.figures(kernel)
        words = {"vgpr_spills": "VGPRs spilled", "lds_bytes": "B of LDS", "waves_per_simd": "waves per SIMD"}
        values = ", ".join(f"{figures[metric]:,g} {words[metric]}" for metric in metrics if figures[metric] is not None)
        if values:
            yield f"confirmed in reverse: {case.labels[0]} with {name}={turned} has {values}"
