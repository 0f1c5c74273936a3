"""``kprof counters``: what hardware counters say about kernels."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._completion import architectures, targets
from kprof.cli._format_options import format_options
from kprof.cli._groups import group
from kprof.cli._options import takes_options
from kprof.cli.common import QuietOption
from kprof.options.kernels import CounterPlanOptions
from kprof.output.headline import tell_first, tell_last
from kprof.output.writing import log
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.api.counters.answer import CounterAnswer
    from kprof.api.counters.diff import CounterDiff

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
        autocompletion=architectures,
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
    list[str],
    typer.Option("--run", metavar="N|TEXT", help="Only this run: its number, or a part of its path. May be repeated."),
]
Dispatches = Annotated[list[int], typer.Option("--dispatch", metavar="ID", help="Only this dispatch. May be repeated.")]
By = Annotated[
    str, typer.Option("--by", metavar="FIELDS", help="Put launches together that agree in these: --by name,grid.")
]
_BY = "agent,name,grid,workgroup,lds,vgprs"


@app.command()
@format_options("metrics")
def metrics(
    paths: Paths,
    arch: Arch = None,
    kernel: KernelName = "",
    run: Runs_ = [],
    dispatch: Dispatches = [],
    by: By = _BY,
    top: Top = 3,
    pmc: Annotated[bool, typer.Option("--pmc", help="Only the lines that collect what is missing.")] = False,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """Derived metrics of each kernel. Missing counters leave metrics out, and are listed.

    Launches that differ in grid, workgroup, LDS, VGPRs or agent count as different kernels. Several runs (one a
    PATH) are shown side by side.

    Example:  kprof counters metrics results/ --arch MI300X --kernel attention
    """
    from kprof.api.counters.metrics import counter_metrics
    from kprof.reporters.metrics_text import collecting, page

    found = counter_metrics(*paths, arch=arch, kernel=kernel, run=run, dispatch=dispatch, by=by)
    _tell_issues(found)
    if pmc:
        print("\n".join(collecting(found.missing)))
        return

    def text() -> None:
        summary = found.summary
        if not quiet:
            tell_first(summary)
            print("\n".join(page(found.chosen, found.kernels, found.missing, top)))
        tell_last(summary, alone=quiet)

    # Of thousands of kernels it takes longer to make than to show three of them.
    outputs.write(lambda: found.document, text)


@app.command()
@format_options("roofline")
def roofline(
    paths: Paths,
    arch: Arch = None,
    kernel: KernelName = "",
    run: Runs_ = [],
    dispatch: Dispatches = [],
    by: By = _BY,
    top: Top = 12,
    svg: Annotated[
        str | None, typer.Option("--svg", metavar="PATH", help="Write the picture; - is standard output.")
    ] = None,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """Kernels under the GPU's roofline: what bounds each, and how near it is.

    Example:  kprof counters roofline results/ --arch MI300X --svg roofline.svg
    """
    from kprof.api.counters.roofline import counter_roofline
    from kprof.reporters._measured_kernels import heading, remark
    from kprof.reporters.roofline_text import page

    found = counter_roofline(*paths, arch=arch, kernel=kernel, run=run, dispatch=dispatch, by=by)
    _tell_issues(found)
    if svg is not None:
        found.draw(svg)

    def text() -> None:
        if svg == "-":
            return
        if not quiet:
            remarks = [remark(found.chosen, one) for one in found.chosen.kernels]
            print("\n".join([*heading(found.chosen), "", *page(found.points, found.roofs, top, remarks)]))
        print(found.summary)

    outputs.write(found.document, text)


@app.command()
@format_options("counters-diff")
def diff(
    before: Annotated[str, typer.Argument(help="The run to compare with: files of any ROCm profiler.")],
    after: Annotated[str, typer.Argument(help="The run in question.")],
    fail_over: Annotated[
        float | None,
        typer.Option("--fail-over", help="Exit 1 when the kernels' time grew by more than this many percent."),
    ] = None,
    arch: Arch = None,
    kernel: KernelName = "",
    dispatch: Dispatches = [],
    by: By = _BY,
    top: Top = 3,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """What changed between two profiled runs: the same kernels, metric by metric, with their spread.

    Times are for as many dispatches as the first run has. With --fail-over an incomplete run, or a kernel without a
    partner or without times, gives "cannot tell" and exit code 2. What was compared of complete runs and is too slow
    already gives 1.

    Example:  kprof counters diff before/ after/ --kernel attention --fail-over 3
    """
    from kprof.api.counters.diff import counter_diff
    from kprof.reporters.counters_diff_text import page

    found = counter_diff(before, after, arch=arch, kernel=kernel, dispatch=dispatch, by=by)
    _tell_issues(found)

    def text() -> None:
        if not quiet:
            tell_first(found.summary)
            print("\n".join(page(found.before, found.after, found.comparison, top)))
        tell_last(found.summary, alone=quiet)

    outputs.write(found.document, text)
    if fail_over is None:
        return
    of_all = not found.cannot_tell or found.cannot_tell == found.comparison.cannot_tell
    if of_all and (found.grown_percent or 0.0) > fail_over:
        raise typer.Exit(1)
    if found.cannot_tell:
        log(f"kprof: cannot tell whether it is slower: {found.cannot_tell}")
        raise typer.Exit(2)


@app.command()
@takes_options("counters-plan")
def plan(
    target: Annotated[
        str,
        typer.Argument(
            help="A finding (KP301 or lds-bank-conflicts), a metric, or a kernel as kprof analyze kernel takes it.",
            autocompletion=targets,
        ),
    ],
    options: CounterPlanOptions,
    outputs: Outputs,
) -> None:
    """Counters that decide a finding or a kernel's findings, and the passes that collect them.

    Each pass is one run of the program. -o writes them as input files: rocprofv3 -i FOLDER/rocprofv3.yaml.

    Example:  kprof counters plan flash_attention --arch MI300X -o counters/
    """
    from kprof.api.counters.plan import counter_plan
    from kprof.reporters.counters_plan_text import page

    found = counter_plan(target, options=options)

    def text() -> None:
        if not outputs.quiet:
            print("\n".join(page(found.plan)))
        tell_last(found.summary, alone=outputs.quiet)

    outputs.write(found.document, text)


def _tell_issues(found: "CounterAnswer | CounterDiff") -> None:
    for issue in found.issues:
        if issue.severity != "note":
            log(f"kprof: {issue.severity}: {issue.message} ({issue.path.replace(chr(92), '/').rsplit('/', 1)[-1]})")
    for words in found.left_out:
        log(f"kprof: warning: {words}")
