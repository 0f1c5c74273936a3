"""``kprof trace diff --tree`` for people: where in the model the time changed."""

from collections.abc import Iterator

from kprof.output.quantities import milliseconds
from kprof.reporters._trace_format import kernel_label
from kprof.reporters.grids import Column, Grid
from kprof_analyzers.profiles.timeline.tree_diff import TreeChange, TreeComparison, walk

_LEAST = 0.5
"""Ns: what changed by less is the rounding of a mean."""


def grid(found: TreeComparison, top: int) -> Grid:
    """Return the nodes that changed most, and those around them; all of them where ``top`` is 0."""
    changes = sorted((abs(node.delta_ns) for _, _, node in walk(found.root)), reverse=True)
    # Where not all are shown, those that did not change are none of them.
    least = max(changes[min(top, len(changes)) - 1], _LEAST) if top and changes else 0.0
    rows = list(_kept(found.root, least, 0))
    remarks = []
    if not rows:
        remarks.append(f"nothing in the tree of {found.by} changed" if changes else "no kernels in either tree")
    elif len(rows) < len(changes):
        remarks.append(f"and {len(changes) - len(rows):,} more that changed less; -n 0 shows all")
    if found.wrappers:
        names = ", ".join(kernel_label(name, 60) for name in found.wrappers)
        remarks.append(f"In one trace only, and passed over: {names}.")
    cells = [tuple(column.cell(row) for column in NODES) for row in rows]
    return Grid(f"By {found.by}", NODES, cells, 0, remarks)


def _kept(change: TreeChange, least: float, level: int) -> Iterator[tuple[int, TreeChange]]:
    """Nodes that changed by enough, and those that have one inside."""
    for child in change.children:
        inside = list(_kept(child, least, level + 1))
        if inside or abs(child.delta_ns) >= least:
            yield level, child
            yield from inside


def _kernels(count: float) -> str:
    return f"{count:,.0f}" if count == int(count) else f"{count:,.1f}"


def _signed(delta: float) -> str:
    return ("+" if delta > 0 else "-" if delta < 0 else "") + milliseconds(abs(delta))


def _both(node: TreeChange) -> str:
    if node.before_kernels == node.after_kernels:
        return _kernels(node.after_kernels)
    return f"{_kernels(node.before_kernels)} -> {_kernels(node.after_kernels)}"


NODES = (
    Column("change ms", lambda row: _signed(row[1].delta_ns)),
    Column("before ms", lambda row: "new" if row[1].before_ns is None else milliseconds(row[1].before_ns)),
    Column("after ms", lambda row: "gone" if row[1].after_ns is None else milliseconds(row[1].after_ns)),
    Column("kernels", lambda row: _both(row[1])),
    Column("module or operator", lambda row: "  " * row[0] + kernel_label(row[1].name, 80), wide=True),
)
