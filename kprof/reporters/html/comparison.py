"""Comparisons as pages: the document of ``kprof diff``, and kernels of one report side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from kprof.diffing.document import Diff, Explanation, KernelDiff
from kprof.document import KernelReport
from kprof.reporters import _diff_wording as words
from kprof.reporters.html.charts import cause_name
from kprof.reporters.html.parts import environment

_MOST_KERNELS, _MOST_BESIDE = 400, 8


def diff_page(diff: Diff) -> str:
    """Return a comparison as a self-contained page, like the pages of :class:`kprof.reporters.html.HtmlReporter`."""
    harmed = words.with_status(diff.kernels, {"worse", "mixed", "unknown"})
    first = {id(kernel) for kernel in harmed}
    ordered = [*harmed, *(kernel for kernel in diff.kernels if id(kernel) not in first)]
    shown = ordered[:_MOST_KERNELS]
    page: str = (
        environment()
        .get_template("diff.html")
        .render(
            document=diff,
            rows=[_kernel(diff, kernel, f"k{number}") for number, kernel in enumerate(shown, 1)],
            more=len(ordered) - len(shown),
            remarks=[*(problem for side in diff.sides for problem in side.problems), *diff.notes],
        )
    )
    return page if page.endswith("\n") else page + "\n"


def _kernel(diff: Diff, kernel: KernelDiff, key: str) -> dict[str, Any]:
    step = words.step_of(kernel)
    changes, left = ([], 0) if step is None else words.shown(step, 0)
    return {
        "key": key,
        "name": kernel.name,
        "arch": kernel.arch,
        "knobs": words.knobs(kernel),
        "status": kernel.status,
        "since": words.since(diff, kernel),
        "differs": words.differs(step) if step is not None else "",
        "why": kernel.explanation.summary if isinstance(kernel.explanation, Explanation) else "",
        "left": left,
        "changes": [
            {
                "kind": words.kind(change),
                "effect": change.effect,
                "text": change.text,
                "sides": words.values(kernel, step, change, len(diff.sides)) if step is not None else "",
                "where": words.where(kernel, change),
                "note": change.note,
            }
            for change in changes
        ],
    }


@dataclass(frozen=True)
class SideBySide:
    """Kernels with the same name side by side.

    Attributes:
        name: the common name.
        labels: for each kernel, what distinguishes it from the others.
        rows: for each figure its name, its values as text, and the positions of the best values (none if all are
            equal).
        more: number of further kernels of this name, which are not shown.
    """

    name: str
    labels: list[str]
    rows: list[tuple[str, list[str], list[int]]]
    more: int


def side_by_side(kernels: Sequence[KernelReport], knobs: Sequence[str]) -> list[SideBySide]:
    """Return a table for each name that several kernels have, in the kernels' order.

    Args:
        kernels: kernels of a report.
        knobs: for each kernel, the knobs that distinguish it from others of its name and architecture.
    """
    groups: dict[str, list[int]] = {}
    for position, kernel in enumerate(kernels):
        groups.setdefault(kernel.name, []).append(position)
    found = []
    for name, members in groups.items():
        if len(members) < 2:
            continue
        shown = members[:_MOST_BESIDE]
        several = [kernels[at] for at in shown]
        labels = [_label(several, kernels[at], knobs[at]) for at in shown]
        found.append(SideBySide(name, labels, _rows(several), len(members) - len(shown)))
    return found


def _label(several: Sequence[KernelReport], kernel: KernelReport, knobs: str) -> str:
    """Return a kernel's label: its GPU and its Triton if they differ among the kernels, followed by the knobs."""
    parts = [of(kernel) for of in (_gpu, _triton) if len({of(one) for one in several}) > 1]
    return " ".join([*parts, *([knobs] if knobs else [])]) or "alike"


def _gpu(kernel: KernelReport) -> str:
    return kernel.arch if kernel.product is UNSET else kernel.product


def _triton(kernel: KernelReport) -> str:
    return "another compiler" if kernel.triton is UNSET else f"Triton {kernel.triton}"


def _rows(several: Sequence[KernelReport]) -> list[tuple[str, list[str], list[int]]]:
    models = [None if kernel.model is UNSET else kernel.model for kernel in several]
    resources = [None if kernel.resources is UNSET else kernel.resources for kernel in several]
    waves = [kernel.occupancy.waves_per_simd if kernel.occupancy else None for kernel in several]
    times = [None if model is None else model.time_us for model in models]
    rows = [_row("predicted time, µs", times, least=True)]
    for name, field in (("VGPRs", "vgpr"), ("spilled VGPRs", "vgpr_spills"), ("LDS, bytes per workgroup", "lds_bytes")):
        values = [None if one is None else getattr(one, field) for one in resources]
        rows.append(_row(name, [None if value is UNSET else value for value in values], least=True))
    rows.append(_row("waves per SIMD", waves, least=False))
    rows.append(_row("findings", [len(kernel.findings) for kernel in several], least=True))
    causes = dict.fromkeys(cause for model in models if model is not None for cause in model.shares)
    for cause in causes:
        shares = [None if model is None else 100 * model.shares.get(cause, 0.0) for model in models]
        if any(share and share >= 1 for share in shares):
            texts = ["?" if share is None else f"{share:.0f} %" for share in shares]
            rows.append((f"time: {cause_name(cause)}", texts, []))
    return rows


def _row(name: str, values: Sequence[float | None], *, least: bool) -> tuple[str, list[str], list[int]]:
    known = [value for value in values if value is not None]
    best = (min if least else max)(known) if len(set(known)) > 1 else None
    return name, [words.number(value) for value in values], [at for at, v in enumerate(values) if best == v is not None]
