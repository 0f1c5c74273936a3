"""``kprof trace path`` for people: what a run's length is made of, and what would shorten it."""

from collections.abc import Sequence

from kprof.output.tables import rows_table
from kprof.reporters._trace_format import kernel_label, label, milliseconds, percent
from kprof_analyzers.profiles.timeline.critical_path import CriticalPath

_SHORTEN = {
    "kernel": "faster kernels",
    "copy": "fewer or smaller copies",
    "launch": "launching earlier",
    "cpu": "launching less or earlier: a graph, torch.compile, larger batches",
    "synchronisation": "waiting for the GPU less often",
    "gap": "fewer kernels, or a graph of them",
}


def lines(one: CriticalPath, limit: int, *, several: bool) -> list[str]:
    """One rank of a trace; all of its rows where ``limit`` is 0."""
    head = [f"{label(one.info.path, 80)}, rank {one.rank}"] if several else []
    if not one.span_ns:
        return [*head, "no GPU activity", ""]
    kinds = [
        (milliseconds(time), percent(time, one.span_ns), kind, _SHORTEN[kind])
        for kind, time in one.kinds.items()
        if time
    ]
    rows = [
        (milliseconds(row.total_ns), percent(row.total_ns, one.span_ns), f"{row.count:,}", row.kind,
         kernel_label(row.name, 80) or "-")
        for row in (one.times[:limit] if limit else one.times)
    ]  # fmt: skip
    text = rows_table(("at most ms", "of path", "what", "is shortened by"), kinds, wide=3).splitlines()
    text += ["", *rows_table(("at most ms", "of path", "times", "what", "name"), rows, wide=4).splitlines()]
    if len(rows) < len(one.times):
        text.append(f"and {len(one.times) - len(rows):,} more; -n 0 shows all")
    if one.assumed:
        text.append(f"Assumed: {one.assumed:,} times that another stream or thread was waited for.")
    return [*head, *text, ""]


def verdict(found: Sequence[CriticalPath]) -> str:
    """How long the longest path is, and what takes most of it."""
    one = max(found, key=lambda path: path.span_ns, default=None)
    if one is None or not one.span_ns:
        return "no GPU activity in these traces"
    kind, time = next(iter(one.kinds.items()))
    first = one.times[0]
    of = f"the longest of {len(found)} paths" if len(found) > 1 else "the path"
    name = kernel_label(first.name, 50)
    return (
        f"{of} takes {milliseconds(one.span_ns)} ms, {percent(time, one.span_ns)} of it {kind}; "
        f"most in {name or first.kind}: without it at most {milliseconds(first.total_ns)} ms less"
    )
