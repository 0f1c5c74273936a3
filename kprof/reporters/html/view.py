"""Prepare a kernel for the templates: words, numbers as text, shares as percentages."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET

from kprof.condition import in_short
from kprof.details import Details
from kprof.document import KernelReport, LoopFacts, LoopPrediction, Prediction
from kprof.findings import Severity
from kprof.output.quantities import binary_bytes, duration, plural
from kprof.reporters._ci_findings import RuleHelp
from kprof.reporters._console_text import config_line
from kprof.reporters._kernel_words import better, coverage_line, verdict
from kprof.reporters._model_text import iteration, missing_for_time, supplied
from kprof.reporters._plain_words import called, lines_of, summary
from kprof.reporters.answer import cause_text, causes_of, is_negligible, releases_line
from kprof.reporters.html.charts import cause_name, curve_title, occupancy_curve, segments, time_range
from kprof.reporters.html.findings import Links, finding_groups, links_of
from kprof.reporters.html.listing import code_listing, ir_listing, places, source_table
from kprof.reporters.html.parts import Cutter
from kprof.reporters.html.resources import measured_view, occupancy_view, resource_rows

_MOST_WAITS, _MOST_CAUSES = 24, 12


def loop_rows(kernel: KernelReport) -> list[dict[str, Any]]:
    """Return a row for each loop, outer loops before inner ones."""
    modelled = {} if kernel.model is UNSET else {loop.header: loop for loop in kernel.model.loops}
    return [_row(loop, modelled.get(loop.header), kernel) for loop in kernel.loops]


def _row(loop: LoopFacts, model: LoopPrediction | None, kernel: KernelReport) -> dict[str, Any]:
    where = lines_of(loop, kernel)
    what = summary(loop, kernel).removeprefix(where).strip()
    row: dict[str, Any] = {
        "header": loop.header,
        "depth": loop.depth,
        "hot": loop.hot,
        "where": where,
        "what": what,
        "instructions": sum(loop.instructions.values()),
        "spills": loop.spill_accesses,
        "iterations": "",
        "assumed": False,
        "cycles": "",
        "causes": [],
        "words": "",
        "matrix": "",
    }
    if model is not None:
        whole = sum(model.causes.values()) or 1.0
        row |= {
            "iterations": f"{model.trips:,.4g}",
            "assumed": not model.trips_known,
            "cycles": f"{model.cycles_per_iteration:,.0f}",
            "causes": segments(model.causes, whole, 0.005 * whole)[:_MOST_CAUSES],
            "words": ", ".join(
                f"{cause_name(cause)} {100 * value / whole:.0f} %"
                for cause, value in list(model.causes.items())[:_MOST_CAUSES]
            ),
            "matrix": f"{100 * model.matrix_share:.0f} %",
        }
    return row


def hot_waits(kernel: KernelReport) -> list[dict[str, Any]]:
    """Return the hot loop's waits with the work that hides their latency; the least hidden wait comes first."""
    hot = next((loop for loop in kernel.loops if loop.hot), None)
    if hot is None:
        return []
    waits = [wait for wait in hot.wait_distances if wait.waits_for is not None]
    return [
        {
            "wait": wait.wait,
            "for": wait.waits_for,
            "instructions": wait.instructions,
            "cycles": wait.cycles,
            "matrix": wait.matrix,
            "line": wait.line,
        }
        for wait in sorted(waits, key=lambda wait: (wait.cycles is None, wait.cycles or 0))[:_MOST_WAITS]
    ]


# Maximum numbers of rows. More would not help readers, and a document from elsewhere may contain any number.
_FINDINGS, _ROWS, _FEW = 200, 100, 12
# Predicted changes of the time below this percentage count as no change.
_NOTHING = 3.0
# Minimum share of the time to be mentioned.
_LARGE = 0.05
_CAUSE_WORDS = {
    "lds": "LDS is busy, or wavefronts wait for reads from it",
    "memory latency": "wavefronts wait for loads, and no other work hides it",
    "memory bandwidth": "memory or a cache delivers at its limit",
    "barrier": "wavefronts of a workgroup wait for each other",
    "issue": "instructions issue one after the other",
    "scratch": "spilled registers or private arrays go to memory and back",
    "launch": "starting the launch takes longer than the work of the kernel",
}


