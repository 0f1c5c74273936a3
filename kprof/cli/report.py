"""``kprof report``: one page of everything that is known of a kernel."""

from pathlib import Path
from typing import Annotated

import typer

from kprof.cli._compile_options import (
    AllConfigsOption,
    CaseOption,
    ConstexprOption,
    CountersOption,
    EnvOption,
    GridOption,
    PassesOption,
    SignatureOption,
    ThreadTraceOption,
    TraceOption,
    grid_of,
)
from kprof.cli._completion import targets
from kprof.cli.common import ArchOption, ConfigOption, JobsOption, QuietOption, ShapeOption, ValueOption
from kprof.inputs.assignments import assignments
from kprof.inputs.supplied_values import supplied_values
from kprof.output.writing import log

HELP = "Write one HTML page of everything that is known of a kernel."

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}


def command(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET",
            help="As for kprof analyze kernel, or a report that it wrote with --json.",
            autocompletion=targets,
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="The page; - is standard output.", metavar="FILE.html")],
    arch: ArchOption = "",
    config: ConfigOption = [],
    shape: ShapeOption = [],
    case: CaseOption = None,
    all_configs: AllConfigsOption = False,
    signature: SignatureOption = None,
    constexpr: ConstexprOption = [],
    grid: GridOption = None,
    env: EnvOption = [],
    value: ValueOption = [],
    passes: PassesOption = False,
    counters: CountersOption = [],
    trace: TraceOption = [],
    thread_trace: ThreadTraceOption = None,
    kernel: Annotated[
        str | None, typer.Option("--kernel", help="Only this kernel, of a target with several.", metavar="NAME")
    ] = None,
    source: Annotated[
        list[Path],
        typer.Option(
            "--source", help="A folder with the sources of what is compiled already; the current one always counts."
        ),
    ] = [],
    jobs: JobsOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Write one HTML page of everything that is known of a kernel. It needs nothing but a browser.

    kprof report flash_attention --arch MI300X -o page.html

    kprof report ~/.triton/cache --source ~/project -o page.html
    """
    from kprof.api.report import report

    found = report(
        *targets,
        output=output,
        arch=arch,
        config=assignments(config, "--config"),
        shape=assignments(shape, "--shape"),
        case=case,
        all_configs=all_configs,
        signature=signature,
        constexprs=assignments(constexpr, "--constexpr"),
        grid=grid_of(grid),
        env=assignments(env, "--env"),
        values=supplied_values(value),
        passes=passes,
        counters=counters,
        trace=trace,
        thread_trace=thread_trace,
        kernel=kernel,
        sources=source,
        jobs=jobs,
        keep_going=True,
    )
    for failure in found.failures:
        log(f"kprof: {failure}")
    if output != "-":
        if found.kernels and not quiet:
            print(f"{output}: {Path(output).stat().st_size / 1000:,.0f} kB")
        print(found.summary)
    raise typer.Exit(_EXIT[found.document.verdict.status])
