"""``kprof configs``: which tuned files a server looks for when it serves a model."""

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
    "--trials, --jobs, --scheduler and --alternatives are for --rank, --verify and --output: without them nothing is "
    "compiled"
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
    """List the tuned files that a server looks for when it serves a model, and say which of them are there.

    The server's own lookup functions are called, taken out of its code; nothing else of it runs, and no GPU is
    needed. Without a checkout and an installed server the names are those of a table, and what is there is not known.

    Exit codes: 0 all could be determined, 1 a file is not there (only with --strict), 2 not all could be determined.

    With --rank the server's own kernel is compiled, and the model predicts what each batch takes with what would run,
    and with a proposal. What was answered is kept: the same command goes on from there. With --verify the short list
    is measured, what runs today too, and -o writes the fastest.

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
