"""Compare two compiles of one kernel: all changes, the most harmful first."""

from collections.abc import Iterator

from msgspec import UNSET, UnsetType

from kprof.diffing import facts
from kprof.diffing.document import Change, DiffStep, SourceChange, Status
from kprof.diffing.limits import DiffLimits
from kprof.diffing.loops import compare_loops, compare_widths
from kprof.diffing.rating import ComparedFigure, rate
from kprof.diffing.source_lines import source_change
from kprof.document import KernelReport
from kprof.findings import Finding, Location, Severity
from kprof_analyzers.model.certainty import predicted_gain

KEY_METRICS = ("vgpr_spills", "lds_bytes", "waves_per_simd")
"""If one of these metrics is unknown on a side, a kernel's status is ``unknown``, unless the kernel is worse."""

_PLAIN = (
    ("vgpr_allocated", "VGPRs allocated"),
    ("agpr", "AGPRs"),
    ("sgpr", "SGPRs"),
)


def compare(old: KernelReport, new: KernelReport, limits: DiffLimits) -> list[Change]:
    """Return all changes between two reports of a kernel, the most harmful first; empty if they are equal."""
    found = [*_resources(old, new, limits), *_model(old, new, limits)]
    # Compare findings only if the instructions of both or of neither are known: without instructions rules find
    # nothing, which must not look like an improvement.
    if facts.has_code(old) == facts.has_code(new):
        found += _findings(old, new, limits)
    if facts.has_code(old) and facts.has_code(new):
        found += compare_loops(old, new, limits)
        found += compare_widths(old, new, limits)
        found += _code(old, new, limits)
    return sorted(found, key=order)


def order(change: Change) -> tuple[int, int, int, bool, str, str]:
    """Return a sort key for changes: for the worse before for the better, then errors first, then by harm."""
    effects = ("worse", "unknown", "better", "neutral")
    return (
        effects.index(change.effect),
        -change.severity.rank,
        change.rank,
        not change.hot,
        change.where,
        change.metric,
    )


def status_of(changes: list[Change], limits: DiffLimits) -> Status:
    """Return the status of a kernel that follows from its changes.

    If any figure changed significantly, only findings that are errors count: a kernel with fewer spills is better, even
    if a rule reports something on the code that replaced the spills. If instead the predicted time and all other
    figures changed slightly in one direction, findings in the other direction count only if they are errors. For
    example, a rule that only checks wide loads may begin to report loads that were narrow before.
    """
    counted = [change for change in changes if change.severity.rank >= limits.least]
    figures = [change for change in changes if not _is_finding(change)]
    time = next((change.effect for change in figures if change.metric == "model_us"), "neutral")
    ways = {change.effect for change in figures} - {"neutral"}
    if not all(map(_is_finding, counted)):
        counted = [c for c in counted if c.severity is Severity.ERROR or not _is_finding(c)]
    elif ways == {time}:
        counted = [c for c in counted if c.severity is Severity.ERROR or c.effect == time]
    effects = {change.effect for change in counted}
    unknown = any(change.effect == "unknown" and change.metric in KEY_METRICS for change in changes)
    if "worse" in effects:
        return "mixed" if "better" in effects else "worse"
    if unknown:
        return "unknown"
    if "better" in effects:
        return "better"
    return "changed" if changes else "same"


def _is_finding(change: Change) -> bool:
    return change.metric.startswith("finding:")


def step(
    old: KernelReport, new: KernelReport, indices: tuple[int, int], limits: DiffLimits, step_notes: tuple[str, ...] = ()
) -> DiffStep:
    """Compare a kernel's reports on two neighbouring sides.

    Args:
        old: its report on the old side.
        new: its report on the new side.
        indices: indices of the two sides.
        limits: thresholds from which changes are significant.
        step_notes: remarks on how the two reports were paired.
    """
    changes = compare(old, new, limits)
    notes = list(step_notes)
    one_sided = [side for side, kernel in (("old", old), ("new", new)) if not facts.has_code(kernel)]
    if len(one_sided) == 1:
        notes.append(f"loops, widths and findings were not compared: the {one_sided[0]} side has no instructions")
    return DiffStep(
        old=indices[0],
        new=indices[1],
        status=status_of(changes, limits),
        changes=changes,
        differs=differences(old, new),
        notes=notes,
        source=_source(old, new),
    )


def _source(old: KernelReport, new: KernelReport) -> SourceChange | UnsetType:
    if old.source is UNSET or new.source is UNSET:
        return UNSET
    return source_change(old.source, new.source) or UNSET


def differences(old: KernelReport, new: KernelReport) -> dict[str, tuple[object, object]]:
    """Return the old and new value of each part in which two specialisations differ: ``num_warps`` to ``(4, 8)``."""
    if old.specialization is UNSET or new.specialization is UNSET:
        return {}
    found: dict[str, tuple[object, object]] = {}
    for part in ("signature", "constexprs", "attributes", "options", "environment"):
        before, after = getattr(old.specialization, part), getattr(new.specialization, part)
        # A part that one side does not record is not a difference: entries of Triton's cache, for example, contain only
        # options.
        if part != "environment" and not (before and after):
            continue
        for name in sorted({*before, *after}):
            if before.get(name) != after.get(name):
                word = {"constexprs": "", "options": "", "signature": "type of "}.get(part, f"{part} of ")
                found[f"{word if part != 'environment' else ''}{name}"] = (before.get(name), after.get(name))
    return found


