"""``kprof report``: one page of everything that is known about a kernel, or of what was measured of a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from kprof.cli._compile_options import NO_OPTIONS, KernelOption, compile_options
from kprof.cli._completion import targets
from kprof.cli._programs import program_of
from kprof.cli.common import JobsOption, QuietOption
from kprof.output.sizes import decimal_bytes
from kprof.output.writing import log

HELP = "Write one HTML page of everything that is known about a kernel, or about a run."

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}


@compile_options()
def command(
    output: Annotated[str, typer.Option("--output", "-o", help="The page; - is standard output.", metavar="FILE.html")],
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET",
            help="As for kprof analyze kernel, or a report that it wrote with --json. Without one the page is of "
            "the run that --trace and --counters are of.",
            autocompletion=targets,
        ),
    ] = None,
    linked: Annotated[
        list[str],
        typer.Option(
            "--target",
            help="A kernel in the traces of a run, as for kprof analyze kernel: the run's page links to its own.",
            metavar="TARGET",
            autocompletion=targets,
        ),
    ] = [],
    compile_with: Mapping[str, Any] = NO_OPTIONS,
    kernel: KernelOption = None,
    source: Annotated[
        list[Path],
        typer.Option(
            "--source", help="A folder with the sources of what is compiled already; the current one always counts."
        ),
    ] = [],
    max_size: Annotated[
        float | None,
        typer.Option(
            "--max-size",
            help="Megabytes that the page of kernels should stay below, 1 by default; 0: everything of all of them.",
            metavar="MB",
        ),
    ] = None,
    jobs: JobsOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Write one HTML page of everything that is known about a kernel. It needs nothing but a browser.

    kprof report flash_attention --arch MI300X -o page.html

    kprof report ~/.triton/cache --source ~/project -o page.html

    kprof report my_script.py -o page.html -- ARGS

    kprof report --trace trace.json.gz --counters counters/ -o run.html
    """
    named, program = program_of(targets or [])
    if not targets:
        if max_size is not None:
            from kprof.errors import TargetError

            raise TargetError("--max-size is for a page of kernels", hint="That of a run stays below 3 MB by itself.")
        _run(output, linked, compile_with, {"kernel": kernel, "sources": source}, jobs, quiet=quiet)
        return
    if linked:
        from kprof.errors import TargetError

        raise TargetError("--target is for the page of a run", hint="Leave the target before it out.")
    from kprof.api.report import report

    found = report(
        *named,
        program=program,
        output=output,
        max_size=max_size,
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
            print(f"{output}: {decimal_bytes(Path(output).stat().st_size)}")
        print(found.summary)
    raise typer.Exit(_EXIT[found.document.verdict.status])


def _run(
    output: str, linked: list[str], options: Mapping[str, Any], others: Mapping[str, Any], jobs: int, *, quiet: bool
) -> None:
    """A page without a kernel: of traces and counters."""
    from kprof.api.run_report import run_report
    from kprof.errors import TargetError

    own = {"arch", "trace", "counters"}
    compiling = {name: value for name, value in {**options, **others}.items() if value and name not in own}
    names = {"constexprs": "constexpr", "values": "value", "sources": "source"}
    idle = [f"--{names.get(name, name).replace('_', '-')}" for name in compiling]
    if linked and options.get("thread_trace"):
        raise TargetError("a thread trace is of one kernel: it is of no use to the page of a run", hint="Leave it out.")
    if idle and not linked:
        raise TargetError(f"without a target there is no use for {', '.join(idle)}", hint="Name the kernel.")
    if not (options.get("trace") or options.get("counters")):
        raise TargetError("there is nothing to report on", hint="Name a kernel, or --trace and --counters of a run.")
    found = run_report(
        trace=options["trace"],
        counters=options["counters"],
        output=output,
        arch=options["arch"] or None,
        jobs=jobs,
        targets=linked,
        **compiling,
    )
    for note in (*(f"left out: {one.path}: {one.reason}" for one in found.left_out), *found.notes):
        log(f"kprof: {note}")
    if output != "-":
        if not quiet:
            for name in dict.fromkeys((Path(output).name, *found.kernel_pages.values())):
                page = Path(output).with_name(name)
                print(f"{page}: {decimal_bytes(page.stat().st_size)}")
        print(found.summary)
