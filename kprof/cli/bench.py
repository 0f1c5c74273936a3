"""``kprof bench``: run a kernel on the GPU of this machine."""

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli.common import ConfigOption, JsonOption, NoColorOption, QuietOption, ShapeOption
from kprof.errors import HardwareError
from kprof.inputs.assignments import assignments, listed
from kprof.output.terminal import terminal
from kprof.output.writing import log, write_output

if TYPE_CHECKING:
    from kprof.bench.document import BenchReport, Measurement
    from kprof.bench.plan import Plan
    from kprof.kernel_spec import Kernel

HELP = "Check and time a kernel on a real GPU, beside torch and other libraries."

_MARKS = {"ok": "", "unchecked": "not checked", "inaccurate": "less accurate"}


_OPTION = typer.Option
KernelArgument = Annotated[str, typer.Argument(metavar="KERNEL", help="A bundled kernel, or a file with a KERNEL.")]
CaseOption = Annotated[
    list[str], _OPTION("--case", help="Named shapes: a case, the first part of several (llama405b), or all.")
]
ProviderOption = Annotated[
    str,
    _OPTION(
        "--provider",
        "-p",
        help="Who computes it, comma separated: triton, tuned, torch, sdpa, aiter, ck, alternatives. "
        "By default triton, and torch where it can.",
        metavar="NAME[,NAME]",
    ),
]
LimitOption = Annotated[
    list[str],
    _OPTION("--limit", help="The machine's limits, where known better: gbs=4800,fp16=990.", metavar="K=V,..."),
]
MeasureOption = Annotated[bool, _OPTION(help="Measure limits that are not known with a copy and a matrix product.")]
CheckOption = Annotated[bool, _OPTION("--check-only", help="Compare with the reference, do not time.")]
GraphOption = Annotated[
    bool | None, _OPTION("--graph/--no-graph", help="Always or never launch through a device graph.")
]
WarmupOption = Annotated[float, _OPTION(help="Milliseconds to run before measuring.", min=0)]
RepOption = Annotated[float, _OPTION(help="Milliseconds to measure.", min=1)]
SeedOption = Annotated[int, _OPTION(help="Seed of the inputs.", min=0)]
TimeoutOption = Annotated[float, _OPTION(help="Seconds that one measurement may take.", min=1)]
ProfileOption = Annotated[
    str | None, _OPTION("--profile", help="Write PyTorch profiler traces to a folder.", metavar="DIR")
]
TableOption = Annotated[
    str | None, _OPTION("--table", help="Dispatch table with the tuned configurations.", metavar="FILE")
]
WriteTableOption = Annotated[
    str | None, _OPTION("--write-table", help="Add the fastest to a dispatch table for kprof select.", metavar="FILE")
]
CsvOption = Annotated[str | None, _OPTION("--csv", help="Write the measurements as CSV.", metavar="PATH")]
PlotOption = Annotated[str | None, _OPTION("--plot", help="Draw the rates over the cases (SVG).", metavar="PATH")]


