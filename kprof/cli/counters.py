"""``kprof counters``: what hardware counters say about kernels."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli._groups import group
from kprof.cli.common import JsonOption, QuietOption
from kprof.errors import KprofError
from kprof.output.headline import tell_first, tell_last, wrapped
from kprof.output.writing import log, write_output
from kprof.reporters._console_text import plural

if TYPE_CHECKING:
    from kprof.inputs.rocprof import Data
    from kprof_analyzers.profiles.counters.kernels import KernelCounters
    from kprof_analyzers.profiles.counters.machine import Gpu
    from kprof_analyzers.profiles.counters.metrics import Metric

HELP = "Bandwidth, hit rates, utilisation and roofline from hardware counters."

app = group()

Paths = Annotated[list[str], typer.Argument(metavar="PATH", help="Files or folders of any ROCm profiler.")]
Arch = Annotated[
    str | None,
    typer.Option(
        "--arch",
        "--product",
        "-a",
        metavar="GPU",
        help="MI300X or gfx942, when the files do not say. A product gives peaks.",
    ),
]
KernelName = Annotated[
    str, typer.Option("--kernel", "-k", metavar="TEXT", help="Only kernels with this in their name.")
]
Top = Annotated[int, typer.Option("--top", "-n", help="Kernels to show.", min=1)]


@app.callback()
def _group() -> None:
    """What hardware counters say about kernels."""


@app.command()
def metrics(
    paths: Paths,
    arch: Arch = None,
    kernel: KernelName = "",
    top: Top = 3,
    pmc: Annotated[bool, typer.Option("--pmc", help="Only the lines that collect what is missing.")] = False,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Derived metrics of each kernel. What cannot be told is left out, with the counters to collect.

    Example:  kprof counters metrics results/ --arch MI300X --kernel attention
    """
    from kprof_analyzers.profiles.counters.metrics import metrics as derive

    _, gpu, kernels = _load(paths, arch, kernel)
    derived = [(one, derive(one, gpu)) for one in kernels]
    missing = [counter for _, found in derived for metric in found.values() for counter in metric.missing]
    if pmc:
        _print_passes(missing)
        return
    if json:
        write_output(json, _document(gpu, derived, missing))
    if json == "-":
        return
    flags = sum(bool(metric.flag) and metric.value is not None for _, found in derived for metric in found.values())
    known = sum(metric.value is not None for _, found in derived for metric in found.values())
    impossible = f", {flags} of them impossible" if flags else ""
    verdict = f"{plural(len(derived), 'kernel')}, {plural(known, 'metric')}{impossible}"
    if not quiet:
        tell_first(verdict)
        print(_gpu_line(gpu))
        for one, found in derived[:top]:
            _show(one, found)
        if len(derived) > top:
            more = len(derived) - top
            print(f"\n... and {more:,} more kernel{'s' if more > 1 else ''} (--top, --kernel)")
        if missing:
            print("\nTo collect what is missing (each line is one run of the program):")
            _print_passes(missing)
    tell_last(verdict, alone=quiet)


