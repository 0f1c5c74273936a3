"""Text of ``kprof ingest counters``: the content of profilers' files, and which values cannot be trusted."""

from typing import TYPE_CHECKING, Any

from kprof.inputs.rocprof import Data, ProfileIssue
from kprof.output.quantities import plural
from kprof.output.tables import rows_table
from kprof.output.terminal import terminal
from kprof.reporters._trace_format import kernel_labels

if TYPE_CHECKING:
    import pandas as pd

_FEW = 24
_BLOCKS = frozenset({
    "CPC", "CPF", "GRBM", "GRBMH", "SPI", "SQ", "SQC", "SX", "TA", "TCA", "TCC", "TCP", "TCS", "TD", "GL2C", "GL2A",
    "GL1C", "GCEA", "GCR", "GUS", "EA", "CHA", "CHC",
})  # fmt: skip


def show(data: Data, top: int, *, no_color: bool) -> None:
    """Print the tools that made the files, the kernels, the counters and the issues."""
    console = terminal(no_color=no_color)
    lost = sum(issue.count for issue in data.issues if issue.severity == "error")
    if lost:
        print(f"{lost:,} value{'s' if lost > 1 else ''} or records could not be used and are in no sum: see below\n")
    groups: dict[tuple[str, str, str], list[int]] = {}
    for source in data.sources:
        groups.setdefault((source.tool, source.version or "", source.format), []).append(source.rows)
    rows = [[tool, version, kind, len(found), sum(found)] for (tool, version, kind), found in groups.items()]
    print(rows_table(["read", "version", "format", "files", "records"], rows, wide=2))
    gpus = data.agents
    if len(gpus):
        kinds = gpus[gpus["type"].astype(str) == "GPU"]
        names = (
            kinds["name"].astype(object).fillna("?") + " " + kinds["product"].astype(object).fillna("")
        ).value_counts()
        print("\nGPUs  " + ", ".join(f"{count} x {str(name).strip()}" for name, count in names.items()))
    _show_kernels(data, top)
    _show_counters(data, console)
    _show_issues(data.issues, console)


def _show_kernels(data: Data, top: int) -> None:
    """Print the time by kernel; if there are several runs, each has its own rows, with shares of the run's total."""
    kernels = _timed(data)
    if not len(kernels):
        return
    totals = kernels.groupby("run")["total_ns"].transform("sum").replace(0.0, 1.0)
    shares = [f"{100 * share:.1f} %" for share in (kernels["total_ns"] / totals).head(top)]
    best = kernels.head(top).to_dict("records")
    several = len(set(kernels["run"])) > 1
    labels = kernel_labels([str(row["kernel_name"]) for row in best], map(str, kernels["kernel_name"]))
    shown = [[label, *([row["run"]] if several else []), row["calls"], row["total_ns"] / 1e6,
              row["total_ns"] / row["timed"] / 1e3, share]
             for label, row, share in zip(labels, best, shares, strict=True)]  # fmt: skip
    print()
    print(rows_table(["kernel", *(["run"] if several else []), "calls", "total ms", "mean us", "share"], shown))
    if len(kernels) > top:
        more = len(kernels) - top
        print(f"... and {more:,} more kernel{'s' if more > 1 else ''} (--top)")


def _timed(data: Data) -> "pd.DataFrame":
    """Return the time by kernel name and run (each path is a run).

    If there are traces, runs with counters are left out.
    """
    table = data.kernels
    traces = [index for index, source in enumerate(data.sources) if source.role == "trace"]
    if traces and table["source"].isin(traces).any():
        table = table[table["source"].isin(traces)]
    table = table[table["timed_calls"] > 0]
    names = _run_names([source.given for source in data.sources])
    groups = table.assign(run=[names[data.sources[int(source)].given] for source in table["source"]]).groupby(
        ["kernel_name", "run"], observed=True
    )
    sums: pd.DataFrame = groups.agg(
        calls=("calls", "sum"), timed=("timed_calls", "sum"), total_ns=("total_ns", "sum")
    ).astype(float)
    ordered: pd.DataFrame = sums.reset_index().sort_values("total_ns", ascending=False)
    return ordered


