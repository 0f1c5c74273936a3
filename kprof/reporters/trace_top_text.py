"""``kprof trace top`` for people: the kernels and operators that take most GPU time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from kprof.reporters._console_text import plural
from kprof.reporters._trace_format import kernel_label, label, milliseconds, percent
from kprof_analyzers.profiles.timeline.steps import Kernels

Rows = Literal["kernels", "operators", "triton"]


def lines(one: Kernels, rows: Rows, limit: int, *, several: bool) -> list[str]:
    """One trace; with its name where there are ``several``.

    Args:
        one: what was found in it.
        rows: what has a line each.
        limit: how many; 0 for all.
        several: whether there are more traces.
    """
    head = [label(one.info.path, 90)] if several else []
    makers = {"kernels": _kernel_lines, "operators": _operator_lines, "triton": _triton_lines}
    shown = makers[rows](one)
    return [*head, *(shown[: limit + 1] if limit else shown), ""]


def _table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], wide: Sequence[int], spare: int | None = None
) -> list[str]:
    from kprof.output.tables import rows_table

    return rows_table(headings, rows, wide=wide, spare=spare).splitlines() if rows else ["nothing to show"]


def _kernel_lines(one: Kernels) -> list[str]:
    rows = [
        (
            milliseconds(k.total_ns),
            percent(k.share, 1),
            f"{k.count:,}",
            f"{k.mean_ns / 1000:,.1f}",
            k.category,
            kernel_label(k.name),
            kernel_label(next(iter(k.operators), "") or "-", 32),
        )
        for k in one.kernels
    ]
    return _table(("ms", "share", "count", "mean us", "category", "kernel", "operator"), rows, (5, 6), spare=6)


def _operator_lines(one: Kernels) -> list[str]:
    rows = [
        (
            milliseconds(o.direct_ns),
            percent(o.share, 1),
            milliseconds(o.subtree_ns),
            f"{o.calls:,}",
            f"{o.kernels:,}",
            milliseconds(o.cpu_ns),
            o.name,
        )
        for o in one.operators
        if o.subtree_ns
    ]
    return _table(("own ms", "share", "subtree ms", "calls", "kernels", "CPU ms", "operator"), rows, (6,))


def _triton_lines(one: Kernels) -> list[str]:
    rows = [
        (
            milliseconds(k.total_ns),
            f"{k.count:,}",
            "x".join(map(str, k.workgroups)) if k.workgroups else "?",
            "?" if k.num_warps is None else str(k.num_warps),
            "?" if k.lds_bytes is None else f"{k.lds_bytes:,}",
            k.evidence,
            k.name,
            Path(k.source).name if k.source else "-",
        )
        for k in one.triton
    ]
    return _table(
        ("ms", "count", "workgroups", "warps", "LDS B", "known by", "kernel", "source"), rows, (6, 7), spare=7
    )


def verdict(found: Sequence[Kernels]) -> str:
    """How many kernels, and the one that takes most."""
    kernels = [k for one in found for k in one.kernels]
    whole = sum(k.total_ns for k in kernels)
    if not kernels or not whole:
        return "no kernels in these traces"
    largest = max(kernels, key=lambda k: k.total_ns)
    name = kernel_label(largest.name, 40)
    count = len({k.name for k in kernels})
    share = percent(largest.total_ns, whole)
    return f"{plural(count, 'kernel')}, {milliseconds(whole)} ms; the largest takes {share}: {name}"