def _resources(old: KernelReport, new: KernelReport, limits: DiffLimits) -> Iterator[Change]:
    def both(name: str) -> tuple[facts.Number, facts.Number]:
        return facts.resource(old, name), facts.resource(new, name)

    spills = both("vgpr_spills")
    yield from rate(
        ComparedFigure("lds_over_limit", "LDS bytes over the limit", *_excess_lds(old, new), Severity.ERROR), limits
    )
    yield from rate(ComparedFigure("vgpr_spills", "VGPRs spilled", *spills, Severity.WARNING), limits)
    yield from rate(ComparedFigure("sgpr_spills", "SGPRs spilled", *both("sgpr_spills"), Severity.NOTE), limits)
    # A warning if spills are unchanged: the additional scratch is then an array or a stack that did not fit into
    # registers.
    severity = Severity.NOTE if spills[0] != spills[1] else Severity.WARNING
    yield from rate(ComparedFigure("scratch_bytes", "scratch bytes per lane", *both("scratch_bytes"), severity), limits)
    before, after = facts.waves(old), facts.waves(new)
    halved = before is not None and after is not None and 2 * min(before, after) <= max(before, after)
    yield from rate(
        ComparedFigure(
            "waves_per_simd",
            "waves per SIMD",
            before,
            after,
            Severity.ERROR if halved else Severity.WARNING,
        ),
        limits,
    )
    yield from rate(ComparedFigure("lds_bytes", "LDS bytes per workgroup", *both("lds_bytes"), Severity.NOTE), limits)
    for name, text in _PLAIN:
        yield from rate(ComparedFigure(name, text, *both(name), Severity.NOTE), limits)


def _excess_lds(old: KernelReport, new: KernelReport) -> tuple[facts.Number, facts.Number]:
    """Return the excess of LDS on both sides only if both are known, since unknown LDS is already another change."""
    before, after = facts.over_limit(old), facts.over_limit(new)
    return (None, None) if before is None or after is None else (before, after)


def _code(old: KernelReport, new: KernelReport, limits: DiffLimits) -> Iterator[Change]:
    before, after = sum(old.instructions.values()), sum(new.instructions.values())
    yield from rate(
        ComparedFigure("instructions", "instructions (code size)", before, after, Severity.NOTE, negligible=0.1), limits
    )
    if len(old.loops) != len(new.loops):
        counts = (len(old.loops), len(new.loops))
        yield from rate(ComparedFigure("loops", "loops", *counts, Severity.NOTE), limits)


def _model(old: KernelReport, new: KernelReport, limits: DiffLimits) -> Iterator[Change]:
    """Yield the change of the predicted time, if both sides have a time for the same GPU.

    A launch has no time if the number of iterations of a loop depends on data. Then the predicted cycles of an
    iteration of the hot loop are compared.

    The change is a warning if the model can distinguish the times, and an error if one is twice the other, as for
    wavefronts per SIMD.
    """
    metric, text, scale = "model_us", "predicted time", 1.0
    before, after = (facts.finite(getattr(kernel.model, "time_us", None)) for kernel in (old, new))
    if before is None and after is None:
        metric, text, scale = "hot_cycles", "predicted cycles per iteration", facts.hot_work_ratio(old, new)
        before, after = facts.hot_cycles(old), facts.hot_cycles(new)
    if before is None or after is None or old.product != new.product:
        return
    gain = predicted_gain(after, before * scale, new.arch)
    severity = Severity.WARNING if gain is not None and gain.told_apart else Severity.NOTE
    if severity is Severity.WARNING:
        twice = 2 * min(before * scale, after) <= max(before * scale, after)
        severity = Severity.ERROR if twice else severity
    yield from rate(
        ComparedFigure(metric, text, before, after, severity, scale=scale, negligible=0.1, hot=metric == "hot_cycles"),
        limits,
    )


def _findings(old: KernelReport, new: KernelReport, limits: DiffLimits) -> Iterator[Change]:
    """Yield a change for each rule that has findings on one side only, or whose number of findings differs."""
    before, after = facts.rules(old.findings), facts.rules(new.findings)
    skipped = facts.unjudged(old) | facts.unjudged(new)
    for rule in sorted({*before, *after} - skipped):
        found, known = after.get(rule, []), before.get(rule, [])
        first: Finding = (found or known)[0]
        worst = max((finding.severity for finding in (*found, *known)), key=lambda severity: severity.rank)
        yield from rate(
            ComparedFigure(
                "finding",
                f"{rule} {first.name}",
                len(known),
                len(found),
                Severity.NOTE if found and known else worst,
                metric=f"finding:{rule}",
                where=str(first.location) if isinstance(first.location, Location) else "",
                note="" if known and found else first.message,
                fix=str(first.fix) if found and not known and first.fix is not UNSET else "",
                saves_us=first.gain.us if found and not known and first.gain is not None else None,
                location=first.location if found and not known else UNSET,
            ),
            limits,
        )
