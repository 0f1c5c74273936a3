"""Text of ``kprof list kernels``: all kernels, or one kernel with its cases, configurations and search space."""

from collections.abc import Mapping, Sequence
from typing import Any

from kprof.output.assignments import assigned
from kprof.output.quantities import plural
from kprof.output.terminal import terminal

# Minimum terminal width for a column of unsupported architectures, which would otherwise leave no room for summaries.
_ROOM_FOR_UNSUPPORTED = 100


def verdict(facts: Mapping[str, Any], target: str) -> str:
    """Return the numbers of a kernel's cases and configurations."""
    counts = f"{plural(len(facts['cases']), 'case')}, {plural(len(facts['configs']), 'configuration')}"
    if facts["cases"]:
        return f"{facts['name']}: {counts}"
    return f"{facts['name']}: {counts}, no KERNEL in its file: kprof analyze kernel {target} lists the required options"


def show_list(rows: Sequence[Mapping[str, Any]], *, no_color: bool) -> None:
    """Print one row per kernel."""
    from rich.table import Table

    console = terminal(no_color=no_color)
    narrow = console.width < _ROOM_FOR_UNSUPPORTED
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("kernel", style="bold", no_wrap=True)
    table.add_column("cases", justify="right", no_wrap=True)
    table.add_column("what it does")
    if not narrow:
        table.add_column("not on")
    for row in rows:
        unsupported = "?" if row["unsupported"] is None else " ".join(row["unsupported"])
        cells = [row["name"], str(len(row["cases"])), row["summary"], unsupported]
        if narrow:
            cells[2:] = [f"{row['summary']} (not on {unsupported})" if row["unsupported"] else row["summary"]]
        table.add_row(*cells)
    console.print(table)


def show_kernel(facts: Mapping[str, Any], *, no_color: bool) -> None:
    """Print everything about one kernel."""
    from rich.table import Table
    from rich.text import Text

    console = terminal(no_color=no_color)
    console.print(Text(facts["name"], style="bold").append(f" {facts['summary']}".rstrip(), style="not bold"))
    source = facts["source"]
    console.print(Text(f"{source['file']}:{source['line']}  {source['function']}", style="dim"), soft_wrap=True)

    def section(title: str, rows: dict[str, str]) -> None:
        if not rows:
            return
        console.print()
        console.print(Text(title, style="bold"))
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
        table.add_column(no_wrap=True)
        table.add_column()
        for name, text in rows.items():
            table.add_row(Text(name), Text(text))
        console.print(table)

    section("Cases", {name: assigned(shape) for name, shape in facts["cases"].items()})
    section("Arguments", {kind: " ".join(names) for kind, names in facts["arguments"].items()})
    defaults = {arch: assigned(config) for arch, config in facts["defaults"].items() if config}
    section("Default knobs", _grouped(defaults))
    section("Configurations", {str(i): assigned(config) for i, config in enumerate(facts["configs"], 1)})
    knobs = {name: " ".join(map(str, values)) for name, values in facts["space"]["knobs"].items()}
    section(f"Tuning space, {facts['space']['size']:,} combinations, including illegal ones", knobs)
    section("Cannot run", _grouped({case: "; ".join(r.values()) for case, r in facts["unsupported"].items()}))
    section("Notes", facts["notes"])
    section(
        "Predicted comparison with other kernels (x: times as fast as the other kernel; below 1: slower)",
        _compared(facts["comparisons"]),
    )
    section("Further functions", {f"{facts['name']}::{part}": "" for part in facts["parts"]})
    console.print()


def _compared(comparisons: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return a row for each GPU and other kernel, with the cases' speedups."""
    rows: dict[str, list[str]] = {}
    for one in comparisons:
        needs = f" (needs {one['needs']})" if one["needs"] else ""
        label = f"{one['product']} {one['other']}{needs}"
        rows.setdefault(label, []).append(f"{one['case']} {one['speedup']:.2f}x")
    return {label: ", ".join(cases) for label, cases in rows.items()}


def _grouped(rows: dict[str, str]) -> dict[str, str]:
    """Merge rows that have the same text."""
    names: dict[str, list[str]] = {}
    for name, text in rows.items():
        names.setdefault(text, []).append(name)
    return {" ".join(group): text for text, group in names.items()}
