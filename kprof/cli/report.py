"""``kprof report``: write one HTML page with all results for a kernel, or all measurements of a run."""

from pathlib import Path
from typing import Annotated

import typer

from kprof.cli._arguments import targets
from kprof.cli._options import takes_options
from kprof.cli._programs import program_of
from kprof.errors import KprofError, TargetError
from kprof.options.kernels import ReportPageOptions
from kprof.output.headline import wrapped
from kprof.output.quantities import decimal_bytes
from kprof.output.writing import log
from kprof.reporters.outputs import Outputs

HELP = "Write one HTML page with all results for a kernel, or for a measured run."

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}


@takes_options(compiles=True)
def command(
    options: ReportPageOptions,
    outputs: Outputs,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET",
            help="As for kprof analyze kernel, or a report that it wrote with --json. Without a target, the page shows "
            "the run that --trace and --counters measured.",
            autocompletion=targets,
        ),
    ] = None,
) -> None:
    """Write one self-contained HTML page with all results for a kernel, or for a measured run.

    kprof report flash_attention --arch MI300X -o page.html

    kprof report ~/.triton/cache --source ~/project -o page.html

    kprof report my_script.py -o page.html -- ARGS

    kprof report --trace trace.json.gz --counters counters/ -o run.html
    """
    named, program = program_of(targets or [])
    if options.output is None:
        raise KprofError("no output file is named", hint="-o page.html")
    if not targets:
        _run(options, options.output, outputs)
        return
    if options.target:
        raise TargetError("--target can only be used for the page of a run", hint="Omit the positional target.")
    from kprof.api.report import report

    found = report(*named, options=options, keep_going=True, program=program)
    for failure in found.failures:
        log(f"kprof: {failure}")
    if options.output != "-":
        if found.kernels and not outputs.quiet:
            print(f"{options.output}: {decimal_bytes(Path(options.output).stat().st_size)}")
        print(wrapped(found.summary))
    raise typer.Exit(_EXIT[found.document.verdict.status])


def _run(options: ReportPageOptions, output: str, outputs: Outputs) -> None:
    """Write the page of a run, from traces and counters."""
    from kprof.api.run_report import run_report

    if options.max_size is not None:
        raise TargetError(
            "--max-size can only be used for a page of kernels",
            hint="Leave it out: a page of traces and counters stays below 3 MB by itself.",
        )
    if options.thread_trace and options.target:
        raise TargetError("--thread-trace can only be used for a page of kernels", hint="Leave it out.")
    found = run_report(options=options)
    for note in (*(f"left out: {one.path}: {one.reason}" for one in found.left_out), *found.notes):
        log(f"kprof: {note}")
    if output != "-":
        if not outputs.quiet:
            for name in dict.fromkeys((Path(output).name, *found.kernel_pages.values())):
                page = Path(output).with_name(name)
                print(f"{page}: {decimal_bytes(page.stat().st_size)}")
        print(wrapped(found.summary))