@app.command()
def roofline(
    paths: Paths,
    arch: Arch = None,
    kernel: KernelName = "",
    top: Top = 12,
    svg: Annotated[
        str | None, typer.Option("--svg", metavar="PATH", help="Write the picture; - is standard output.")
    ] = None,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Kernels under the GPU's roofline: what bounds each, and how near it is.

    Example:  kprof counters roofline results/ --arch MI300X --svg roofline.svg
    """
    from kprof_analyzers.profiles.counters.roofline import place, roofs
    from kprof_analyzers.profiles.counters.roofline_svg import render

    data, gpu, kernels = _load(paths, arch, kernel)
    limits = roofs(gpu, data)
    points = [place(one, gpu, limits) for one in kernels]
    product = gpu.product.name if gpu.product else gpu.arch.name
    if svg:
        write_output(svg, render(points, limits, f"Roofline, {product}"))
    if json:
        from dataclasses import asdict

        import msgspec

        document = {"schema": "kprof.roofline/1", "gpu": product, "roofs": [asdict(roof) for roof in limits],
                    "kernels": [asdict(point) for point in points]}  # fmt: skip
        write_output(json, msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    if "-" in {json, svg}:
        return
    placed = [point for point in points if point.share is not None]
    if not quiet:
        print(_gpu_line(gpu) + "\n")
        _show_roofline(points, limits, top)
    best = max((point.share or 0.0 for point in placed), default=None)
    verdict = f"{len(placed):,} of {plural(len(points), 'kernel')} placed"
    print(verdict if best is None else f"{verdict}; the nearest to its roof reaches {100 * best:.0f} %")


def _load(paths: list[str], arch: str | None, kernel: str) -> "tuple[Data, Gpu, list[KernelCounters]]":

    from kprof.inputs import rocprof
    from kprof_analyzers.profiles.counters.kernels import kernels
    from kprof_analyzers.profiles.counters.machine import gpu_of

    data = rocprof.read(paths)
    for issue in data.issues:
        if issue.severity != "note":
            log(f"kprof: {issue.severity}: {issue.message} ({issue.path.replace(chr(92), '/').rsplit('/', 1)[-1]})")
    found = kernels(data)
    if not found:
        raise KprofError(
            "no counters in these files", path=paths[0], hint="they may be a trace: kprof ingest counters tells"
        )
    chosen = [one for one in found if kernel.lower() in one.name.lower()]
    if not chosen:
        raise KprofError(f"no kernel has {kernel!r} in its name")
    return data, gpu_of(data, arch), chosen


def _gpu_line(gpu: "Gpu") -> str:
    name = gpu.product.name if gpu.product else "product not known: no peaks"
    cus = f" · {gpu.cus} CUs" if gpu.cus else ""
    xcds = f" on {gpu.xcds} XCDs" if gpu.xcds and gpu.xcds > 1 else ""
    return f"{gpu.arch.name} · {name}{cus}{xcds} ({gpu.origin})"


def _print_passes(missing: list[str]) -> None:
    from kprof_analyzers.profiles.counters.collecting import passes

    found = passes(missing)
    if not found:
        print("nothing is missing")
    for one in found:
        print(f"rocprofv3 {one.option} -f csv -d counters -- your_program")


def _show(kernel: "KernelCounters", found: "dict[str, Metric]") -> None:
    from kprof.inputs.rocprof import short
    from kprof.output.tables import number

    time = f"{kernel.nanoseconds / 1e3:,.2f} us" if kernel.nanoseconds else "time not known"
    print(f"\n{short(kernel.name)}   {kernel.calls:,} dispatch{'es' if kernel.calls != 1 else ''}, {time} each")
    groups: dict[str, list[Metric]] = {}
    for metric in found.values():
        if metric.value is not None:
            groups.setdefault(metric.formula.group, []).append(metric)
    rows: list[list[Any]] = []
    remarks: list[str] = []
    for title, members in groups.items():
        for place, metric in enumerate(members):
            heading = title if not place else ""
            rows.append([heading, metric.formula.title, number(metric.value), metric.formula.unit])
            if remark := metric.flag or metric.note:
                remarks.append(f"{metric.formula.title}: {remark}")
    print(_metric_table(rows))
    print("\n".join(remarks), end="\n" if remarks else "")
    unknown = sorted({name for metric in found.values() for name in metric.unknown})
    if unknown:
        print(wrapped(f"not known for this GPU or run: {', '.join(unknown)}"))


def _metric_table(rows: list[list[Any]]) -> str:
    """Group, metric, value and unit; where the names of the metrics would be cut, groups get lines of their own."""
    from kprof.output.tables import rows_table, table_width

    wide = [max((len(row[place]) for row in rows), default=0) + 2 for place in range(4)]
    if sum(wide) - 2 <= table_width():
        return rows_table(["", "metric", "value", "unit"], rows, wide=1)
    lines: list[list[Any]] = []
    for title, *cells in rows:
        if title:
            lines.append([title, "", ""])
        lines.append([f"  {cells[0]}", *cells[1:]])
    return rows_table(["metric", "value", "unit"], lines)


def _document(gpu: "Gpu", derived: "list[tuple[KernelCounters, dict[str, Metric]]]", missing: list[str]) -> str:
    import msgspec

    from kprof_analyzers.profiles.counters.collecting import passes

    kernels = [
        {
            "kernel": one.name,
            "dispatches": one.calls,
            "nanoseconds": one.nanoseconds,
            "metrics": {name: _entry(metric) for name, metric in found.items()},
        }
        for one, found in derived
    ]
    document = {
        "schema": "kprof.metrics/1",
        "gpu": {"arch": gpu.arch.name, "product": gpu.product.name if gpu.product else None, "cus": gpu.cus},
        "kernels": kernels,
        "collect": [one.option for one in passes(missing)],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _entry(metric: "Metric") -> dict[str, Any]:
    entry: dict[str, Any] = {"value": metric.value, "unit": metric.formula.unit, "title": metric.formula.title}
    extra = {"formula": metric.used, "source": metric.formula.source, "confidence": metric.confidence,
             "flag": metric.flag, "note": metric.note, "missing": list(metric.missing),
             "unknown": list(metric.unknown)}  # fmt: skip
    return entry | {name: value for name, value in extra.items() if value}


def _show_roofline(points: list[Any], limits: list[Any], top: int) -> None:
    from kprof.inputs.rocprof import short
    from kprof.output.tables import number, rows_table
    from kprof_analyzers.profiles.counters.roofline_text import draw

    plotted = [point for point in points if point.intensity and point.flop_rate][:top]
    for line in draw(plotted, limits):
        print(line)
    if plotted:
        print()
    letters = {id(point): letter for point, letter in zip(plotted, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", strict=False)}
    rows, reasons = [], list(dict.fromkeys(point.reason for point in points[:top] if point.share is None))
    for point in points[:top]:
        if point.share is None:
            share = f"not placed ({reasons.index(point.reason) + 1})"
        else:
            share = f"{100 * point.share:.1f} % of {point.bound}"
        rows.append([letters.get(id(point), ""), short(point.kernel), number(point.intensity), number(point.flop_rate),
                     number(point.bandwidth), share])  # fmt: skip
    headings = ["", "kernel", "FLOP/byte", "GFLOP/s", "GB/s", "reaches"]
    print(rows_table(headings, rows, wide=1))
    for place, reason in enumerate(reasons, 1):
        print(f"({place}) {reason}")
    missing = [counter for point in points for counter in point.missing]
    if missing:
        print("\nTo place the others, collect:")
        _print_passes(missing)
    print()
