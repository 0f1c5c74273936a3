"""Wording of comparisons, shared by the terminal and the Markdown report."""

from collections.abc import Sequence

from msgspec import UNSET

from kprof.diffing.comparing import first_worse_step, worst_step
from kprof.diffing.document import Change, Diff, DiffStep, Explanation, KernelDiff, TriedChange
from kprof.findings import Location
from kprof.output.assignments import assigned
from kprof.output.quantities import duration, likely
from kprof.reporters._code_lines import code_at
from kprof.reporters.answer import at_best
from kprof_analyzers.model.certainty import PredictedGain, predicted_gain, sure_words
from kprof_analyzers.rules import known_rules

FIGURES = {
    "vgpr_spills": "spilled",
    "loop_spills": "in loops",
    "lds_bytes": "LDS B",
    "waves_per_simd": "waves",
    "vgpr_allocated": "VGPRs",
    "model_us": "µs (model)",
}
"""Figures in the table of trials, with their headings."""

SHOWN_NOTES = 3
# Metrics whose small differences are not reported. If a step has no change of them, the values may still differ.
_ROUNDED = ("instructions", "loop_instructions", "width")
_LABEL = 60


def stage_line(diff: Diff, found: Explanation) -> str:
    """Describe what compiling the old side's LLVM IR with the new side's LLVM showed; empty if it was not done."""
    if found.by_stage is UNSET:
        return ""
    old, new = (diff.sides[index].label.removesuffix(" (installed)") for index in (found.old, found.new))
    figures = [
        f"{heading} {' → '.join(number(value) for value in found.by_stage.figures[name])}"
        for name, heading in FIGURES.items()
        if name in found.by_stage.figures
    ]
    same = "none of the compared figures differs"
    return f"{old} → its LLVM IR through the LLVM of {new} → {new}: {', '.join(figures) or same}"


def number(value: float | None) -> str:
    """Format a number with thousands separators and at most two decimals; ``?`` if it is not known."""
    if value is None:
        return "?"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}".rstrip("0")


def figure(metric: str, value: float | None) -> str:
    """Format a figure: a predicted time with its unit, else a number."""
    return duration(value) if metric == "model_us" and value is not None else number(value)


def values(kernel: KernelDiff, step: DiffStep, change: Change, sides: int) -> str:
    """Return a changed figure's values on all sides, ``0 → 0 → 129``; for two sides, before and after the change."""
    figures = kernel.figures.get(change.metric)
    if sides > 2 and figures is not None and not change.where:
        return " → ".join("-" if value is None else figure(change.metric, value) for value in figures)
    if sides > 2:
        found = _along(kernel, change) | {step.old: change.old, step.new: change.new}
        return " → ".join(figure(change.metric, found[index]) if index in found else "·" for index in range(sides))
    return f"{figure(change.metric, change.old)} → {figure(change.metric, change.new)}"


def _along(kernel: KernelDiff, change: Change) -> dict[int, float | None]:
    """Return a metric's values by side, from all steps. In steps that lack it, most metrics are unchanged."""
    found: dict[int, float | None] = {}
    for step in kernel.steps:
        same = next((c for c in step.changes if (c.metric, c.hot) == (change.metric, change.hot)), None)
        if same is not None:
            found |= {step.old: same.old, step.new: same.new}
    if change.metric.startswith(_ROUNDED):
        return found
    for steps, known, wanted in ((kernel.steps, "old", "new"), (kernel.steps[::-1], "new", "old")):
        for step in steps:
            if getattr(step, known) in found:
                found.setdefault(getattr(step, wanted), found[getattr(step, known)])
    return found


def kind(change: Change) -> str:
    """Return how a change is labelled: with its severity if it is for the worse, else with its effect."""
    return change.severity.value if change.effect == "worse" else change.effect


def what(change: Change, verbose: int = 0) -> str:
    """Return the text of a change, with its note if ``verbose``.

    A note that begins with ``for`` is always shown. It names the amount of work that a figure refers to; without it, a
    change 1 → 1 that is rated *better* would make no sense.
    """
    noted = change.note and (verbose or change.note.startswith("for "))
    return f"{change.text} ({change.note})" if noted else change.text


