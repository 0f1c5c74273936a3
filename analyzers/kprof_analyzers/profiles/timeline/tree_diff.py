"""Compare two trees of modules and operators, to show where in the model the time changed."""

from collections.abc import Container, Iterator, Sequence

import msgspec

from kprof_analyzers.profiles.timeline.tree import TreeNode

_AROUND = 4
"""Maximum number of nested wrappers that the alignment skips."""


class TreeChange(msgspec.Struct, frozen=True):
    """A node of either tree: a module or an operator. Times are in ns, per step if both traces mark steps.

    Attributes:
        before_ns, after_ns: time of its kernels including its children; ``None`` if the trace does not contain it.
        before_own_ns, after_own_ns: time of its kernels without those of its children.
        before_kernels, after_kernels: number of kernels launched in it; numbers per step may be fractions.
        children: children by decreasing change.
    """

    name: str
    before_ns: float | None
    after_ns: float | None
    before_own_ns: float
    after_own_ns: float
    before_kernels: float
    after_kernels: float
    children: list["TreeChange"]

    @property
    def delta_ns(self) -> float:
        """Time after minus time before."""
        return (self.after_ns or 0.0) - (self.before_ns or 0.0)


class TreeComparison(msgspec.Struct, frozen=True):
    """Aligned trees of two traces.

    Attributes:
        by: kind of the trees' levels: ``modules``, ``operators`` or ``both``.
        root: node of all kernels.
        wrappers: modules and operators that are in one trace only, such as a compiled region or a parallel wrapper,
            and whose children are in both traces. The alignment skips them.
    """

    by: str
    root: TreeChange
    wrappers: list[str]


def compare_trees(
    before: Sequence[TreeNode], after: Sequence[TreeNode], by: str, steps: tuple[int, int] = (1, 1)
) -> TreeComparison:
    """Align the trees of two traces by names, from the root to the leaves.

    Args:
        before: trees of the files before the change, which are added up.
        after: trees of the files after the change, which are added up.
        by: kind of the trees' levels.
        steps: numbers of steps before and after, by which times and counts are divided.
    """
    wrappers: dict[str, None] = {}
    old, new = merged(before), merged(after)
    root = _aligned(old.name, old, new, steps, wrappers)
    return TreeComparison(by, root, list(wrappers))


def merged(roots: Sequence[TreeNode]) -> TreeNode:
    """Merge several trees into one with their sums; nodes with the same path are merged."""
    found = TreeNode(roots[0].name if roots else "all kernels", alike=max((one.alike for one in roots), default=1))
    inside: dict[str, list[TreeNode]] = {}
    for one in roots:
        found.total_ns += one.total_ns
        found.own_ns += one.own_ns
        found.kernels += one.kernels
        for child in one.children:
            inside.setdefault(child.name, []).append(child)
    found.children = [merged(each) for each in inside.values()]
    return found


def _aligned(
    name: str, old: TreeNode | None, new: TreeNode | None, steps: tuple[int, int], wrappers: dict[str, None]
) -> TreeChange:
    left = {child.name: child for child in old.children} if old is not None else {}
    right = {child.name: child for child in new.children} if new is not None else {}
    if old is not None and new is not None:
        left = _without_wrappers(left, right, wrappers)
        right = _without_wrappers(right, left, wrappers)
    children = [_aligned(each, left.get(each), right.get(each), steps, wrappers) for each in {**left, **right}]
    children.sort(key=lambda one: (-abs(one.delta_ns), -(one.after_ns or 0.0), one.name))
    return TreeChange(
        name,
        old.total_ns / steps[0] if old is not None else None,
        new.total_ns / steps[1] if new is not None else None,
        old.own_ns / steps[0] if old is not None else 0.0,
        new.own_ns / steps[1] if new is not None else 0.0,
        old.kernels / steps[0] if old is not None else 0,
        new.kernels / steps[1] if new is not None else 0,
        children,
    )


def _without_wrappers(
    nodes: dict[str, TreeNode], others: dict[str, TreeNode], wrappers: dict[str, None]
) -> dict[str, TreeNode]:
    """Return the nodes of one tree, with wrappers replaced by their children.

    A node is a wrapper if two conditions hold. The other tree has no node of its name at this position. At least half
    of its time is in nodes below it whose names the other tree has at this position.
    """
    while True:
        missing = others.keys() - nodes.keys()
        unmatched = [node for node in nodes.values() if node.name not in others]
        found = next((n for n in unmatched if 2 * _time_of_names(n, missing, _AROUND) >= max(n.total_ns, 1)), None)
        if found is None:
            return nodes
        wrappers.setdefault(found.name)
        beside = TreeNode("", children=[node for node in nodes.values() if node is not found])
        nodes = {child.name: child for child in merged([beside, found]).children}


def _time_of_names(node: TreeNode, names: Container[str], depth: int) -> int:
    """Return the time of the nodes below ``node`` that have one of the names. Nested nodes are counted once."""
    if not depth:
        return 0
    return sum(c.total_ns if c.name in names else _time_of_names(c, names, depth - 1) for c in node.children)


def walk(change: TreeChange, level: int = 0, place: tuple[str, ...] = ()) -> Iterator[tuple[int, str, TreeChange]]:
    """Yield a change and all its children, parents first: level (from 0), path of names joined by ``/``, and change."""
    for child in change.children:
        names = (*place, child.name)
        yield level, "/".join(names), child
        yield from walk(child, level + 1, names)