def rank(kernel: KernelReport, position: int) -> tuple[Any, ...]:
    """Return a sort key: kernels with errors first, then with warnings, then by predicted time, then document order."""
    counts = [sum(finding.severity is severity for finding in kernel.findings) for severity in Severity]
    time = kernel.model.time_us if kernel.model is not UNSET and kernel.model.time_us is not None else 0.0
    return (-counts[2], -counts[1], -time, position)


def differing(kernels: Sequence[KernelReport]) -> list[str]:
    """Return, for each kernel, the knobs that distinguish it from kernels of the same name and architecture."""
    alike: dict[tuple[str, str], list[dict[str, str]]] = {}
    knobs: list[dict[str, str]] = []
    for kernel in kernels:
        spec = kernel.specialization
        values = {} if spec is UNSET else {**spec.constexprs, **spec.options, **spec.environment}
        knobs.append({name: str(value) for name, value in values.items()})
        alike.setdefault((kernel.name, kernel.arch), []).append(knobs[-1])
    found = []
    for kernel, own in zip(kernels, knobs, strict=True):
        others = alike[kernel.name, kernel.arch]
        names = [name for name in own if any(other.get(name) != own[name] for other in others)]
        found.append(" ".join(f"{name}={own[name]}" for name in names))
    return found


def kernel_view(
    kernel: KernelReport, details: Details, key: str, rules: Mapping[str, RuleHelp], explained: set[str]
) -> dict[str, Any]:
    """Return all data for the template of a kernel.

    Args:
        kernel: the kernel's report.
        details: details that are not in the report.
        key: the kernel's name in anchors.
        rules: documentation by rule.
        explained: rules whose documentation is already shown with another kernel.
    """
    cut = Cutter()
    links = links_of(kernel, details, key)
    groups = finding_groups(kernel, cut("findings", kernel.findings, _FINDINGS), rules, explained, links)
    product = "" if kernel.product is UNSET else kernel.product
    triton = f"Triton {kernel.triton}" if kernel.triton is not UNSET else kernel.compiler
    made_by = "; ".join(filter(None, (triton, releases_line(kernel)))) if isinstance(triton, str) else triton
    return {
        "key": key,
        "name": kernel.name,
        "arch": kernel.arch,
        "target": f"{kernel.arch} · {product}" if product else kernel.arch,
        "made_by": made_by if isinstance(made_by, str) else "compiler not known",
        "knobs": config_line(_timeless(kernel)),
        "badge": _badge(kernel),
        "reasons": _reasons(kernel, links),
        "better": None if kernel.advised is UNSET else better(kernel.advised),
        "paste": None if kernel.advised is UNSET else kernel.advised.code,
        "model": None if kernel.model is UNSET else _model(kernel.model, kernel),
        "measured": measured_view(kernel, cut),
        "occupancy": occupancy_view(kernel),
        "resources": resource_rows(kernel),
        "groups": groups,
        "rules": [group["rule"] for group in groups],
        "suppressed": [
            {"rule": s.finding.rule, "message": s.finding.message, "reason": s.reason}
            for s in cut("silenced findings", kernel.suppressed, _ROWS)
        ],
        "loops": cut("loops", loop_rows(kernel), _ROWS),
        "waits": hot_waits(kernel),
        "pressure": _pressure(kernel),
        "passes": [] if kernel.passes is UNSET else cut("passes", kernel.passes, 2 * _ROWS),
        "has_passes": kernel.passes is not UNSET,
        "curves": [{"title": curve_title(curve), "chart": occupancy_curve(curve)} for curve in details.curves],
        "sources": _sources(details, key),
        "code": code_listing(details.blocks, key, {at for found in links.instructions.values() for at in found}),
        "ttgir": ir_listing(details.ttgir),
        "has_code": any(block.code for block in details.blocks),
        "control_flow": details.control_flow,
        "layouts": details.layouts,
        "provenance": cut("entries of the specialisation", _provenance(kernel), 2 * _ROWS),
        "assumptions": cut("assumptions", _assumptions(kernel), _ROWS),
        "notes": [
            *cut("notes", [*kernel.notes, *details.notes], _ROWS),
            *filter(None, [coverage_line(kernel)]),
            *cut.notes(),
        ],
    }


