"""``kprof report``: one page of everything that is known about a kernel."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from kprof.cli._compile_options import NO_OPTIONS, KernelOption, compile_options
from kprof.cli._completion import targets
from kprof.cli.common import JobsOption, QuietOption
from kprof.output.writing import log

HELP = "Write one HTML page of everything that is known about a kernel."

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}


@compile_options()
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
    compile_with: Mapping[str, Any] = NO_OPTIONS,
    kernel: KernelOption = None,
    source: Annotated[
        list[Path],
        typer.Option(
            "--source", help="A folder with the sources of what is compiled already; the current one always counts."
        ),
    ] = [],
    jobs: JobsOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Write one HTML page of everything that is known about a kernel. It needs nothing but a browser.

    kprof report flash_attention --arch MI300X -o page.html

    kprof report ~/.triton/cache --source ~/project -o page.html
    """
    from kprof.api.report import report

    found = report(
        *targets,
        output=output,
        **compile_with,
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
