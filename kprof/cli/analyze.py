"""``kprof analyze``: what a GPU will do with a kernel."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._compile_options import (
    AllConfigsOption,
    CaseOption,
    ConstexprOption,
    EnvOption,
    GridOption,
    PassesOption,
    SignatureOption,
    TargetsArgument,
    compile_options,
)
from kprof.cli._format_options import format_options
from kprof.cli._groups import group
from kprof.cli.common import (
    ArchOption,
    ConfigOption,
    JobsOption,
    NoColorOption,
    QuietOption,
    ShapeOption,
    VerboseOption,
)
from kprof.errors import KprofError
from kprof.output.terminal import terminal
from kprof.output.writing import log, write_output
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.details import Details
    from kprof.document import KernelReport, Report
    from kprof.findings import Severity
    from kprof.targets.loaded import LoadedKernel

HELP = "Compile or read a kernel and show what holds it back."

app = group()

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}

FailOnOption = Annotated[
    str | None, typer.Option("--fail-on", help="Exit with 1 on a finding this bad: note, warning or error.")
]


@app.callback()
def _group() -> None:
    """Compile or read a kernel and show what holds it back."""


@app.command()
@format_options("report")
def kernel(
    targets: TargetsArgument,
    arch: ArchOption = "",
    config: ConfigOption = [],
    shape: ShapeOption = [],
    case: CaseOption = None,
    all_configs: AllConfigsOption = False,
    signature: SignatureOption = None,
    constexpr: ConstexprOption = [],
    grid: GridOption = None,
    env: EnvOption = [],
    passes: PassesOption = False,
    dump: Annotated[
        Path | None, typer.Option("--dump", help="Write each stage, and with --passes each pass, to this folder.")
    ] = None,
    timeline: Annotated[
        str | None,
        typer.Option("--timeline", help="Write a SIMD's modelled wavefronts for ui.perfetto.dev.", metavar="PATH"),
    ] = None,
    fail_on: FailOnOption = None,
    jobs: JobsOption = 0,
    outputs: Outputs = NO_OUTPUTS,
    verbose: VerboseOption = 0,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Show what an AMD GPU will do with a kernel and what holds it back. No GPU is used.

    FILE.py::FUNCTION imports the file; every other target is only read. kprof rules explain KP301 says what a finding
    means and what to try, kprof advise tries it, kprof report TARGET -o page.html writes everything on one page.

    Example:  kprof analyze kernel my.py::fn --arch MI300X --signature '*fp16,*fp16,i32:16' --constexpr BLOCK=1024
    """
    from kprof.targets.dump import write_stages
    from kprof.targets.resolver import load

    options = compile_options(
        arch=arch,
        config=config,
        shape=shape,
        case=case,
        all_configs=all_configs,
        signature=signature,
        constexpr=constexpr,
        grid=grid,
        env=env,
        passes=passes,
        jobs=jobs,
    )
    severity = _severity(fail_on)
    from kprof_analyzers.pipeline import analyze, report

    entries: list[KernelReport] = []
    seen: list[tuple[str, LoadedKernel]] = []
    keep = timeline is not None or outputs.wants("html")
    problems: list[str] = []
    for target in targets:
        try:
            for loaded in load(target, options):
                entries.append(analyze(loaded, model=True))
                if keep:
                    seen.append((target, loaded))
                if dump is not None:
                    write_stages(loaded, dump)
        except KprofError as error:
            problems.append(str(error))
            log(f"kprof: {error}")
    document = report(entries, failed=problems, fail_on=severity)
    if timeline is not None:
        _write_timeline(timeline, [loaded for _, loaded in seen])
    show = partial(_show, document, verbose=verbose, quiet=quiet, no_color=no_color)
    outputs.write(document, show, partial(_details, seen))
    raise typer.Exit(_EXIT[document.verdict.status])


def _write_timeline(path: str, kernels: "list[LoadedKernel]") -> None:
    from kprof_analyzers.model.wave_timeline import wave_timeline
    from kprof_analyzers.pipeline import facts_of

    write_output(path, "".join(wave_timeline(facts_of(loaded)[0] for loaded in kernels)))


def _severity(name: str | None) -> "Severity | None":
    from kprof.findings import Severity

    if name is None:
        return None
    try:
        return Severity(name)
    except ValueError:
        raise KprofError(f"--fail-on takes note, warning or error, got {name!r}") from None


def _details(kernels: "Sequence[tuple[str, LoadedKernel]]") -> "dict[int, Details]":
    from kprof.api.report_entries import sources_of
    from kprof_analyzers.details import details_of
    from kprof_analyzers.pipeline import facts_of

    folders = (Path.cwd(),)
    return {
        position: details_of(facts_of(loaded)[0], sources_of(target, folders))
        for position, (target, loaded) in enumerate(kernels)
    }


def _show(document: "Report", *, verbose: int, quiet: bool, no_color: bool) -> None:
    from kprof.reporters.console import ConsoleReporter

    reporter = ConsoleReporter(terminal(no_color=no_color), verbose)
    if quiet:
        reporter.verdict(document)
    else:
        reporter.show(document)
