"""``kprof ingest counters``: read profiler output of any generation."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli.common import JsonOption, NoColorOption, QuietOption
from kprof.output.terminal import terminal
from kprof.output.writing import log, write_output

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.rocprof import Data, Issue

HELP = "rocprof v1 to v3, rocpd, Omniperf and rocprof-compute output."
SCHEMA = "kprof.counters/1"
_FEW = 24
_BLOCKS = frozenset({
    "CPC", "CPF", "GRBM", "GRBMH", "SPI", "SQ", "SQC", "SX", "TA", "TCA", "TCC", "TCP", "TCS", "TD", "GL2C", "GL2A",
    "GL1C", "GCEA", "GCR", "GUS", "EA", "CHA", "CHC",
})  # fmt: skip


def command(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Files, .gz files or folders of any ROCm profiler.")
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="DIR", help="Folder to write the tables to.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="Of the tables: parquet, csv or json.")] = "parquet",
    top: Annotated[int, typer.Option("--top", "-n", help="Kernels to show.", min=1)] = 15,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 2 when anything could not be read.")] = False,
    json: JsonOption = None,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Tell which tool made the files, what is in them, and what cannot be trusted. The format is found by content.

    Example:  kprof ingest counters results/ -o tables/
    """
    from kprof.inputs import rocprof
    from kprof.output.tables import write_tables

    data = rocprof.read(paths)
    if output:
        tables = {name: data.table(name) for name in data.names()}
        for path in write_tables(tables | _about(data), output, form, paths):
            log(f"kprof: wrote {path}")
    if json:
        write_output(json, _document(data))
    if json != "-":
        if not quiet:
            _show(data, top, no_color=no_color)
        print(_verdict(data))
    if strict and any(issue.severity == "error" for issue in data.issues):
        raise typer.Exit(2)


def _about(data: "Data") -> "dict[str, pd.DataFrame]":
    from dataclasses import asdict

    import pandas as pd

    sources = pd.DataFrame([asdict(source) for source in data.sources])
    issues = pd.DataFrame([asdict(issue) for issue in data.issues])
    return {"sources": sources, "issues": issues}


def _document(data: "Data") -> str:
    from dataclasses import asdict

    import msgspec

    kernels = [_plain(row) for row in data.kernels.to_dict("records")]
    document = {
        "schema": SCHEMA,
        "sources": [asdict(source) for source in data.sources],
        "issues": [asdict(issue) for issue in data.issues],
        "agents": [_plain(row) for row in data.agents.to_dict("records")],
        "kernels": kernels,
        "counters": _sums(data),
        # Counting the other tables of a database would load millions of rows.
        "rows": {name: len(data.table(name)) for name in data.names()} if data.is_loaded else {},
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _sums(data: "Data") -> list[dict[str, Any]]:
    counters = data.counters
    if not len(counters):
        return []
    groups = counters.groupby(["source", "kernel_name", "counter"], observed=True)["value"]
    table = groups.agg(["count", "sum", "min", "max"]).reset_index()
    table["kernel_name"] = table["kernel_name"].astype(object)
    table["counter"] = table["counter"].astype(object)
    return [_plain(row) for row in table.to_dict("records")]


def _plain(row: Any) -> dict[str, Any]:
    """Python values; what is missing is left out."""
    import pandas as pd

    kept = {str(key): value for key, value in row.items() if not pd.isna(value)}
    return {key: value.item() if hasattr(value, "item") else value for key, value in kept.items()}


def _show(data: "Data", top: int, *, no_color: bool) -> None:
    from kprof.output.tables import rows_table

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


def _show_kernels(data: "Data", top: int) -> None:
    """Time by kernel; of several runs each has rows of its own, with shares of its own total."""
    from kprof.output.tables import rows_table

    kernels = _timed(data)
    if not len(kernels):
        return
    totals = kernels.groupby("run")["total_ns"].transform("sum").replace(0.0, 1.0)
    shares = [f"{100 * share:.1f} %" for share in (kernels["total_ns"] / totals).head(top)]
    best = kernels.head(top).to_dict("records")
    several = len(set(kernels["run"])) > 1
    labels = _labels([str(row["kernel_name"]) for row in best])
    shown = [[label, *([row["run"]] if several else []), row["calls"], row["total_ns"] / 1e6,
              row["total_ns"] / row["timed"] / 1e3, share]
             for label, row, share in zip(labels, best, shares, strict=True)]  # fmt: skip
    print()
    print(rows_table(["kernel", *(["run"] if several else []), "calls", "total ms", "mean us", "share"], shown))
    if len(kernels) > top:
        more = len(kernels) - top
        print(f"... and {more:,} more kernel{'s' if more > 1 else ''} (--top)")


def _labels(names: list[str]) -> list[str]:
    """Short names; where two kernels would look the same, the name from where it begins to tell something."""
    from kprof.cli.trace._shared import kernel_label
    from kprof.inputs.rocprof import short

    brief = [short(name) for name in names]
    return [kernel_label(name if brief.count(one) > 1 else one) for name, one in zip(names, brief, strict=True)]


def _timed(data: "Data") -> "pd.DataFrame":
    """Time by kernel name and path named (each is a run); counting runs are left out when there are traces."""
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
    """What each path named is called in the table: its last part, where no other has that."""
    ends = {path: path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] for path in paths}
    return {path: end if list(ends.values()).count(end) == 1 else path for path, end in ends.items()}


def _show_counters(data: "Data", console: Any) -> None:
    from kprof.reporters._console_text import plural

    counters = data.counters
    if not len(counters):
        return
    names = sorted({str(name) for name in counters["counter"].unique()})
    dispatches = _calls(counters["dispatch"].nunique())
    print(f"\n{plural(len(names), 'counter')}, {plural(len(counters), 'value')} of {dispatches}:")
    console.print(_counter_names(names), style="dim", markup=False)
    print("kprof counters metrics derives bandwidths, hit rates and utilisation from them")


def _counter_names(names: list[str]) -> str:
    """All of a few names; of many, how many each hardware block has."""
    if len(names) <= _FEW:
        return ", ".join(names)
    blocks: dict[str, int] = {}
    for name in names:
        # SQ_WAVES and TCC_HIT_sum are of a block; MfmaUtil and FETCH_SIZE are the profiler's own formulas.
        block = name.split("_", 1)[0]
        block = block if block in _BLOCKS else "derived"
        blocks[block] = blocks.get(block, 0) + 1
    ordered = sorted(blocks.items(), key=lambda item: (item[0] == "derived", -item[1], item[0]))
    return ", ".join(f"{block} {count}" for block, count in ordered) + " (--json has their names)"


def _show_issues(issues: "list[Issue]", console: Any) -> None:
    from rich.text import Text

    if not issues:
        return
    print()
    colours = {"error": "red", "warning": "yellow", "note": "dim"}
    by_kind: dict[tuple[str, str], list[Issue]] = {}
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


def _verdict(data: "Data") -> str:
    issues = data.issues
    counts = {level: sum(issue.severity == level for issue in issues) for level in ("error", "warning", "note")}
    words = [f"{count} {level}{'s' if count > 1 else ''}" for level, count in counts.items() if count]
    files = f"{len(data.sources)} file{'s' if len(data.sources) != 1 else ''}"
    return f"read {files}, {_dispatches(data)}: {', '.join(words) if words else 'nothing to complain about'}"


def _dispatches(data: "Data") -> str:
    """How many; those of counting runs apart from those of traces, which may be the same ones."""
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
