"""``kprof check``: the gate for continuous integration."""

from pathlib import Path
from typing import Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.cli.common import ArchOption, JobsOption, NoColorOption, QuietOption, VerboseOption
from kprof.output.colour import coloured
from kprof.output.headline import screen_width
from kprof.output.writing import log, print_styled
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "Compare kernels with budgets and a baseline: the gate for CI."

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}


@format_options("check")
def command(
    config: Annotated[
        Path | None,
        typer.Option("--config-file", help="kprof.toml or pyproject.toml; by default looked for here and above."),
    ] = None,
    arch: ArchOption = "",
    baseline: Annotated[
        Path | None, typer.Option("--baseline", help="Baseline file instead of the configuration's.", metavar="PATH")
    ] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Write the present state to the baseline file; judge nothing.")
    ] = False,
    outputs: Outputs = NO_OUTPUTS,
    advise: Annotated[
        float,
        typer.Option("--advise", help="Seconds to look, by recompiling, for knobs that cure a regression.", min=0),
    ] = 0.0,
    jobs: JobsOption = 0,
    verbose: VerboseOption = 0,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Compile the kernels that [tool.kprof] names and compare them with budgets and a baseline. No GPU is used.

    Exit codes: 0 nothing is worse, 1 a regression, 2 cannot tell.

    Example:  kprof check --update-baseline, once; then kprof check in every pull request
    """
    from kprof.api.check import check

    found = check(config, arch=arch, baseline=baseline, update_baseline=update_baseline, advise=advise, jobs=jobs)
    no_baseline = found.baseline is not None and not found.baseline.exists()
    for note in found.notes if update_baseline else found.notes[:no_baseline]:
        log(f"kprof: {note}")
    if update_baseline:
        print(found.summary)
        raise typer.Exit(_EXIT[found.document.verdict.status])

    def text() -> None:
        from kprof.reporters.check_text import CheckTextReporter

        if quiet:
            print(found.summary)
            return
        reporter = CheckTextReporter(colour=coloured(no_color=no_color), verbose=verbose, width=screen_width())
        print_styled(reporter.render(found.document))

    outputs.write(found.document, text)
    raise typer.Exit(_EXIT[found.document.verdict.status])