def _assumptions(kernel: KernelReport) -> list[str]:
    return [] if kernel.model is UNSET else [*kernel.model.assumptions, *kernel.model.notes]


def _timeless(kernel: KernelReport) -> KernelReport:
    """Return the report without values that differ from run to run, so that the same kernel yields the same page."""
    from msgspec.structs import replace

    return replace(kernel, compile_seconds=UNSET, cached=UNSET)


def _badge(kernel: KernelReport) -> dict[str, str]:
    counts = {s: sum(f.severity is s for f in kernel.findings) for s in sorted(Severity, key=lambda s: -s.rank)}
    words = ", ".join(plural(count, severity.value) for severity, count in counts.items() if count)
    worst = next((severity.value for severity, count in counts.items() if count), "ok")
    return {"worst": worst, "words": words or "no findings"}


def _reasons(kernel: KernelReport, links: Links) -> list[dict[str, Any]]:
    """Return one or two sentences about what limits the kernel: the model's result, and the worst finding."""
    found: list[dict[str, Any]] = []
    if kernel.model is not UNSET and kernel.model.shares:
        found.append({"text": f"{verdict(kernel)}. {_cause_text(kernel.model)}", "place": None, "anchor": None})
    for cause in causes_of(kernel)[:_CAUSES]:
        if found and is_negligible(cause, kernel):
            continue
        told = cause_text(kernel, cause)
        location = told.finding.location
        anchor = None if location is UNSET else links.lines.get((location.file, location.line))
        same = f"Same cause: {told.followers}." if told.followers else ""
        text = f"{told.finding.name}: {told.line} {same}"
        found.append({"text": text.rstrip(), "place": told.place or None, "anchor": anchor})
    if not found:
        found.append({"text": "Nothing was found, and nothing was modelled.", "place": None, "anchor": None})
    return found


def _cause_text(model: Prediction) -> str:
    """Explain the largest cause; if it is a busy unit, name the other large causes."""
    (cause, _), *others = sorted(model.shares.items(), key=lambda item: -item[1])
    words = _CAUSE_WORDS.get(cause)
    if words is not None:
        return f"{words[0].upper()}{words[1:]}."
    rest = [f"{cause_name(name)} ({100 * part:.0f} %)" for name, part in others[:2] if part >= _LARGE]
    return f"Most of the rest goes to {' and '.join(rest)}." if rest else ""


def _model(model: Prediction, kernel: KernelReport) -> dict[str, Any]:
    hot = max(model.loops, key=lambda loop: loop.cycles_per_iteration * loop.trips * loop.entries, default=None)
    return {
        "time": None if model.time_us is None else duration(model.time_us),
        "missing": missing_for_time(model),
        "low": None if model.low_us is None else duration(model.low_us),
        "high": None if model.high_us is None else duration(model.high_us),
        "range": time_range(model),
        "light": None if not model.speed_of_light_us else duration(model.speed_of_light_us),
        "light_percent": None if model.speed_of_light_percent is None else f"{model.speed_of_light_percent:.0f}",
        "iteration": None if hot is None else iteration(hot, called(hot.header, kernel)),
        "supplied": None if model.time_us is not None else supplied(model),
        "causes": segments(model.shares, least=0.002)[:_FEW],
        "traffic": [
            (_LEVEL.get(level, level), binary_bytes(amount))
            for level, amount in sorted(model.traffic.items())
            if amount
        ],
        "launch": _launch(model),
        "worth": _occupancy_gain_text(model),
    }


