"""``kprof kernels``: the kernels that come with kprof, or one of your own."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli._groups import group
from kprof.cli.common import JsonOption, NoColorOption, QuietOption
from kprof.inputs.assignments import listed
from kprof.output.terminal import terminal
from kprof.output.writing import write_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kprof.kernel_spec import Kernel

HELP = "List the bundled kernels, or show one: cases, configurations, what an architecture cannot do."
ARCHITECTURES = "gfx90a,gfx942,gfx950,gfx1100,gfx1201"

# Below it a column of its own leaves the summaries too little.
_ROOM_FOR_UNSUPPORTED = 100

app = group()

ArchitecturesOption = Annotated[
    str, typer.Option("--arch", "-a", help="Architectures to speak of, comma separated.", metavar="ARCH[,ARCH]")
]


@app.command("list")
def list_kernels(
    arch: ArchitecturesOption = ARCHITECTURES,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Name, summary, number of cases, and the architectures that cannot run the default case."""
    from kprof.targets import library as kernel_library

    archs = _architectures(arch)
    rows = []
    for entry in kernel_library.catalogue():
        row: dict[str, Any] = {
            "name": entry.name,
            "summary": entry.summary,
            "cases": list(entry.cases),
            "parts": list(entry.parts),
            "path": str(entry.path),
        }
        rows.append(row | {"unsupported": _unsupported(entry.name, archs)})
    if json_path:
        write_document(json_path, "kprof.kernels/1", {"kernels": rows})
    if json_path != "-":
        if not quiet:
            _print_list(rows, no_color)
        print(f"{len(rows)} kernels; kprof kernels show gemm tells more about one")


@app.command("show")
def show_kernel(
    target: Annotated[str, typer.Argument(help="A bundled kernel, or file.py, or file.py::function.")],
    arch: ArchitecturesOption = ARCHITECTURES,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Cases, default knobs on each architecture, further configurations, tuning space and source of one kernel."""
    from kprof.targets import library as kernel_library

    kernel = kernel_library.load(target)
    facts = _facts(kernel, _architectures(arch))
    if json_path:
        write_document(json_path, "kprof.kernel/1", facts)
    if json_path != "-":
        if not quiet:
            _print_kernel(facts, no_color)
        print(_verdict(facts, target))


def _verdict(facts: dict[str, Any], target: str) -> str:
    from kprof.reporters._console_text import plural

    counts = f"{plural(len(facts['cases']), 'case')}, {plural(len(facts['configs']), 'configuration')}"
    if facts["cases"]:
        return f"{facts['name']}: {counts}"
    return f"{facts['name']}: {counts}, no KERNEL in its file: kprof analyze kernel {target} says what to give"


def _architectures(text: str) -> list[str]:
    """Architectures meant by ``--arch``, which may name products too."""
    if text == ARCHITECTURES:
        return listed(text)
    from kprof.hardware import machine

    return list(dict.fromkeys(machine.load(name).name for name in listed(text)))


def _unsupported(name: str, archs: list[str]) -> dict[str, str] | None:
    """Architecture to why it cannot run the default case; ``None`` when that cannot be known: no usable Triton."""
    from kprof.errors import KprofError
    from kprof.targets import library as kernel_library

    try:
        return _reasons(kernel_library.load(name), archs)
    except KprofError:
        return None


def _reasons(kernel: "Kernel", archs: list[str], case: str | None = None) -> dict[str, str]:
    if kernel.unsupported is None:
        return {}
    asked = {arch: kernel.unsupported(arch, kernel.problem(arch, case)) for arch in archs}
    return {arch: reason for arch, reason in asked.items() if reason is not None}


def _facts(kernel: "Kernel", archs: list[str]) -> dict[str, Any]:
    """Everything that ``show`` tells, as JSON-ready data."""
    from math import prod

    from kprof.importing.functions import unwrap
    from kprof.importing.wrappers import kernel_function

    code = kernel_function(kernel.entry).fn.__code__
    found = None if kernel.shapes else unwrap(kernel.entry)
    configs = kernel.configs if found is None else found.configs
    return {
        "name": kernel.name,
        "summary": kernel.summary,
        "source": {"file": code.co_filename, "line": code.co_firstlineno, "function": code.co_name},
        "cases": {case: dict(shape) for case, shape in kernel.shapes.items()},
        "unsupported": {case: reasons for case in kernel.shapes if (reasons := _reasons(kernel, archs, case))},
        "defaults": {arch: kernel.configure(arch, None, kernel.problem(arch)) for arch in archs},
        "configs": [dict(config) for config in configs],
        "arguments": {} if found is None else _arguments(found.jit.params),
        "space": {
            "size": prod(len(values) for values in kernel.space.values()) if kernel.space else 0,
            "knobs": {name: list(values) for name, values in kernel.space.items()},
        },
        "notes": dict(kernel.notes),
        "parts": list(kernel.parts),
        "checks": {name: {"shape": dict(c.shape), "config": dict(c.config)} for name, c in kernel.checks.items()},
    }


def _arguments(parameters: "Sequence[Any]") -> dict[str, list[str]]:
    """What a launch passes and what is compiled in, with defaults."""
    found: dict[str, list[str]] = {}
    for parameter in parameters:
        default = f"={parameter.default}" if parameter.has_default else ""
        found.setdefault("constexpr" if parameter.is_constexpr else "passed", []).append(f"{parameter.name}{default}")
    return found


def _print_list(rows: list[dict[str, Any]], no_color: bool) -> None:
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


def _print_kernel(facts: dict[str, Any], no_color: bool) -> None:
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

    section("Cases", {name: _pairs(shape) for name, shape in facts["cases"].items()})
    section("Arguments", {kind: " ".join(names) for kind, names in facts["arguments"].items()})
    defaults = {arch: _pairs(config) for arch, config in facts["defaults"].items() if config}
    section("Default knobs", _grouped(defaults))
    section("Configurations", {str(i): _pairs(config) for i, config in enumerate(facts["configs"], 1)})
    knobs = {name: " ".join(map(str, values)) for name, values in facts["space"]["knobs"].items()}
    section(f"Tuning space, {facts['space']['size']:,} combinations before the pointless ones", knobs)
    section("Cannot run", _grouped({case: "; ".join(r.values()) for case, r in facts["unsupported"].items()}))
    section("Notes", facts["notes"])
    section("Further functions", {f"{facts['name']}::{part}": "" for part in facts["parts"]})
    console.print()


def _pairs(values: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def _grouped(rows: dict[str, str]) -> dict[str, str]:
    """Rows with the same text as one row."""
    names: dict[str, list[str]] = {}
    for name, text in rows.items():
        names.setdefault(text, []).append(name)
    return {" ".join(group): text for text, group in names.items()}
