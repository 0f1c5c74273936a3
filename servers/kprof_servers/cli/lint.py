"""``kprof lint``: check tuned-configuration files of AITER, vLLM and SGLang, and lists of ``triton.Config``."""

from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.cli._plug_ins import tell_broken
from kprof.output.colour import coloured
from kprof.output.headline import screen_width
from kprof.output.writing import log, print_styled
from kprof.reporters.outputs import Outputs
from kprof_servers.options import LintConfigsOptions

HELP = "Check tuned-configuration files (AITER, vLLM, SGLang, triton.Config)."

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}


@takes_options("lint")
def command(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Files, or folders that are searched for such files.")
    ],
    options: LintConfigsOptions,
    outputs: Outputs,
) -> None:
    """Check tuned-configuration files: text, keys, values that the GPU does not support, and unused buckets.

    Files are only read, including Python files. With --compile each bucket is also compiled; no GPU is used.

    Exit codes: 0 fine, 1 a finding at or above --fail-on, 2 cannot tell.

    Example:  kprof lint aiter/ops/triton/configs --compile
    """
    from kprof_servers.lint_configs import lint_configs

    found = lint_configs(*paths, options=options)
    for failure in found.failures:
        log(f"kprof: {failure}")

    def text() -> None:
        from kprof_servers.lint_text import LintTextReporter

        if outputs.quiet:
            print(found.summary)
            return
        colour = coloured(no_color=outputs.no_color)
        reporter = LintTextReporter(colour=colour, verbose=outputs.verbose, width=screen_width())
        print_styled(reporter.render(found.document))

    outputs.write(found.document, text)
    raise typer.Exit(tell_broken(_EXIT[found.document.verdict.status]))