_CAUSES = 3
"""Number of causes in the first section of a page; all findings follow further down."""

_LEVEL = {"l2": "L2", "mall": "MALL", "hbm": "memory", "scratch": "scratch", "written_back": "written back before",
          "passing": "past the last cache"}  # fmt: skip


def _launch(model: Prediction) -> str:
    if model.workgroups is None:
        return ""
    clock = "" if model.clock_mhz is None else f", at {model.clock_mhz:,.0f} MHz"
    groups = f"{plural(model.workgroups, 'workgroup')}, {model.workgroups_per_cu:g} on a CU at a time"
    return f"{groups}, {model.rounds:.3g} round{'' if model.rounds == 1 else 's'}{clock}, {in_short(model.condition)}"


def _occupancy_gain_text(model: Prediction) -> str:
    worth = model.occupancy_worth
    if worth is UNSET or not model.time_us:
        return ""
    if worth.time_us is None:
        return "More occupancy would change nothing: the grid has no more workgroups for a CU."
    change = 100 * (worth.time_us / model.time_us - 1)
    if abs(change) < _NOTHING:
        return "One more workgroup on each CU would change nothing."
    return f"One more workgroup on each CU would be {abs(change):.0f} % {'faster' if change < 0 else 'slower'} (model)."


def _pressure(kernel: KernelReport) -> list[dict[str, Any]]:
    return [
        {
            "file": name.upper(),
            "live": peak.live,
            "place": "" if peak.location is None else str(peak.location),
            "step": peak.to_next_step,
            "held": [(place.rpartition("/")[2], count) for place, count in list(peak.held.items())[:_FEW]],
        }
        for name, peak in list(kernel.pressure.items())[:_FEW]
    ]


def _sources(details: Details, key: str) -> list[dict[str, Any]]:
    with_code = places(details)
    top = max((line.share or 0.0 for file in details.files for line in file.lines), default=0.0)
    return [
        {
            "path": file.path,
            "hidden": file.hidden,
            "rows": source_table(file, number, key, with_code, top),
            "conflicts_unknown": any(line.conflicts is None for line in file.lines),
        }
        for number, file in enumerate(details.files)
    ]


def _provenance(kernel: KernelReport) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    if kernel.source is not UNSET:
        rows.append(("defined in", f"{kernel.source.file}:{kernel.source.line}"))
    if kernel.launch is not UNSET:
        rows += [(f"launch: {name}", _value(value)) for name, value in kernel.launch.items()]
    if kernel.specialization is not UNSET:
        spec = kernel.specialization
        attributes = {name: " ".join(f"{k}={v}" for k, v in hints.items()) for name, hints in spec.attributes.items()}
        rows += [
            (f"argument {name}", " ".join(filter(None, (kind, attributes.get(name, "")))))
            for name, kind in spec.signature.items()
            if name not in spec.constexprs
        ]
        rows += [(f"constexpr {name}", _value(value)) for name, value in spec.constexprs.items()]
        rows += [(f"option {name}", _value(value)) for name, value in spec.options.items()]
        rows += [(f"environment {name}", value) for name, value in spec.environment.items()]
    if kernel.coverage is not UNSET:
        known = "none were seen" if kernel.coverage is None else f"{100 * kernel.coverage:.2f} %"
        rows.append(("instructions known to the reader", known))
    if kernel.unseen is not UNSET:
        rows.append(("not analysed", kernel.unseen))
    if kernel.unrecorded is not UNSET:
        rows.append(("not recorded", kernel.unrecorded))
    return rows


def _value(value: Any) -> str:
    return " x ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