def shown(step: DiffStep, verbose: int) -> tuple[list[Change], int]:
    """Return the changes of a step to show, and the number of changes that are left out."""
    if verbose:
        return step.changes, 0
    metrics = {change.metric for change in step.changes}
    restated = {rule.id for rule in known_rules() if metrics & set(rule.restates)}
    changes = [c for c in step.changes if c.metric.removeprefix("finding:") not in restated]
    grave = [c for c in changes if c.effect in {"worse", "unknown"} and c.severity.value != "note"]
    notes = [c for c in changes if c.effect in {"worse", "unknown"} and c.severity.value == "note"]
    better = [c for c in changes if c.effect == "better" and c.severity.value != "note"]
    if step.status == "better":
        grave, better = [*better[:SHOWN_NOTES], *grave], []
    chosen = [*grave, *[c for c in notes if not c.metric.startswith(("finding:", "instructions"))][:SHOWN_NOTES]]
    chosen += better[:SHOWN_NOTES]
    if not chosen:
        chosen = [c for c in step.changes if c.effect != "neutral"][:SHOWN_NOTES] or step.changes[:SHOWN_NOTES]
    return chosen, len(step.changes) - len(chosen)


def where(kernel: KernelDiff, change: Change) -> str:
    """Return the place of a change: ``line 93-103 hot`` in the kernel's own file, else with the file's name."""
    text = change.where
    file, colon, lines = text.rpartition(":")
    if colon and kernel.source is not UNSET and str(kernel.source).rpartition(":")[0] == file:
        text = f"line {lines}"
    return f"{text} hot" if change.hot and text else text


def title(diff: Diff, kernel: KernelDiff) -> str:
    """Return the kernel's name, with the grid if another kernel of this name has another grid."""
    others = [other.grid for other in diff.kernels if (other.name, other.arch) == (kernel.name, kernel.arch)]
    if kernel.grid is UNSET or all(other == kernel.grid for other in others):
        return kernel.name
    return f"{kernel.name} [{'x'.join(map(str, kernel.grid))}]"


def predicted(kernel: KernelDiff) -> str:
    """Return the predicted times on all sides, or "" if no side has a time.

    For example ``predicted: 12.5 µs (likely 9.52 to 17.7 µs) → 341 µs (...)``.
    """
    times = kernel.figures.get("model_us", [])
    if all(time is None for time in times):
        return ""
    unknown = [None] * len(times)
    ends = zip(
        kernel.figures.get("model_low_us") or unknown, kernel.figures.get("model_high_us") or unknown, strict=True
    )
    return "predicted: " + " → ".join(
        "not known" if time is None else f"{duration(time)}{likely(*both)}"
        for time, both in zip(times, ends, strict=True)
    )


def launch(kernel: KernelDiff) -> str:
    """Return the launch that times refer to, ``M=4096 N=4096   grid 4096``; empty if not known."""
    sizes = assigned(kernel.problem, " ")
    grid = "" if kernel.grid is UNSET else f"grid {'x'.join(map(str, kernel.grid))}"
    return "   ".join(filter(None, (sizes, grid)))


def remarks(kernel: KernelDiff, step: DiffStep, verbose: int = 0, *, code: bool = False) -> list[str]:
    """Return lines below a kernel's changes: predicted times with their ranges, and the fixes of new findings.

    Args:
        kernel: the kernel.
        step: the step between two of its sides.
        verbose: verbosity of the whole comparison.
        code: whether to include the source line that a fix refers to.
    """
    changes, _left = shown(step, verbose)
    times = kernel.figures.get("model_us") or [None]
    lines = [predicted(kernel) if step.changes else "", *_undone(kernel, step, code=code)]
    for change in changes:
        if change.fix and change.effect == "worse":
            gain = at_best(times[-1], change.saves_us)
            lines.append(
                f"fix of {change.metric.removeprefix('finding:')}: {change.fix}" + (f" ({gain})" if gain else "")
            )
            _, _, source = code_at(change.location).partition("  ") if code else ("", "", "")
            lines.append(f"    now {change.location}  {source}" if source else "")
    return [line for line in lines if line]


def _undone(kernel: KernelDiff, step: DiffStep, *, code: bool) -> list[str]:
    """Return the gain from reverting a source change, if the new code is slower and one range of lines differs."""
    if step.source is UNSET:
        return []
    times = kernel.figures.get("model_us") or []
    old, new = (times[index] if index < len(times) else None for index in (step.old, step.new))
    gain = predicted_gain(old, new, kernel.arch)
    if gain is None or gain.speedup <= 1 or not gain.told_apart or old is None or new is None:
        return []
    sure = f"; {sure_words(gain.certainty)}" if gain.certainty is not None else ""
    change = step.source
    brought = f"{duration(new)} → {duration(old)} ({gain.speedup:.3g}x; compiled{sure})"
    here = _stretch(change.new, change.new_lines)
    lines = [
        f"fix, if the change was not intended: {_stretch(change.old, change.old_lines)} in place of {here}: {brought}"
    ]
    _, _, source = code_at(change.old).partition("  ") if code else ("", "", "")
    return [*lines, f"    was {change.old}  {source}"] if source else lines