def _run_names(paths: list[str]) -> dict[str, str]:
    """Return the label of each path: its last component if unique, else the whole path."""
    ends = {path: path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] for path in paths}
    return {path: end if list(ends.values()).count(end) == 1 else path for path, end in ends.items()}


def _show_counters(data: Data, console: Any) -> None:
    counters = data.counters
    if not len(counters):
        return
    names = sorted({str(name) for name in counters["counter"].unique()})
    dispatches = _calls(counters["dispatch"].nunique())
    print(f"\n{plural(len(names), 'counter')}, {plural(len(counters), 'value')} of {dispatches}:")
    console.print(_counter_names(names), style="dim", markup=False)
    print("kprof counters metrics derives bandwidths, hit rates and utilisation from them")


def _counter_names(names: list[str]) -> str:
    """Return a few names in full, or the number of counters per hardware block if there are many."""
    if len(names) <= _FEW:
        return ", ".join(names)
    blocks: dict[str, int] = {}
    for name in names:
        # Counters such as SQ_WAVES and TCC_HIT_sum belong to a block; MfmaUtil and FETCH_SIZE are formulas of the
        # profiler.
        block = name.split("_", 1)[0]
        block = block if block in _BLOCKS else "derived"
        blocks[block] = blocks.get(block, 0) + 1
    ordered = sorted(blocks.items(), key=lambda item: (item[0] == "derived", -item[1], item[0]))
    return ", ".join(f"{block} {count}" for block, count in ordered) + " (--json has their names)"


def _show_issues(issues: list[ProfileIssue], console: Any) -> None:
    from rich.text import Text

    if not issues:
        return
    print()
    colours = {"error": "red", "warning": "yellow", "note": "dim"}
    by_kind: dict[tuple[str, str], list[ProfileIssue]] = {}
    for issue in issues:
        by_kind.setdefault((issue.severity, issue.kind), []).append(issue)
    for (severity, kind), found in by_kind.items():
        for issue in found[: 3 if severity != "note" else 1]:
            place = f" record {issue.record}" if issue.record else ""
            line = Text(f"{severity:8}", style=colours[severity])
            line.append(f"{kind}  ", style="bold").append(f"{issue.message}  ")
            line.append(f"{_tail(issue.path)}{place}", style="dim")
            console.print(line)
        rest = len(found) - (3 if severity != "note" else 1)
        if rest > 0:
            print(f"         ... and {rest} more of {kind}")


def _tail(path: str) -> str:
    return "/".join(path.replace("\\", "/").split("/")[-2:])


def verdict(data: Data) -> str:
    """Return the amount of data that was read, and the number of issues."""
    issues = data.issues
    counts = {level: sum(issue.severity == level for issue in issues) for level in ("error", "warning", "note")}
    words = [f"{count} {level}{'s' if count > 1 else ''}" for level, count in counts.items() if count]
    files = f"{len(data.sources)} file{'s' if len(data.sources) != 1 else ''}"
    return f"read {files}, {_dispatches(data)}: {', '.join(words) if words else 'nothing to complain about'}"


def _dispatches(data: Data) -> str:
    """Return the number of dispatches.

    Traced dispatches and those with counters may be the same, so they are separate.
    """
    table = data.kernels
    if not len(table):
        return "0 dispatches"
    traces = [index for index, source in enumerate(data.sources) if source.role == "trace"]
    traced = int(table["calls"][table["source"].isin(traces)].sum())
    counted = int(table["calls"].sum()) - traced
    if traced and counted:
        return f"{_calls(traced)} traced, {counted:,} counted"
    return _calls(traced + counted)


def _calls(count: int) -> str:
    return f"{count:,} dispatch{'' if count == 1 else 'es'}"