def command(
    kernel: KernelArgument,
    case: CaseOption = [],
    shape: ShapeOption = [],
    provider: ProviderOption = "",
    config: ConfigOption = [],
    limit: LimitOption = [],
    measure_limits: MeasureOption = True,
    check_only: CheckOption = False,
    graph: GraphOption = None,
    warmup_ms: WarmupOption = 25.0,
    rep_ms: RepOption = 100.0,
    seed: SeedOption = 0,
    timeout: TimeoutOption = 600.0,
    profile: ProfileOption = None,
    table: TableOption = None,
    write_table: WriteTableOption = None,
    json: JsonOption = None,
    csv: CsvOption = None,
    plot: PlotOption = None,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Check and time a kernel on a real GPU, ROCm or CUDA.

    Results are compared with the kernel's reference first; a wrong one is shown and not timed.

    Exit codes: 0 all right, 1 a wrong result, 2 something could not be measured, or there is no GPU.

    Example:  kprof bench rmsnorm_residual_fp8 --case llama405b --provider triton,tuned,torch
    """
    from kprof.bench import plan as bench
    from kprof.targets import library as kernel_library

    loaded = kernel_library.load(kernel)
    plan = bench.Plan(
        target=_absolute(kernel),
        cases=[name for item in case for name in listed(item)],
        shape=assignments(shape, "--shape"),
        providers=listed(provider),
        config=assignments(config, "--config"),
        seed=seed,
        warmup_ms=warmup_ms,
        rep_ms=rep_ms,
        use_graph=graph,
        check_only=check_only,
        profile=profile,
        tuned=_tuned(loaded, table),
        timeout=timeout,
        given_limits=assignments(limit, "--limit"),
        measure_limits=measure_limits,
    )
    before = _table_before(write_table)
    report = _run(loaded, plan, quiet=quiet)
    alone = "-" in {json, csv, plot}
    if not quiet and not alone:
        _print(report, no_color=no_color)
    _write(report, json=json, csv=csv, plot=plot)
    if write_table is not None:
        _add_to_table(write_table, before, report)
    code, summary = bench.verdict(report)
    (log if alone else print)(f"bench {loaded.name} on {report.device.name}: {summary}")
    raise typer.Exit(code)


def _absolute(target: str) -> str:
    """The worker has another idea of the current folder when it changes: name files in full."""
    path, separator, function = target.partition("::")
    return os.path.abspath(path) + separator + function if path.endswith(".py") else target  # noqa: PTH100


def _run(kernel: "Kernel", plan: "Plan", *, quiet: bool) -> "BenchReport":
    from kprof.bench import plan as bench

    def progress(found: "Measurement") -> None:
        if not quiet:
            what = f"{found.timing.median:.4f} ms" if found.timing else found.status
            log(f"{found.kernel} {found.case} {found.provider}: {what}")

    try:
        return bench.run(kernel, plan, progress)
    except HardwareError as error:
        hint = f"without a GPU: kprof analyze kernel {kernel.name} --arch gfx942"
        raise HardwareError(error.message, hint="\n  ".join(filter(None, (error.hint, hint)))) from error


def _tuned(kernel: "Kernel", table: str | None) -> Any:
    """Configurations of the dispatch table for ``--provider tuned``; without one the listed ones are tried."""
    if table is None:
        return None
    from kprof.tuning import dispatch_table

    known = dispatch_table.read(table)

    def configuration(shape: Any, arch: str) -> Any:
        found = dispatch_table.choose(kernel, shape, arch, known)
        own = found.implementation == kernel.name and found.rule != "default"
        return found.config if own else None

    return configuration


def _write(report: "BenchReport", *, json: str | None, csv: str | None, plot: str | None) -> None:
    import msgspec

    from kprof.bench.output import as_csv, as_svg

    if json is not None:
        write_output(json, msgspec.json.format(msgspec.json.encode(report), indent=2))
    if csv is not None:
        write_output(csv, as_csv(report))
    if plot is not None:
        write_output(plot, as_svg(report))


def _table_before(path: str | None) -> Any:
    """The dispatch table that will be added to, read before anything is measured: a bad file must not cost the run."""
    from pathlib import Path

    from kprof.tuning import dispatch_table

    return dispatch_table.read(path) if path is not None and Path(path).exists() else None


def _add_to_table(path: str, before: Any, report: "BenchReport") -> None:
    import msgspec

    from kprof.tuning import dispatch_table

    after = dispatch_table.merge(before, dispatch_table.entries_of(report))
    write_output(path, msgspec.json.format(msgspec.json.encode(after), indent=2))


def _print(report: "BenchReport", *, no_color: bool) -> None:
    from rich.table import Table

    console = terminal(no_color=no_color)
    console.print(_heading(report), markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("case", "provider", "ms", "p10", "p90", "TFLOP/s", "GB/s", "% of limit", "error"):
        words = name in {"case", "provider"}
        table.add_column(name, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for found in report.measurements:
        table.add_row(*_row(found))
    console.print(table)
    for found in report.measurements:
        said = "; ".join(filter(None, [found.message, found.timing.note if found.timing else ""]))
        if said:
            console.print(f"{found.case} {found.provider}: {found.status}: {said}", markup=False)
    for source in dict.fromkeys(row["source"] for row in report.published):
        console.print(f"\npublished, not measured here: {source}", markup=False)
        for case in dict.fromkeys(r["case"] for r in report.published if r["source"] == source):
            rows = [r for r in report.published if (r["source"], r["case"]) == (source, case)]
            times = ", ".join(f"{r['provider']} {r['ms']:.4f} ms" for r in rows)
            console.print(f"  {case} on {rows[0]['device']}: {times}", markup=False)


def _heading(report: "BenchReport") -> str:
    device = report.device
    versions = ", ".join(f"{name} {version}" for name, version in device.versions.items())
    limits = device.limits
    known = [f"{limits.memory_gbs:,.0f} GB/s ({limits.source.get('memory_gbs')})"] if limits.memory_gbs else []
    for name in ("fp16", "bf16", "fp8"):
        if name in limits.tflops:
            source = limits.source.get(f"tflops {name}") or limits.source.get("tflops")
            known.append(f"{name} {limits.tflops[name]:,.0f} TFLOP/s ({source})")
    return f"{device.name} · {device.arch} · {versions}\nlimits: {', '.join(known) or 'not known'}"


def _row(found: "Measurement") -> list[str]:
    timing = found.timing
    times = [f"{t:.4f}" for t in (timing.median, timing.p10, timing.p90)] if timing else ["-", "-", "-"]
    percent = f"{found.percent:.0f} {found.bound}" if found.percent is not None else "-"
    worst = max((e.worst_ratio or 0 for e in found.errors), default=None)
    status = _MARKS.get(found.status, found.status.replace("_", " "))
    error = " ".join(filter(None, [f"{worst:.2g} tol" if worst is not None else "", status]))
    return [
        found.case,
        found.provider,
        *times,
        f"{found.tflops:.4g}" if found.tflops else "-",
        f"{found.gbs:,.0f}" if found.gbs else "-",
        percent,
        error,
    ]
