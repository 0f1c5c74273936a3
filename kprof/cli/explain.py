"""``kprof explain``: explain a rule: what it detects, why it matters, and what to try."""

from typing import Annotated

import typer

from kprof.cli._arguments import rules
from kprof.cli._options import takes_options
from kprof.cli._plug_ins import tell_broken
from kprof.reporters.outputs import Outputs

HELP = "Explain a rule: what it detects, why it matters, and what to try."


@takes_options("rule")
def command(
    rule: Annotated[str, typer.Argument(help="Identifier or name: KP101 or narrow-global-load.", autocompletion=rules)],
    outputs: Outputs,
) -> None:
    """Explain a rule: what it detects, why it matters, and what to try. kprof list rules lists all rules.

    Example:  kprof explain KP301
    """
    from kprof.api import rules
    from kprof.reporters.rule_list import on_screen

    chosen = rules.rule(rule)
    title = f"{chosen.id} {chosen.name} ({chosen.severity.value})"
    outputs.write(
        rules.document([chosen], whole=True),
        lambda: print(title if outputs.quiet else f"{title}\n\n{on_screen(chosen.help)}"),
    )
    raise typer.Exit(tell_broken())
