"""Build the document of a comparison from the reports of all sides."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import msgspec
from msgspec import UNSET, UnsetType

from kprof.analysis import failed_words
from kprof.diffing import facts
from kprof.diffing.document import Change, Diff, DiffSide, DiffStep, Explanation, KernelDiff, Status
from kprof.diffing.kernels import order, step
from kprof.diffing.limits import DiffLimits
from kprof.diffing.pairing import BY_LIKENESS, match
from kprof.document import KernelReport, Verdict
from kprof.findings import Severity
from kprof.output.quantities import duration
from kprof.version import __version__
from kprof_analyzers.model.certainty import certainty, sure_words

_ORDER: tuple[Status, ...] = ("worse", "mixed", "unknown", "gone", "new", "better", "changed", "same")


@dataclass
class Chain:
    """The reports of one kernel, at most one from each side of a comparison.

    Attributes:
        entries: the kernel's report on each side, by index of the side.
        notes: remarks on how a side's report was paired with the previous one, by index of the side.
    """

    entries: dict[int, KernelReport] = field(default_factory=dict)
    notes: dict[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def last(self) -> KernelReport:
        """Report of the last side that contains the kernel."""
        return self.entries[max(self.entries)]


@dataclass(frozen=True)
class Input:
    """One side of a comparison: a target with the reports that were read from it.

    Attributes:
        label: name of the side.
        kernels: reports of its kernels.
        problems: what could not be compiled or read.
        lost: problems by kernel name and architecture, for kernels that exist but did not compile.
    """

    label: str
    kernels: Sequence[KernelReport]
    problems: Sequence[str] = ()
    lost: Mapping[tuple[str, str], str] = field(default_factory=dict)


def chains(sides: Sequence[Input]) -> list[Chain]:
    """Pair the kernels of a comparison's sides: each with the latest report of the same kernel on an earlier side."""
    found: list[Chain] = []
    for index, side in enumerate(sides):
        for pair in match([chain.last for chain in found], side.kernels):
            if pair.new is None:
                continue
            if pair.old is None:
                found.append(Chain({index: side.kernels[pair.new]}))
                continue
            chain = found[pair.old]
            chain.entries[index] = side.kernels[pair.new]
            chain.notes[index] = pair.notes
    return found


def diff(
    sides: Sequence[Input],
    limits: DiffLimits,
    explanations: Mapping[int, Explanation] | None = None,
    notes: Sequence[str] = (),
) -> Diff:
    """Compare the kernels of two or more sides, and return the comparison's document.

    Args:
        sides: old to new, at least two.
        limits: thresholds from which changes are significant.
        explanations: explanations by index into the result of :func:`chains` for the same sides.
        notes: remarks on the comparison as a whole.
    """
    found = [kernel_diff(chain, sides, limits) for chain in chains(sides)]
    for index, explanation in (explanations or {}).items():
        found[index] = msgspec.structs.replace(found[index], explanation=explanation)
    found.sort(key=harm_key)
    counts = Counter(kernel.status for kernel in found)
    return Diff(
        kprof=__version__,
        sides=[_side(side) for side in sides],
        kernels=found,
        counts={status: counts[status] for status in _ORDER if counts[status]},
        verdict=verdict(found, sides),
        notes=[*notes, *(f"{side.label}: {words}" for side in sides for words in facts.unrecorded(side.kernels))],
    )


