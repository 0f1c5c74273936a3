"""Text about the targets' kernels in a trace: modelled and measured times, and the gain from a search."""

from collections.abc import Iterable, Sequence
from typing import Any

from kprof.output.assignments import assigned
from kprof.output.quantities import milliseconds
from kprof.reporters._trace_format import kernel_label, label
from kprof.reporters.grids import Column
from kprof_analyzers.profiles.measured.launches import TargetLaunch, TunedLaunch

FIELDS = (
    "path", "target", "name", "workgroups", "calls", "steps", "total_ns", "modelled_us", "low_us", "high_us",
    "least_ns", "lost_ns", "confidence", "doubt", "config", "tuned_us", "gain_ns", "as_good",
)  # fmt: skip


def record(one: TargetLaunch) -> dict[str, Any]:
    """Return a launch as a row of a data frame."""
    launch, best = one.launch, one.tuned
    found = {name: getattr(one, name) for name in FIELDS if hasattr(one, name)}
    found |= {"name": launch.name, "workgroups": launch.workgroups, "calls": launch.calls, "total_ns": launch.total_ns}
    if best is not None:
        found |= {"config": best.config, "tuned_us": best.time_us, "gain_ns": best.gain_ns, "as_good": best.as_good}
    return found


TARGETS = (
    Column("lost ms", lambda one: "-" if one.lost_ns is None else milliseconds(one.lost_ns)),
    Column("ms", lambda one: milliseconds(one.launch.total_ns)),
    Column("calls", lambda one: f"{one.launch.calls:,}"),
    Column("mean us", lambda one: f"{one.launch.total_ns / one.launch.calls / 1000:,.1f}"),
    Column("modelled us", lambda one: "-" if one.modelled_us is None else _range(one)),
    Column("ratio", lambda one: "-" if one.ratio is None else f"{one.ratio:.2f}"),
    Column("launch", lambda one: f"{kernel_label(one.launch.name, 44)} {_extents(one.launch.workgroups)}".strip(),
           wide=True),
)  # fmt: skip
"""Columns of the table of the targets' launches."""


def sentences(found: Sequence[TargetLaunch]) -> Iterable[str]:
    """Return a sentence for each launch of a target's kernel."""
    several = len({one.path for one in found}) > 1
    for one in found:
        where = f"{label(one.path, 60)}: " if several else ""
        yield f"{where}{sentence(one)}." if one.modelled_us is not None else f"{where}{_not_compared(one)}."


def _range(one: TargetLaunch) -> str:
    between = "" if one.low_us is None or one.high_us is None else f" ({one.low_us:,.1f}-{one.high_us:,.1f})"
    return f"{one.modelled_us:,.1f}{between}"


def _extents(size: Sequence[int] | None) -> str:
    """Format a grid, ``4096`` or ``64x32``; empty if it is not known."""
    given = list(size or ())
    while len(given) > 1 and given[-1] == 1:
        given.pop()
    return "x".join(map(str, given))


def _not_compared(one: TargetLaunch) -> str:
    return f"{kernel_label(one.launch.name, 44)} {_extents(one.launch.workgroups)}: not compared: {one.doubt}"


def sentence(one: TargetLaunch) -> str:
    """Return the time that the calls lose, and the predicted gain from another configuration.

    Both are per step if the trace marks steps.
    """
    step = " a step" if one.steps else ""
    calls = one.in_a_step(one.launch.calls) if one.steps else one.launch.calls
    whole = f"{calls:,.0f}" if calls >= 1 or not calls else f"{calls:.2f}"
    name = kernel_label(one.launch.name, 44)
    if one.lost_ns is None:
        loses = "the time that they lose is not known"
    else:
        loses = f"lose{'s' if whole == '1' else ''} {milliseconds(one.in_a_step(one.lost_ns))} ms{step}"
    these = "this 1 call" if whole == "1" else f"these {whole} calls"
    words = f"{name}: {these}{step if one.lost_ns is None else ''} {loses}"
    if any(key.name == "source" and not key.agrees for key in one.keys):
        words += f" (a {one.confidence} match: Inductor compiled it from a file with another text)"
    elif one.confidence != "sure":
        words += f" (a {one.confidence} match)"
    if one.tuned is not None:
        return f"{words}; {_gives_back(one, one.tuned)}"
    return f"{words}; not searched: {one.not_tuned}" if one.not_tuned else words


def _gives_back(one: TargetLaunch, best: TunedLaunch) -> str:
    seen = f"of {best.configurations:,} configurations" + ("" if best.complete else " that were tried in time")
    note = f" ({best.note})" if best.note else ""
    if best.as_good:
        return f"none {seen} is predicted to be faster{note}"
    gain = milliseconds(one.in_a_step(best.gain_ns))
    return f"{assigned(best.config)} is predicted to save {gain}, the most {seen}{note}"


def verdict(found: Sequence[TargetLaunch]) -> str:
    """Return the total time that the compared launches lose, and the predicted gain from other configurations."""
    compared = [one for one in found if one.lost_ns is not None]
    if not compared:
        return "no launch of the targets can be compared with the model"
    by_step = len({one.path for one in compared}) == 1 and compared[0].steps > 0
    lost = [one.lost_ns or 0.0 for one in compared]
    gains = [one.tuned.gain_ns for one in compared if one.tuned is not None]
    if by_step:
        lost = [one.in_a_step(one.lost_ns or 0.0) for one in compared]
        gains = [one.in_a_step(one.tuned.gain_ns) for one in compared if one.tuned is not None]
    words = f"the targets' kernels lose {milliseconds(sum(lost))} ms{' a step' if by_step else ''}"
    return f"{words}, {milliseconds(sum(gains))} of which a search is predicted to save" if gains else words
