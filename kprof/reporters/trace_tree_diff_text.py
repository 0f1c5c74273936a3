"""``kprof trace diff --tree`` for people: where in the model the time changed."""

from collections.abc import Iterator

from kprof.output.tables import rows_table
from kprof.reporters._trace_format import kernel_label, milliseconds
from kprof_analyzers.profiles.timeline.tree_diff import TreeChange, TreeComparison, walk

_LEAST = 0.5
"""Ns: what changed by less is the rounding of a mean."""


def lines(found: TreeComparison, limit: int) -> list[str]:
    """The nodes that changed most, and those around them; all of them where ``limit`` is 0."""
    changes = sorted((abs(node.delta_ns) for _, _, node in walk(found.root)), reverse=True)
    # Where not all are shown, those that did not change are none of them.
    least = max(changes[min(limit, len(changes)) - 1], _LEAST) if limit and changes else 0.0
    rows = [_cells(level, node) for level, node in _kept(found.root, least, 0)]
    if not rows:
        return ["", f"nothing in the tree of {found.by} changed" if changes else "no kernels in either tree", ""]
    headings = ("change ms", "before ms", "after ms", "kernels", found.by)
    text = ["", *rows_table(headings, rows, wide=4).splitlines()]
    if len(rows) < len(changes):
        text.append(f"and {len(changes) - len(rows):,} more that changed less; -n 0 shows all")
    if found.wrappers:
        text.append(
            f"In one trace only, and passed over: {', '.join(kernel_label(name, 60) for name in found.wrappers)}."
        )
    return [*text, ""]


def _kept(change: TreeChange, least: float, level: int) -> Iterator[tuple[int, TreeChange]]:
    """Nodes that changed by enough, and those that have one inside."""
    for child in change.children:
        inside = list(_kept(child, least, level + 1))
        if inside or abs(child.delta_ns) >= least:
            yield level, child
            yield from inside


def _cells(level: int, node: TreeChange) -> tuple[str, ...]:
    delta = node.delta_ns
    return (
        ("+" if delta > 0 else "-" if delta < 0 else "") + milliseconds(abs(delta)),
        "new" if node.before_ns is None else milliseconds(node.before_ns),
        "gone" if node.after_ns is None else milliseconds(node.after_ns),
        _kernels(node.after_kernels)
        if node.before_kernels == node.after_kernels
        else f"{_kernels(node.before_kernels)} -> {_kernels(node.after_kernels)}",
        "  " * level + kernel_label(node.name, 80),
    )


def _kernels(count: float) -> str:
    return f"{count:,.0f}" if count == int(count) else f"{count:,.1f}"