def kernel_diff(chain: Chain, sides: Sequence[Input], limits: DiffLimits) -> KernelDiff:
    """Compare the reports of one kernel from all sides of a comparison."""
    count, known = len(sides), sorted(chain.entries)
    steps = []
    for before, after in pairwise(known):
        pair = (chain.entries[before], chain.entries[after])
        steps.append(step(*pair, (before, after), limits, chain.notes.get(after, ())))
    kernel = chain.last
    first, last = known[0], known[-1]
    overall: DiffStep | UnsetType = UNSET
    against = steps[-1].old if steps and steps[-1].status in {"worse", "mixed"} else UNSET
    status: Status = steps[-1].status if steps else "same"
    if len(known) > 2:
        whole = step(chain.entries[first], chain.entries[last], (first, last), limits)
        overall, status = whole, whole.status
        for index in (known[-2], *known[:-2]):
            held = step(chain.entries[index], chain.entries[last], (index, last), limits)
            if held.status in {"worse", "mixed"}:
                against, status = index, held.status
                break
    if last < count - 1:
        status = "worse" if _did_not_compile(kernel, sides[-1]) else "gone"
    elif first > 0 and len(known) == 1:
        status = "better" if _did_not_compile(kernel, sides[first - 1]) else "new"
    return KernelDiff(
        name=kernel.name,
        arch=kernel.arch,
        status=status,
        steps=steps,
        figures=_figures(chain, count),
        source=kernel.source,
        specialization=kernel.specialization,
        overall=overall,
        against=against,
        grid=UNSET if (grid := facts.grid(kernel)) is None else list(grid),
        problem=facts.problem(kernel),
    )


def _did_not_compile(kernel: KernelReport, side: Input) -> bool:
    """Return whether the kernel is missing because it could not be compiled."""
    return (kernel.name, kernel.arch) in side.lost


def _figures(chain: Chain, count: int) -> dict[str, list[int | float | None]]:
    columns = {index: facts.figures(kernel) for index, kernel in chain.entries.items()}
    names = next(iter(columns.values()))
    return {name: [columns[i][name] if i in columns else None for i in range(count)] for name in names}


def _side(side: Input) -> DiffSide:
    versions = sorted({kernel.triton for kernel in side.kernels if isinstance(kernel.triton, str)})
    return DiffSide(label=side.label, tritons=versions, kernels=len(side.kernels), problems=list(side.problems))


def harm_key(kernel: KernelDiff) -> tuple[object, ...]:
    """Return a sort key that puts the kernels with the worst regressions first."""
    shown: DiffStep | None = worst_step(kernel)
    # The second element of the key puts kernels without changes last.
    change = order(shown.changes[0])[:3] if shown is not None and shown.changes else ()
    return (_ORDER.index(kernel.status), not change, change, kernel.name, kernel.arch)


def worst_step(kernel: KernelDiff) -> DiffStep | None:
    """Return the step to show for a kernel: the step that made the kernel worse, else the last step with a change."""
    for wanted in ({"worse", "mixed"}, {"unknown"}, {"better"}, {"changed"}):
        for found in reversed(kernel.steps):
            if found.status in wanted:
                return found
    return kernel.steps[-1] if kernel.steps else None


def first_worse_step(kernel: KernelDiff) -> DiffStep | None:
    """Return the step in which a regression began: the first step with the most severe change of the worst step."""
    shown = worst_step(kernel)
    if shown is None or shown.status not in {"worse", "mixed"}:
        return None
    gravest = shown.changes[0]
    for found in kernel.steps:
        if any(change.effect == "worse" and _same(change, gravest) for change in found.changes):
            return found
    return shown


def steepest_step(kernel: KernelDiff) -> DiffStep | None:
    """Return the step to explain: the one in which the most severe change of the whole comparison is largest.

    If nothing is worse on the last side than on the first, it is the most severe change of the worst step.
    """
    shown = worst_step(kernel)
    if shown is None or shown.status not in {"worse", "mixed"}:
        return None
    gravest, whole = shown.changes[0], kernel.overall
    if whole is not UNSET and whole.status in {"worse", "mixed"}:
        gravest = whole.changes[0]

    def rise(found: DiffStep) -> float:
        same = (c for c in found.changes if c.effect == "worse" and _same(c, gravest))
        return max((abs((c.new or 0) - (c.old or 0)) for c in same), default=-1.0)

    return max(kernel.steps, key=rise)


def _same(a: Change, b: Change) -> bool:
    return (a.metric, a.hot) == (b.metric, b.hot)


