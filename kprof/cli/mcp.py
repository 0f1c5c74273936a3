"""``kprof mcp``: kprof's questions as tools for coding agents."""

from typing import Annotated

import typer

HELP = "Serve kprof's questions to coding agents (Model Context Protocol, on standard input and output)."


def command(
    root: Annotated[
        list[str],
        typer.Option(
            "--root", help="A folder whose files are read; repeatable. The current one by default.", metavar="DIR"
        ),
    ] = [],
    allow_run: Annotated[
        bool, typer.Option("--allow-run", help="Import Python files that are named, and run programs to record them.")
    ] = False,
    jobs: Annotated[int, typer.Option("-j", "--jobs", help="Questions answered at a time, 0 for one a core.")] = 0,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds that a question may take.")] = 300.0,
) -> None:
    """Serve kprof's questions as tools: analyze, compare, advise, rank, occupancy, explain_rule, kernels, capture.

    Nothing of a target runs unless --allow-run is given. An agent starts this command itself; see docs/agents.md.
    """
    from kprof.api.live.serving import serve

    serve(root, run=allow_run, jobs=jobs, timeout=timeout)
