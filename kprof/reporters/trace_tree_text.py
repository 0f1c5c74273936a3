"""``kprof trace tree`` for people: GPU time by module and operator."""

from collections.abc import Iterator, Sequence

from kprof.output.tables import rows_table
from kprof.reporters._trace_format import label, milliseconds, percent
from kprof_analyzers.profiles.timeline.tree import TimeTree, TreeNode


def lines(one: TimeTree, depth: int, least: float, *, several: bool) -> list[str]:
    """One trace; with its name where there are ``several``.

    Args:
        one: what was found in it.
        depth: levels; 0 for all.
        least: what takes less than this share of the time, 0 to 1, is left out.
        several: whether there are more traces.
    """
    head = [label(one.info.path, 90)] if several else []
    return [*head, *_rows(one, depth or 1000, least), ""]


def _rows(one: TimeTree, depth: int, least: float) -> list[str]:
    root = one.root
    if not root.total_ns:
        return ["no kernels in this trace"]
    rows = [
        (milliseconds(node.total_ns), percent(node.total_ns, root.total_ns), milliseconds(node.own_ns),
         f"{node.kernels:,}", "  " * level + _name(node))
        for level, node in _walk(root, depth, least * root.total_ns, 0)
    ]  # fmt: skip
    lines = rows_table(("ms", "share", "own ms", "kernels", one.by), rows, wide=4).splitlines()
    if not one.has_modules and one.by == "operators":
        lines.append("No modules: the trace was taken without with_modules=True and with_stack=True.")
    return lines


def _name(node: TreeNode) -> str:
    return f"{node.name} ({node.alike:,} of them)" if node.alike > 1 else node.name


def _walk(node: TreeNode, depth: int, least: float, level: int) -> Iterator[tuple[int, TreeNode]]:
    for child in node.children:
        if child.total_ns >= least:
            yield level, child
            if level + 1 < depth:
                yield from _walk(child, depth, least, level + 1)


def verdict(found: Sequence[TimeTree]) -> str:
    """How much time, and down to where most of it goes."""
    whole = sum(one.root.total_ns for one in found)
    if not whole:
        return "no kernels in these traces"
    root = max((one.root for one in found), key=lambda node: node.total_ns)
    path, node = [], root
    # Down to where the time divides.
    while node.children and node.children[0].total_ns > 0.5 * root.total_ns:
        node = node.children[0]
        path.append(node.name)
    where = f"; {percent(node.total_ns, root.total_ns)} in {' > '.join(path[-3:])}" if path else ""
    return f"{milliseconds(whole)} ms of kernels{where}"