def _stretch(first: Location, count: int) -> str:
    return str(first) if count == 1 else f"{first}-{first.line + count - 1}"


def step_of(kernel: KernelDiff) -> DiffStep | None:
    """Return the worst step, whose changes are shown."""
    return worst_step(kernel)


def knobs(kernel: KernelDiff) -> str:
    """Return the compiled knobs, which distinguish kernels of the same name."""
    if kernel.specialization is UNSET:
        return ""
    spec = kernel.specialization
    known = {**spec.constexprs, **spec.options, **spec.environment}
    return " ".join(f"{name}={value}" for name, value in known.items() if value is not None)


def differs(step: DiffStep) -> str:
    """Return the differing knobs of a pair of specialisations: ``num_warps 4 → 8``."""
    # Skip hints such as a pointer's range, because they depend on the Triton release, not on the user's choices.
    found = [(name, pair) for name, pair in step.differs.items() if not name.startswith("attributes of ")]
    shown = [f"{name} {_shortened(old)} → {_shortened(new)}" for name, (old, new) in found[:4]]
    more = len(found) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _shortened(value: object) -> str:
    text = "-" if value is None else str(value)
    return text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"


def since(diff: Diff, kernel: KernelDiff) -> str:
    """Return a kernel's status in words.

    With more than two sides the words include the first step that differs: ``worse; first 3.6.0 → 3.9.0``.
    """
    step = step_of(kernel)
    if step is None:
        return {
            "new": "only on the new side",
            "gone": "only on the old side",
            "worse": f"does not compile with {diff.sides[-1].label}",
            "better": f"compiles only with {diff.sides[-1].label}",
        }.get(kernel.status, kernel.status)
    if len(diff.sides) == 2 or kernel.status in {"same", "new", "gone"}:
        return kernel.status
    first = first_worse_step(kernel)
    if kernel.status in {"worse", "mixed"} and first is not None:
        return f"{kernel.status}; first {diff.sides[first.old].label} → {diff.sides[first.new].label}"
    first = next((s for s in kernel.steps if s.changes), step)
    return f"{kernel.status}; first differs {diff.sides[first.old].label} → {diff.sides[first.new].label}"


def trial_rows(diff: Diff, kernel: KernelDiff, found: Explanation) -> list[tuple[str, list[float | None], str]]:
    """Return the rows of the table of trials: both sides, then causes and cures.

    Each row has a name, figures, and what is worse with the change.
    """
    old, new = (diff.sides[index].label for index in (found.old, found.new))
    rows: list[tuple[str, list[float | None], str]] = [
        (label, [kernel.figures[name][index] for name in FIGURES], "")
        for label, index in ((old, found.old), (new, found.new))
    ]
    trials = (*found.causes, *found.cures)
    return [*rows, *((changed(t), _figures(kernel, found, t), "; ".join(t.price)) for t in trials)]


def cure_times(found: Explanation) -> list[str]:
    """Return each cure's gain over the new side: ``num_stages=1: predicted 1.21 times as fast, certainty ...``."""
    return [
        f"{changed(cure)}: predicted {PredictedGain(cure.speedup, cure.certainty).words()}"
        for cure in found.cures
        if cure.speedup is not None
    ]


def changed(trial: TriedChange) -> str:
    """Return the change of a trial, ``num_stages=1``."""
    return assigned(trial.change)


def _figures(kernel: KernelDiff, found: Explanation, trial: TriedChange) -> list[float | None]:
    return [trial.figures[name][2] if name in trial.figures else kernel.figures[name][found.new] for name in FIGURES]


def counts(diff: Diff) -> str:
    """Return the numbers of kernels by status, ``1 worse, 3 same``."""
    return ", ".join(f"{count} {status}" for status, count in diff.counts.items())


def with_status(kernels: Sequence[KernelDiff], statuses: set[str]) -> list[KernelDiff]:
    """Return the kernels with one of these statuses."""
    return [kernel for kernel in kernels if kernel.status in statuses]
