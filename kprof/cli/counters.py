"""``kprof counters``: what hardware counters say about kernels."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli._groups import group
from kprof.cli.common import JsonOption, QuietOption
from kprof.errors import KprofError
from kprof.output.headline import tell_first, tell_last
from kprof.output.writing import log, write_output
from kprof.reporters._console_text import plural

if TYPE_CHECKING:
    from kprof.cli._counter_tables import Loaded
    from kprof_analyzers.profiles.counters.kernels import KernelCounters
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


Runs_ = Annotated[
    list[str] | None,
    typer.Option("--run", metavar="N|TEXT", help="Only this run: its number, or a part of its path. May be repeated."),
]
Dispatches = Annotated[
    list[int] | None, typer.Option("--dispatch", metavar="ID", help="Only this dispatch. May be repeated.")
]
By = Annotated[
    str, typer.Option("--by", metavar="FIELDS", help="Put launches together that agree in these: --by name,grid.")
]
_BY = "agent,name,grid,workgroup,lds,vgprs"


@app.command()
def metrics(
    paths: Paths,
    arch: Arch = None,
    kernel: KernelName = "",
    run: Runs_ = None,
    dispatch: Dispatches = None,
    by: By = _BY,
    top: Top = 3,
    pmc: Annotated[bool, typer.Option("--pmc", help="Only the lines that collect what is missing.")] = False,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Derived metrics of each kernel. What cannot be told is left out, with the counters to collect.

    Launches with another grid, workgroup, LDS, number of VGPRs or agent are kernels of their own. Several runs (each
    PATH is one) stand side by side.

    Example:  kprof counters metrics results/ --arch MI300X --kernel attention
    """
    from kprof.cli import _counter_tables as tables
    from kprof_analyzers.profiles.counters.metrics import metrics as derive

    loaded = _load(paths, arch, kernel, run, dispatch, by)
    derived = [(one, derive(one, loaded.gpu(one))) for one in loaded.kernels]
    missing = [counter for _, found in derived for metric in found.values() for counter in metric.missing]
    if pmc:
        _print_passes(missing)
        return
    if json:
        write_output(json, _document(loaded, derived, missing))
    if json == "-":
        return
    flags = sum(bool(metric.flag) and metric.value is not None for _, found in derived for metric in found.values())
    known = sum(metric.value is not None for _, found in derived for metric in found.values())
    impossible = f", {flags} of them impossible" if flags else ""
    runs = f" in {len(loaded.used)} runs" if len(loaded.used) > 1 else ""
    verdict = f"{plural(len(derived), 'kernel')}{runs}, {plural(known, 'metric')}{impossible}"
    if not quiet:
        tell_first(verdict)
        for line in loaded.heading():
            print(line)
        sets = tables.side_by_side(derived)
        for members in sets[:top]:
            tables.show(members, loaded)
        if len(sets) > top:
            more = len(sets) - top
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
    run: Runs_ = None,
    dispatch: Dispatches = None,
    by: By = _BY,
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
    from kprof_analyzers.profiles.counters.machine import gpu_name
    from kprof_analyzers.profiles.counters.roofline import place, roofs
    from kprof_analyzers.profiles.counters.roofline_svg import render

    loaded = _load(paths, arch, kernel, run, dispatch, by)
    indexes = sorted({one.gpu for one in loaded.kernels})
    if len(indexes) > 1:
        names = ", ".join(gpu_name(loaded.gpu_at(index)) for index in indexes)
        raise KprofError(f"the kernels ran on several GPUs: {names}", hint="a roofline is of one: choose with --run")
    gpu = loaded.gpu_at(indexes[0])
    limits = roofs(gpu, loaded.data)
    points = [place(one, gpu, limits) for one in loaded.kernels]
    remarks = [loaded.remark(one) for one in loaded.kernels]
    product = gpu_name(gpu)
    if svg:
        write_output(svg, render(points, limits, f"Roofline, {product}"))
    if json:
        from dataclasses import asdict

        import msgspec

        document = {"schema": "kprof.roofline/1", "gpu": product, "roofs": [asdict(roof) for roof in limits],
                    "kernels": [asdict(point) | loaded.identity(one)
                                for point, one in zip(points, loaded.kernels, strict=True)]}  # fmt: skip
        write_output(json, msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    if "-" in {json, svg}:
        return
    placed = [point for point in points if point.share is not None]
    if not quiet:
        print("\n".join(loaded.heading()) + "\n")
        _show_roofline(points, limits, top, remarks)
    best = max((point.share or 0.0 for point in placed), default=None)
    verdict = f"{len(placed):,} of {plural(len(points), 'kernel')} placed"
    print(verdict if best is None else f"{verdict}; the nearest to its roof reaches {100 * best:.0f} %")


def _load(
    paths: list[str], arch: str | None, kernel: str, run: list[str] | None, dispatch: list[int] | None, by: str
) -> "Loaded":
    from kprof.cli._counter_tables import load

    loaded = load(paths, arch, kernel, run or [], dispatch or [], by)
    for issue in loaded.data.issues:
        if issue.severity != "note":
            log(f"kprof: {issue.severity}: {issue.message} ({issue.path.replace(chr(92), '/').rsplit('/', 1)[-1]})")
    for words in loaded.left_out:
        log(f"kprof: warning: {words}")
    return loaded


def _print_passes(missing: list[str]) -> None:
    from kprof_analyzers.profiles.counters.collecting import passes

    found = passes(missing)
    if not found:
        print("nothing is missing")
    for one in found:
        print(f"rocprofv3 {one.option} -f csv -d counters -- your_program")


def _document(loaded: "Loaded", derived: "list[tuple[KernelCounters, dict[str, Metric]]]", missing: list[str]) -> str:
    import msgspec

    from kprof_analyzers.profiles.counters.collecting import passes

    kernels = [
        {
            "kernel": one.name,
            "dispatches": one.calls,
            "nanoseconds": one.nanoseconds,
            **loaded.identity(one),
            "metrics": {name: _entry(metric) for name, metric in found.items()},
        }
        for one, found in derived
    ]
    gpus = {one.gpu for one in loaded.kernels}
    document = {
        "schema": "kprof.metrics/1",
        # Each kernel has its own; this is the one of all, when there is but one.
        "gpu": loaded.identity(loaded.kernels[0])["gpu"] if len(gpus) == 1 else None,
        "runs": [loaded.runs.labels[run] for run in loaded.used],
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


def _show_roofline(points: list[Any], limits: list[Any], top: int, remarks: list[str]) -> None:
    from kprof.inputs.rocprof import short
    from kprof.output.tables import number, rows_table
    from kprof_analyzers.profiles.counters.roofline_text import draw

    plotted = [point for point in points if point.intensity and point.flop_rate][:top]
    for line in draw(plotted, limits):
        print(line)
    if plotted:
        print()
    letters = {id(point): letter for point, letter in zip(plotted, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", strict=False)}
    levels = list(dict.fromkeys(level.name for point in points[:top] for level in point.levels))
    marks = {roof.name: "*" for roof in limits if roof.origin == "measured"}
    rows, reasons = [], list(dict.fromkeys(point.reason for point in points[:top] if point.share is None))
    for point, remark in zip(points[:top], remarks, strict=False):
        if point.share is None:
            share = f"not placed ({reasons.index(point.reason) + 1})"
        else:
            share = f"{100 * point.share:.1f} % of {point.bound}{marks.get(point.bound, '')}"
        name = f"{short(point.kernel)} {remark}".rstrip()
        reached = {level.name: f"{100 * level.share:.0f} %" for level in point.levels if level.share is not None}
        shares = [reached.get(level, "-") for level in levels]
        found = letters.get(id(point), ""), name, number(point.intensity), number(point.flop_rate)
        rows.append([*found, *shares, share])
    marked = [f"{level}{marks.get(level, '')}" for level in levels]
    headings = ["", "kernel", "FLOP/byte", "GFLOP/s", *marked, "reaches"]
    print(rows_table(headings, rows, wide=1))
    if marks:
        print("* peak measured on this machine; the others are published")
    for place, reason in enumerate(reasons, 1):
        print(f"({place}) {reason}")
    missing = [counter for point in points for counter in point.missing]
    if missing:
        print("\nTo place the others, collect:")
        _print_passes(missing)
    print()
