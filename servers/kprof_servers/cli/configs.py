"""``kprof configs``: list the tuned files that a server looks for when it serves a model."""

import dataclasses
from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.errors import KprofError
from kprof.output.colour import coloured
from kprof.output.headline import screen_width
from kprof.output.writing import log, print_styled
from kprof.reporters.outputs import Outputs
from kprof_servers.options import ServerConfigsCommandOptions

HELP = "List the tuned files that a server looks for when it serves a model."

_FOR_RANKING = (
    "--trials, --jobs, --scheduler and --alternatives need --rank, --verify or --output: without these options nothing "
    "is compiled"
)
_EXIT = {"ok": 0, "missing": 1, "cannot_tell": 2}


@takes_options("server-configs")
def command(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A config.json of Hugging Face, or its folder. Nothing is downloaded."),
    ],
    options: ServerConfigsCommandOptions,
    outputs: Outputs,
) -> None:
    """List the tuned files that a server looks for when it serves a model, and whether they exist.

    The command calls the server's own lookup functions, extracted from its code. No other code of the server runs, and
    no GPU is needed. Without a checkout or an installed server, file names come from a table, and whether the files
    exist is unknown.

    Exit codes: 0 everything could be determined, 1 a file is missing (only with --strict), 2 something could not be
    determined.

    With --rank the server's own kernel is compiled, and the model predicts the time of each batch with the current
    configuration and with a proposal. Results are cached, so a repeated command continues where the last one stopped.
    With --verify the short list and the current configuration are measured, and -o writes the fastest one.

    Example:  kprof configs DeepSeek-V3/ --server vllm --arch MI300X --tp 8 --server-path ~/vllm -o files/
    """
    from kprof.reporters.tune_progress import Reporter
    from kprof_servers.server_configs import server_configs
    from kprof_servers.server_configs_text import ServerConfigsTextReporter

    ranks = options.rank or options.verify or options.output is not None
    if not ranks and {"trials", "jobs", "scheduler", "alternatives"} & options.given().keys():
        raise KprofError(_FOR_RANKING)
    with Reporter(quiet=outputs.quiet) as progress:
        found = server_configs(
            model,
            options=dataclasses.replace(options, rank=ranks),
            report=None if outputs.quiet else log,
            progress=lambda _name, state: progress.show(state),
        )
    if options.output is not None:
        written = found.write(options.output)
        for line in [f"wrote {place}" for place in written] or ["nothing was written: no missing file has a proposal"]:
            log(line)

    def text() -> None:
        colour = coloured(no_color=outputs.no_color)
        reporter = ServerConfigsTextReporter(screen_width(), colour=colour, verbose=outputs.verbose)
        print_styled(reporter.verdict(found.document) if outputs.quiet else reporter.render(found.document))

    outputs.write(found.document, text)
    raise typer.Exit(_EXIT[found.document.verdict.status])
