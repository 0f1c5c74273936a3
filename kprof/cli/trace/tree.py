"""``kprof trace tree``: GPU time by module and operator."""

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli.common import JobsOption, JsonOption, QuietOption
from kprof.cli.trace._shared import (
    PathsArgument,
    SchedulerOption,
    answer,
    label,
    milliseconds,
    per_file,
    percent,
)

if TYPE_CHECKING:
    from kprof_analyzers.profiles.timeline.tree import Node, TimeTree

HELP = "GPU time as a tree of nn.Modules and operators."


class Levels(str, Enum):
    """What the tree is made of."""

    modules = "modules"
    operators = "operators"
    both = "both"


def command(
    paths: PathsArgument,
    by: Annotated[Levels, typer.Option("--by", help="What the tree is made of.")] = Levels.modules,
    each: Annotated[bool, typer.Option("--each", help="Modules of one class apart, not put together.")] = False,
    depth: Annotated[int, typer.Option("--depth", help="Levels to show; 0 shows all.", min=0)] = 4,
    least: Annotated[
        float, typer.Option("--min-share", help="Leave out what takes less than this percentage of the time.", min=0)
    ] = 1.0,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Where in the model the GPU's time goes.

    Modules need a trace taken with with_modules=True or with_stack=True; without them the tree is of operators. A
    backward pass stands under "backward", at the modules of its forward pass.

    Example:  kprof trace tree trace.json.gz --depth 6
    """
    from kprof_analyzers.profiles.timeline.steps import tree_step

    found = per_file(tree_step, paths, jobs, scheduler, by=by.value, each=each)

    def lines(one: "TimeTree") -> list[str]:
        head = [label(one.info.path, 90)] if len(found) > 1 else []
        return [*head, *_lines(one, depth or 1000, least / 100), ""]

    answer(found, "kprof.trace.tree/1", lines, _verdict(found), json=json, quiet=quiet)


def _lines(one: "TimeTree", depth: int, least: float) -> list[str]:
    from kprof.output.tables import rows_table

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


def _name(node: "Node") -> str:
    return f"{node.name} ({node.alike:,} of them)" if node.alike > 1 else node.name


def _walk(node: "Node", depth: int, least: float, level: int) -> "Iterator[tuple[int, Node]]":
    for child in node.children:
        if child.total_ns >= least:
            yield level, child
            if level + 1 < depth:
                yield from _walk(child, depth, least, level + 1)


def _verdict(found: "list[TimeTree]") -> str:
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
