"""``kprof check``: compare kernels with budgets and a baseline in continuous integration."""

from pathlib import Path
from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.options.searches import CheckOptions
from kprof.output.colour import coloured
from kprof.output.headline import screen_width
from kprof.output.writing import log, print_styled
from kprof.reporters.outputs import Outputs

HELP = "Compare kernels with budgets and a baseline: the gate for CI."

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}


@takes_options("check", compiles=True)
def command(
    options: CheckOptions,
    outputs: Outputs,
    config_file: Annotated[
        Path | None,
        typer.Option("--config-file", help="kprof.toml or pyproject.toml; by default searched here and above."),
    ] = None,
) -> None:
    """Compile the kernels that [tool.kprof] names and compare them with budgets and a baseline. No GPU is used.

    Exit codes: 0 nothing got worse, 1 a regression, 2 cannot tell.

    Example:  kprof check --init, once; then kprof check in every pull request
    """
    from kprof.api.check import check

    found = check(config_file, options=options)
    no_baseline = found.baseline is not None and not found.baseline.exists()
    writes = options.update_baseline or options.init
    for note in found.notes if writes else found.notes[:no_baseline]:
        log(f"kprof: {note}")
    if writes:
        print(found.summary)
        raise typer.Exit(_EXIT[found.document.verdict.status])

    def text() -> None:
        from kprof.reporters.check_text import CheckTextReporter

        if outputs.quiet:
            print(found.summary)
            return
        reporter = CheckTextReporter(
            colour=coloured(no_color=outputs.no_color), verbose=outputs.verbose, width=screen_width()
        )
        print_styled(reporter.render(found.document))

    outputs.write(found.document, text)
    raise typer.Exit(_EXIT[found.document.verdict.status])
