"""Text of ``kprof trace diff``: operators of a prediction sorted by their error, and both trees of modules."""

import statistics
from collections.abc import Iterable, Iterator

from kprof.output.quantities import milliseconds, percent, signed_milliseconds
from kprof.reporters._trace_format import kernel_label
from kprof.reporters.grids import Column, Grid
from kprof_analyzers.profiles.timeline.operators.predicted import OperatorPrediction, PredictionComparison
from kprof_analyzers.profiles.timeline.tree_diff import TreeChange, TreeComparison, walk

_LEAST = 0.5
"""Nanoseconds below which a difference is only a rounding error of a mean."""


OPERATORS = (
    Column("off ms", lambda row: "-" if row.off_ns is None else signed_milliseconds(row.off_ns)),
    Column("calls", lambda row: f"{row.measured_calls:,}" if row.measured_calls == row.predicted_calls else _both(row)),
    Column("measured us", lambda row: "-" if row.measured_ns is None else f"{row.measured_ns / 1000:,.1f}"),
    Column("predicted us", lambda row: "-" if row.predicted_ns is None else f"{row.predicted_ns / 1000:,.1f}"),
    Column("ratio", lambda row: "-" if row.ratio is None else f"{row.ratio:.2f}"),
    Column("operator", lambda row: f"{_name(row)} {row.shapes} {row.types}".strip(), wide=True),
)  # fmt: skip
"""Columns of the operators; rows with the largest error come first."""


def remarks(result: PredictionComparison | None) -> Iterable[str]:
    """Return the limitations of the comparison."""
    if result is not None and not result.rows:
        yield "no operator in either trace"
    if result is not None and result.by_name:
        yield "One trace has no shapes (record_shapes=True), so operators are compared by name alone."


def _name(row: OperatorPrediction) -> str:
    return kernel_label(row.name.removeprefix("aten::"), 44)


def _both(row: OperatorPrediction) -> str:
    return f"{row.measured_calls:,} / {row.predicted_calls:,}"


def verdict(result: PredictionComparison) -> str:
    """Return predicted divided by measured time of operators in both traces, and their share of the measured time."""
    both = result.both
    if not both:
        return "no operator is in both the measured and the predicted trace"
    measured = sum(row.whole_ns for row in both)
    predicted = measured + sum(row.off_ns or 0.0 for row in both)
    worst = both[0]
    ratios = [row.ratio for row in both if row.ratio is not None]
    times = f"predicted {milliseconds(predicted)} ms for {milliseconds(measured)} ms measured"
    return (
        f"{times} ({predicted / measured:.2f}), "
        f"in {percent(measured, result.measured_ns)} of the measured kernels' time; "
        f"{len(both):,} operators, median ratio {statistics.median(ratios):.2f}, "
        f"most off: {_name(worst)} ({worst.ratio or 0.0:.2f})"
    )


def tree_grid(found: TreeComparison, top: int) -> Grid:
    """Return the nodes of ``--tree`` that changed most, with their parents; all nodes if ``top`` is 0."""
    changes = sorted((abs(node.delta_ns) for _, _, node in walk(found.root)), reverse=True)
    # If the number of nodes is limited, unchanged nodes are left out, too.
    least = max(changes[min(top, len(changes)) - 1], _LEAST) if top and changes else 0.0
    rows = list(_changed_nodes(found.root, least, 0))
    remarks = []
    if not rows:
        remarks.append(f"nothing in the tree of {found.by} changed" if changes else "no kernels in either tree")
    elif len(rows) < len(changes):
        remarks.append(f"and {len(changes) - len(rows):,} more that changed less; -n 0 shows all")
    if found.wrappers:
        names = ", ".join(kernel_label(name, 60) for name in found.wrappers)
        remarks.append(f"In one trace only, and left out: {names}.")
    cells = [tuple(column.cell(row) for column in NODES) for row in rows]
    return Grid(f"By {found.by}", NODES, cells, 0, remarks)


def _changed_nodes(change: TreeChange, least: float, level: int) -> Iterator[tuple[int, TreeChange]]:
    """Yield the nodes that changed by at least ``least``, and those that contain such a node."""
    for child in change.children:
        inside = list(_changed_nodes(child, least, level + 1))
        if inside or abs(child.delta_ns) >= least:
            yield level, child
            yield from inside


def _kernels(count: float) -> str:
    return f"{count:,.0f}" if count == int(count) else f"{count:,.1f}"


def _kernel_counts(node: TreeChange) -> str:
    if node.before_kernels == node.after_kernels:
        return _kernels(node.after_kernels)
    return f"{_kernels(node.before_kernels)} -> {_kernels(node.after_kernels)}"


NODES = (
    Column("change ms", lambda row: signed_milliseconds(row[1].delta_ns)),
    Column("before ms", lambda row: "new" if row[1].before_ns is None else milliseconds(row[1].before_ns)),
    Column("after ms", lambda row: "gone" if row[1].after_ns is None else milliseconds(row[1].after_ns)),
    Column("kernels", lambda row: _kernel_counts(row[1])),
    Column("module or operator", lambda row: "  " * row[0] + kernel_label(row[1].name, 80), wide=True),
)
