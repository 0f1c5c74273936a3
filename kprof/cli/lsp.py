"""``kprof lsp``: findings, costs of lines and better configurations in your editor."""

from typing import Annotated

import typer

from kprof.api.defaults import DEFAULT_GPU
from kprof.cli._completion import architectures

HELP = "Serve your editor (Language Server Protocol): findings on save, what a line costs, faster configurations."


def command(
    arch: Annotated[
        str,
        typer.Option("--arch", "-a", help="Architecture or product.", metavar="ARCH", autocompletion=architectures),
    ] = DEFAULT_GPU,
    jobs: Annotated[int, typer.Option("-j", "--jobs", help="Questions at a time, 0 for one a core.", min=0)] = 0,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds that one question may take.", min=1)] = 120.0,
    budget: Annotated[float, typer.Option("--budget", help="Seconds of a search for faster knobs.", min=1)] = 30.0,
) -> None:
    """Serve an editor on standard input and output. It starts this command itself; see docs/editor.md. No GPU is used.

    A Python file with a KERNEL is imported and compiled when it is saved: findings become diagnostics, hovering a line
    tells its share of the modelled time, its instructions and spills, and an action looks for a faster configuration
    and pastes it.
    """
    from kprof.api.live.editor_serving import serve

    serve(arch, jobs=jobs, timeout=timeout, seconds=budget)