def verdict(kernels: Sequence[KernelDiff], sides: Sequence[Input]) -> Verdict:
    """Return the verdict of a comparison, which corresponds to the exit code."""
    bad = [kernel for kernel in kernels if kernel.status in {"worse", "mixed"}]
    unsure = [kernel for kernel in kernels if kernel.status == "unknown"]
    problems = sum(len(side.problems) for side in sides)
    unseen = [f"{k.name} of {side.label}: {k.unseen}" for side in sides for k in side.kernels if k.unseen is not UNSET]
    unseen = [*failed_words(kernel for side in sides for kernel in side.kernels), *unseen]
    total = f"{len(kernels)} {'kernel' if len(kernels) == 1 else 'kernels'}"
    way = f"{sides[0].label} to {sides[-1].label}"
    paired = any(kernel.steps for kernel in kernels)
    if bad:
        worse = f"worse with {sides[-1].label}" if len(sides) > 2 else f"worse from {way}"
        text = f"regression: {len(bad)} of {total} {worse}"
        untold = [unseen[0]] if unseen else []
        untold += [f"{problems} could not be compiled or read: {_first(sides)}"] if problems else []
        untold += [f"{len(unsure)} of {total} lack figures on one side"] if unsure else []
        also = f"; cannot be determined: {', '.join(untold)}" if untold else ""
        return Verdict(status="regression", summary=f"{text}; {_example(bad[0], sides)}{also}")
    if not paired:
        reason = "no kernel is on both sides" if kernels else "there is nothing to compare"
        return Verdict(status="cannot_tell", summary=f"cannot tell: {reason}")
    if unsure or problems or unseen:
        reasons = [f"{len(unsure)} of {total} lack figures on one side"] if unsure else []
        reasons += [f"{problems} could not be compiled or read: {_first(sides)}"] if problems else []
        reasons += [unseen[0] + (f" (and {len(unseen) - 1} more)" if len(unseen) > 1 else "")] if unseen else []
        return Verdict(status="cannot_tell", summary=f"cannot tell: {', '.join(reasons)}")
    counts = Counter(kernel.status for kernel in kernels)
    words = [f"{counts[status]} {status}" for status in ("better", "changed", "same", "new", "gone") if counts[status]]
    alike = sum(any(BY_LIKENESS in step.notes for step in kernel.steps) for kernel in kernels)
    apart = f"; {alike} of {total} have the same description as others and were paired by similarity" if alike else ""
    return Verdict(status="ok", summary=f"ok: no kernel is worse from {way}: {', '.join(words)}{apart}")


def _first(sides: Sequence[Input]) -> str:
    """Return the first problem of compiling or reading a side, with the side's label."""
    side = next(side for side in sides if side.problems)
    return f"{side.label}: {side.problems[0]}"


def _example(kernel: KernelDiff, sides: Sequence[Input]) -> str:
    """Return an example: ``gemm on gfx950: predicted time 886 µs → 1.26 ms (1.42x), VGPRs spilled 0 → 129``."""
    name = f"{kernel.name} on {kernel.arch}"
    # The explanation uses the same step, so that the summary and the explanation are about the same releases.
    found = steepest_step(kernel)
    if found is None:
        return f"{name} no longer compiles"
    worse = [change for change in found.changes if change.effect == "worse"]
    steps = f", {sides[found.old].label} to {sides[found.new].label}" if len(sides) > 2 else ""
    # If the first change is the predicted time, add the next change, which says why the time grew.
    told = [_in_words(change, kernel.arch) for change in worse[: 1 + (worse[0].metric == "model_us")]]
    return f"{name}{steps}: {', '.join(told)}"


def _in_words(change: Change, arch: str) -> str:
    old, new = change.old, change.new
    if change.metric == "model_us" and old and new:
        sure = certainty(new / old, arch)
        words = f", {sure_words(sure, 'slower')}" if sure is not None else ""
        return f"{change.text} {duration(old)} → {duration(new)} ({new / old:.3g}x{words})"
    note = f" ({change.note})" if change.note else ""
    return f"{change.text}{note} {_value(old)} → {_value(new)}"


def _value(value: float | None) -> str:
    return "?" if value is None else f"{value:,g}" if abs(value) < 1e6 else f"{value:,.0f}"


def severity(kernel: KernelDiff) -> Severity:
    """Return the highest severity of a kernel's changes for the worse, which determines its colour."""
    worst = worst_step(kernel)
    grave = [c.severity for c in worst.changes if c.effect == "worse"] if worst is not None else []
    return max(grave, key=lambda s: s.rank) if grave else Severity.NOTE
