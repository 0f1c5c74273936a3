"""Arrange GPU time as a tree of the model's modules, the operators in them, or both."""

import re
from collections import Counter
from collections.abc import Container
from typing import Literal

import msgspec

from kprof.inputs.torch_profiler.issues import TraceIssue
from kprof.inputs.torch_profiler.model import LinkedTrace, TraceInfo
from kprof.inputs.torch_profiler.table_events import MODULE_PREFIX
from kprof_analyzers.profiles.timeline.categories import load_categories
from kprof_analyzers.profiles.timeline.roles import categories_of

By = Literal["modules", "operators", "both"]
Path = tuple[str, ...]
BACKWARD = "backward"
NOWHERE = "(launched in none)"
_NUMBER = re.compile(r"_\d+$")


class TreeNode(msgspec.Struct):
    """A module or an operator at its position in the tree.

    Attributes:
        total_ns: time of the kernels launched in it, including its children.
        own_ns: time without its children.
        kernels: number of kernels including its children.
        alike: number of modules of one class that are merged into this node.
        children: children by time, longest first.
    """

    name: str
    total_ns: int = 0
    own_ns: int = 0
    kernels: int = 0
    alike: int = 1
    children: list["TreeNode"] = []


class TimeTree(msgspec.Struct, frozen=True):
    """Tree of one trace.

    Attributes:
        by: kind of the levels: modules, operators or both; ``operators`` if the trace has no modules.
        root: node of all kernels.
        has_modules: whether the trace was recorded with ``with_modules`` or ``with_stack``.
    """

    info: TraceInfo
    by: By
    root: TreeNode
    has_modules: bool
    issues: tuple[TraceIssue, ...]


def time_tree(
    trace: LinkedTrace, by: By = "modules", *, each: bool = False, rows: Container[int] | None = None
) -> TimeTree:
    """Arrange kernels by the modules and operators that launched them.

    Kernels of the backward pass are under a node ``backward``, by the modules of the forward pass that they belong to.
    All kernels of a replayed graph are at the position of the graph's launch, where they are divided by category; the
    category of GEMMs follows from the order of kernels.

    Args:
        trace: linked tables.
        by: levels of the tree.
        each: whether to keep modules of one class at the same position separate (``BertLayer_0``, ``BertLayer_1``).
        rows: activities to include; ``None`` includes all.
    """
    has_modules = any(trace.frames.words("module").words) and len(trace.frames) > 0
    levels: By = by if has_modules else "operators"
    times: Counter[Path] = Counter()
    counts: Counter[Path] = Counter()
    paths = Paths(trace, levels)
    kinds = trace.activities.words("kind")
    kernel = kinds.code("kernel")
    graphs = trace.activities.words("graph")
    in_graph = graphs.code(True)
    categories = categories_of(trace, load_categories()) if in_graph in graphs.data else []
    columns = (trace.activities.numbers(field).data for field in ("launch", "operator", "duration_ns"))
    for row, (kind, graph, launch, operator, duration) in enumerate(
        zip(kinds.data, graphs.data, *columns, strict=True)
    ):
        if kind == kernel and (rows is None or row in rows):
            path = paths.of(launch, operator)
            if categories and graph == in_graph:
                path = (*path, categories[row])
            times[path] += duration
            counts[path] += 1
    return TimeTree(trace.info, levels, _tree(times, counts, fold=not each), has_modules, trace.issues)


class Paths:
    """Paths of modules and operators around launches, outermost first. Launches from the same place share one path.

    Args:
        trace: the trace, whose launches are linked with operators and stack frames.
        by: names in the path: modules, operators or both.
    """

    def __init__(self, trace: LinkedTrace, by: By) -> None:
        self._trace, self._by = trace, by
        self._launch_frames = trace.launches.numbers("frame").data
        self._names, self._kinds = (trace.operators.words(field) for field in ("name", "kind"))
        self._parents, self._frames, self._forward = (
            trace.operators.numbers(field).data for field in ("parent", "frame", "forward")
        )
        self._frame_names, self._is_module = (trace.frames.words(field) for field in ("name", "module"))
        self._frame_parents = trace.frames.numbers("parent").data
        self._known: dict[tuple[int, int], Path] = {}

    def of(self, launch: int, operator: int) -> Path:
        """Return the path of a kernel."""
        frame = self._launch_frames[launch] if launch >= 0 else -1
        key = frame, operator
        found = self._known.get(key)
        if found is None:
            modules = self._modules(frame, operator) if self._by != "operators" else ()
            operators = self._operators(operator) if self._by != "modules" else ()
            found = self._known[key] = (*modules, *operators) or (NOWHERE,)
        return found

    def _operators(self, at: int) -> Path:
        names: list[str] = []
        while at >= 0:
            if self._kinds[at] == "operator":
                names.append(self._names[at])
            at = self._parents[at]
        return tuple(reversed(names))

    def _modules(self, frame: int, operator: int) -> Path:
        found = self._modules_at(frame)
        while operator >= 0 and not found:
            found = self._modules_at(self._frames[operator])
            if not found and self._forward[operator] >= 0:
                modules = self._modules_at(self._frames[self._forward[operator]])
                found = (BACKWARD, *modules) if modules else ()
            operator = self._parents[operator]
        return found

    def _modules_at(self, frame: int) -> Path:
        names: list[str] = []
        while frame >= 0:
            if self._is_module[frame]:
                names.append(self._frame_names[frame].removeprefix(MODULE_PREFIX))
            frame = self._frame_parents[frame]
        return tuple(reversed(names))


def _tree(times: Counter[Path], counts: Counter[Path], *, fold: bool) -> TreeNode:
    root = TreeNode("all kernels")
    nodes: dict[Path, TreeNode] = {(): root}
    members: dict[Path, set[Path]] = {}
    for path, time in times.items():
        place = tuple(class_of(name) for name in path) if fold else path
        for depth in range(len(path) + 1):
            part = place[:depth]
            node = nodes.get(part)
            if node is None:
                node = nodes[part] = TreeNode(part[-1])
                nodes[part[:-1]].children.append(node)
            members.setdefault(part, set()).add(path[:depth])
            node.total_ns += time
            node.kernels += counts[path]
        nodes[place].own_ns += time
    for part, node in nodes.items():
        node.children.sort(key=lambda one: (-one.total_ns, one.name))
        node.alike = len(members.get(part, ())) or 1
    return root


def class_of(name: str) -> str:
    """Return a module's name without its number; operators keep their name."""
    return name if "::" in name else _NUMBER.sub("", name)
