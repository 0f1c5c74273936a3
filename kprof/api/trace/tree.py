"""``kprof.trace_tree``: GPU time by module and operator."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kprof.api.trace.answer import Path_, PerTrace, per_file

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.completeness import Repairs
    from kprof_analyzers.profiles.timeline.tree import TimeTree, TreeNode


@dataclass(frozen=True, eq=False, repr=False)
class TraceTree(PerTrace):
    """GPU time as a tree of modules and operators.

    Attributes:
        traces: one entry a trace; ``root`` is its tree.
    """

    traces: "Sequence[TimeTree]"

    @property
    def contents(self) -> dict[str, Any]:
        """Everything, as ``kprof trace tree --json`` writes it."""
        return {"schema": "kprof.trace.tree/1", "traces": self.traces}

    @property
    def conclusion(self) -> str:
        """How much time, and down to where most of it goes."""
        from kprof.reporters.trace_tree_text import verdict

        return verdict(self.traces)

    def to_frame(self) -> "pd.DataFrame":
        """A row a trace and node, each before those inside it: ``path``, ``place`` (names from the top, joined by
        ``/``), ``total_ns``, ``own_ns``, ``kernels``, and how many are ``alike``.
        """  # noqa: D205 - one sentence
        from kprof.reporters._frames import plain_frame

        rows = (
            {"path": one.info.path, "place": place}
            | {name: getattr(node, name) for name in ("total_ns", "own_ns", "kernels", "alike")}
            for one in self.traces
            for place, node in _nodes(one.root, "")
        )
        return plain_frame(rows, ("path", "place", "total_ns", "own_ns", "kernels", "alike"))


def trace_tree(
    *paths: Path_,
    by: Literal["modules", "operators", "both"] = "modules",
    each: bool = False,
    jobs: int = 1,
    scheduler: str | None = None,
    repairs: "Repairs" = (),
) -> TraceTree:
    """Where in the model the GPU's time goes.

    Modules need a trace taken with ``with_modules=True`` or ``with_stack=True``; without them the tree is of operators.
    A backward pass stands under ``backward``, at the modules of its forward pass.

    Args:
        paths: traces, folders of them, or the tables that ``kprof ingest trace`` wrote.
        by: what the tree is made of.
        each: modules of one class apart, not put together.
        jobs: processes, 0 for one a core.
        scheduler: a Dask scheduler that does the per-file step instead: ``tcp://host:8786``.
        repairs: ``exclude-warm-up``, ``cap-durations``: what to repair in each trace; nothing by default.

    Raises:
        InputError: a named file is missing or cannot be read, or none in a folder can.
    """
    from kprof_analyzers.profiles.timeline.steps import tree_step

    found, left_out = per_file(tree_step, paths, jobs=jobs, scheduler=scheduler, repairs=repairs, by=by, each=each)
    return TraceTree(left_out, found)


def _nodes(node: "TreeNode", above: str) -> "Iterator[tuple[str, TreeNode]]":
    for child in node.children:
        place = f"{above}/{child.name}" if above else child.name
        yield place, child
        yield from _nodes(child, place)
