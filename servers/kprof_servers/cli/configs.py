"""``kprof configs``: which tuned files a server looks for when it serves a model."""

from typing import Annotated

import typer

from kprof.cli._completion import architectures
from kprof.cli._format_options import format_options
from kprof.cli.common import NoColorOption, QuietOption, SchedulerOption, VerboseOption
from kprof.errors import KprofError
from kprof.output.colour import coloured
from kprof.output.headline import screen_width
from kprof.output.writing import log, print_styled
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "List the tuned files that a server looks for when it serves a model."

_FOR_RANKING = (
    "--trials, --jobs, --scheduler and --alternatives are for --rank, --verify and --output: without them nothing is "
    "compiled"
)
_EXIT = {"ok": 0, "missing": 1, "cannot_tell": 2}


@format_options("server-configs")
def command(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A config.json of Hugging Face, or its folder. Nothing is downloaded."),
    ],
    server: Annotated[str, typer.Option("--server", help="vllm, sglang or aiter.", metavar="NAME")],
    arch: Annotated[
        str,
        typer.Option("--arch", "-a", help="The GPU: MI300X, gfx1201.", metavar="GPU", autocompletion=architectures),
    ],
    tp: Annotated[int, typer.Option("--tp", help="GPUs that share a layer.", min=1)] = 1,
    ep: Annotated[
        int, typer.Option("--ep", help="Groups that experts are distributed over; it divides --tp.", min=1)
    ] = 1,
    quant: Annotated[
        str | None,
        typer.Option(
            "--quant",
            help="bf16, fp8, fp8-block, int8, w4a16, mxfp4 (experts) or mxfp4-all; the file's own when not given.",
            metavar="NAME",
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            help="Rows of a step, comma separated; from decoding to filling a prompt in when not given.",
            metavar="ROWS[,ROWS]",
        ),
    ] = None,
    server_path: Annotated[
        str | None,
        typer.Option(
            "--server-path",
            help="A checkout of the server, or the folder that it is installed in; this Python's when not given.",
            metavar="FOLDER",
        ),
    ] = None,
    device_name: Annotated[
        str | None,
        typer.Option("--device-name", help="What the driver calls the GPU, where it is not as usual.", metavar="NAME"),
    ] = None,
    triton: Annotated[
        str | None,
        typer.Option(
            "--triton", help="The server's version of Triton, by which SGLang has its files.", metavar="VERSION"
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail where a file is not there for the shape.")] = False,
    rank: Annotated[
        bool,
        typer.Option(
            "--rank", help="Also predict what each batch takes, now and with a proposal. Compiles the server's kernels."
        ),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="Folder for the files that are not there, with proposals; ranks.", metavar="DIR"
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Also measure the short lists on this machine's GPU; the fastest is proposed."),
    ] = False,
    alternatives: Annotated[
        bool,
        typer.Option(
            "--alternatives", help="Also rank other families for the same weights, of which AITER's caller takes one."
        ),
    ] = False,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            help="Configurations to look at for each batch, where no tuned file of another shape helps.",
            min=1,
            max=10_000,
            metavar="N",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Worker processes; 0 means one a core.", min=0, metavar="N")
    ] = 0,
    scheduler: SchedulerOption = None,
    outputs: Outputs = NO_OUTPUTS,
    verbose: VerboseOption = 0,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
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
    from kprof_servers.server_configs import BATCHES, TRIALS, server_configs
    from kprof_servers.server_configs_text import ServerConfigsTextReporter

    ranks = rank or verify or output is not None
    if not ranks and (trials is not None or jobs or scheduler is not None or alternatives):
        raise KprofError(_FOR_RANKING)
    with Reporter(quiet=quiet) as progress:
        found = server_configs(
            model,
            server=server,
            arch=arch,
            tp=tp,
            ep=ep,
            quant=quant,
            batches=BATCHES if batch is None else _numbers(batch),
            server_path=server_path,
            device_name=device_name,
            triton=triton,
            strict=strict,
            rank=ranks,
            trials=trials or TRIALS,
            jobs=jobs,
            scheduler=scheduler,
            alternatives=alternatives,
            verify=verify,
            report=None if quiet else log,
            progress=lambda _name, state: progress.show(state),
        )
    if output is not None:
        written = found.write(output)
        for line in [f"wrote {place}" for place in written] or ["nothing was written: no missing file has a proposal"]:
            log(line)

    def text() -> None:
        reporter = ServerConfigsTextReporter(screen_width(), colour=coloured(no_color=no_color), verbose=verbose)
        print_styled(reporter.verdict(found.document) if quiet else reporter.render(found.document))

    outputs.write(found.document, text)
    raise typer.Exit(_EXIT[found.document.verdict.status])


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise KprofError(f"--batch takes numbers of rows, got {text[:80]!r}")
    return [int(part) for part in parts]
