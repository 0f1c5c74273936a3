"""``kprof trace tree``: GPU time by module and operator."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.views import TraceView, function_of
from kprof.errors import KprofError
from kprof.options.measurements import LEVELS, TreeAnswerOptions, TreeOptions
from kprof.output.quantities import milliseconds, percent
from kprof.reporters.grids import Column, Grid, ViewTable, chosen

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.model import LinkedTrace
    from kprof_analyzers.profiles.timeline.tree import TimeTree, TreeNode

_FIELDS = ("place", "total_ns", "own_ns", "kernels", "alike")


@dataclass(frozen=True, eq=False, repr=False)
class TraceTree(TraceView):
    """Show GPU time as a tree of modules (--by modules, the default), operators or both.

    Modules need a trace recorded with with_modules=True or with_stack=True; without them, the tree consists of
    operators. A backward pass is shown under "backward", by the modules of its forward pass. Kernels of a replayed
    graph are grouped by category.

    Example:  kprof trace tree trace.json.gz --depth 6

    Attributes:
        traces: one entry per trace; ``root`` is its tree.
    """

    help = "GPU time as a tree of nn.Modules and operators."
    options = TreeOptions
    display = TreeAnswerOptions
    place = 45
    traces: "Sequence[TimeTree]"

    @classmethod
    def of_trace(cls, trace: "LinkedTrace", options: Any, **_further: Any) -> "TimeTree":
        """Compute the tree of one trace.

        Raises:
            KprofError: ``options.by`` is unknown.
        """
        from kprof_analyzers.profiles.timeline.tree import time_tree

        return time_tree(trace, _levels(options.by), each=options.each)

    @classmethod
    def answer(cls, paths: Sequence[Any], options: Any, **further: Any) -> "TraceTree":
        """Compute the tree of each file."""
        _levels(options.by)
        return super().answer(paths, options, **further)

    def grids(self, part: "TimeTree", display: Any) -> list[Grid]:
        """Return the nodes up to the requested depth that take at least the requested share of the time."""
        (table,) = chosen(self.tables(), display.show or ["tree"])
        least = getattr(display, "min_share", 1.0) / 100 * part.root.total_ns
        depth = getattr(display, "depth", 4) or 1000
        rows = [row for row in table.rows(part) if row[0] < depth and row[2].total_ns >= least]
        cells = [tuple(column.cell(row) for column in table.columns) for row in rows]
        return [Grid("", table.columns, cells, 0, tuple(table.remarks(part)))]

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of this view.

        A row is a tuple: level in the tree, path in the tree, node, and total time of the tree in ns.
        """
        columns = (
            Column("ms", lambda row: milliseconds(row[2].total_ns)),
            Column("share", lambda row: percent(row[2].total_ns, row[3])),
            Column("own ms", lambda row: milliseconds(row[2].own_ns)),
            Column("kernels", lambda row: f"{row[2].kernels:,}"),
            Column("module or operator", lambda row: "  " * row[0] + _name(row[2]), wide=True),
        )
        return (
            ViewTable("tree", columns, lambda one: list(_nodes(one.root, "", 0, one.root.total_ns)), _FIELDS,
                  record=lambda row: {"place": row[1], **{name: getattr(row[2], name) for name in _FIELDS[1:]}},
                  remarks=_remarks),
        )  # fmt: skip

    @property
    def conclusion(self) -> str:
        """The total time, and the innermost node that takes more than half of it, in one line."""
        whole = sum(one.root.total_ns for one in self.traces)
        if not whole:
            return "no kernels in these traces"
        root = max((one.root for one in self.traces), key=lambda node: node.total_ns)
        path, node = [], root
        # Descend as long as the largest child takes more than half of the total time.
        while node.children and node.children[0].total_ns > 0.5 * root.total_ns:
            node = node.children[0]
            path.append(node.name)
        where = f"; {percent(node.total_ns, root.total_ns)} in {' > '.join(path[-3:])}" if path else ""
        return f"{milliseconds(whole)} ms of kernels{where}"


def _levels(by: str) -> Any:
    """Check a value of ``--by`` and return it: ``modules`` (the default), ``operators`` or ``both``."""
    if by and by not in LEVELS:
        raise KprofError(f"unknown levels --by {by!r}", hint=f"They are {', '.join(LEVELS)}.")
    return by or "modules"


def _nodes(node: "TreeNode", above: str, level: int, whole: int) -> "Iterator[tuple[int, str, TreeNode, int]]":
    for child in node.children:
        place = f"{above}/{child.name}" if above else child.name
        yield level, place, child, whole
        yield from _nodes(child, place, level + 1, whole)


def _name(node: "TreeNode") -> str:
    return f"{node.name} ({node.alike:,} of them)" if node.alike > 1 else node.name


def _remarks(one: "TimeTree") -> Iterable[str]:
    if not one.root.total_ns:
        yield "no kernels in this trace"
    elif not one.has_modules and one.by == "operators":
        yield "No modules: the trace was taken without with_modules=True and with_stack=True."


trace_tree = function_of(TraceTree)
