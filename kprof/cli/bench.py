"""``kprof bench``: run a kernel on the GPU of this machine."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._completion import cases, targets
from kprof.cli._format_options import format_options
from kprof.cli.common import ConfigOption, NoColorOption, QuietOption, ShapeOption
from kprof.inputs.assignments import assignments
from kprof.output.headline import tell_first, tell_last
from kprof.output.writing import log
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.api.measure import Measurement

HELP = "Check and time a kernel on a real GPU, against torch and other libraries."

_OPTION = typer.Option
KernelArgument = Annotated[
    str, typer.Argument(metavar="KERNEL", help="A bundled kernel, or a file with a KERNEL.", autocompletion=targets)
]
CaseOption = Annotated[
    list[str],
    _OPTION(
        "--case", help="Named shapes: a case, the first part of several (llama405b), or all.", autocompletion=cases
    ),
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
ValuesOption = Annotated[
    str, _OPTION("--values", help="Numbers in the inputs: own, zeros, same, integers or normal.", metavar="KIND")
]
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
GpusOption = Annotated[
    int, _OPTION("--gpus", help="GPUs that run it at the same time: 2 for both GCDs of an MI250X.", min=1)
]
PlotOption = Annotated[str | None, _OPTION("--plot", help="Draw the rates over the cases (SVG).", metavar="PATH")]


@format_options("bench")
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
    values: ValuesOption = "own",
    timeout: TimeoutOption = 600.0,
    profile: ProfileOption = None,
    table: TableOption = None,
    write_table: WriteTableOption = None,
    gpus: GpusOption = 1,
    outputs: Outputs = NO_OUTPUTS,
    plot: PlotOption = None,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Check and time a kernel on a real GPU, ROCm or CUDA.

    Results are compared with the kernel's reference first; a wrong one is shown and not timed.

    Exit codes: 0 all right, 1 a wrong result, 2 something could not be measured, or there is no GPU.

    Example:  kprof bench rmsnorm_residual_fp8 --case llama405b --provider triton,tuned,torch
    """
    from kprof.api.measure import measure
    from kprof.reporters.bench_text import show

    found = measure(
        kernel,
        case=case,
        shape=assignments(shape, "--shape"),
        provider=provider,
        config=assignments(config, "--config"),
        limits=assignments(limit, "--limit"),
        measure_limits=measure_limits,
        check_only=check_only,
        graph=graph,
        warmup_ms=warmup_ms,
        rep_ms=rep_ms,
        seed=seed,
        values=values,
        timeout=timeout,
        profile=profile,
        table=table,
        write_table=write_table,
        gpus=gpus,
        progress=None if quiet else _progress,
    )
    alone = outputs.to_stdout or plot == "-"
    if not (quiet or alone):
        tell_first(found.summary)
    outputs.write(found.document, lambda: None if quiet or alone else show(found.document, no_color=no_color))
    if plot is not None:
        found.draw(plot)
    if alone:
        log(found.summary)
    else:
        tell_last(found.summary, alone=quiet)
    raise typer.Exit(found.exit_code)


def _progress(found: "Measurement") -> None:
    what = f"{found.timing.median:.4f} ms" if found.timing else found.status
    log(f"{found.kernel} {found.case} {found.who}: {what}")
