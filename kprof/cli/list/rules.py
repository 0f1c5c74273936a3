"""``kprof list rules``: list the rules that kprof checks."""

from typing import TYPE_CHECKING

import typer

from kprof.cli._options import takes_options
from kprof.cli._plug_ins import tell_broken
from kprof.output.terminal import terminal
from kprof.reporters.outputs import Outputs

if TYPE_CHECKING:
    from kprof.reporters._ci_findings import RuleHelp

HELP = "Every rule with its severity and what it detects."


@takes_options("rules")
def command(outputs: Outputs) -> None:
    """List every rule with its severity and what it detects. kprof explain KP301 explains one rule."""
    from kprof.api.rules import document, rules

    found = rules()
    outputs.write(document(found), lambda: _show(found, outputs))
    raise typer.Exit(tell_broken())


def _show(found: "list[RuleHelp]", outputs: Outputs) -> None:
    words = f"{len(found)} rules; kprof explain KP301 says more about one"
    if outputs.quiet:
        print(words)
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("rule", "name", "severity", "looks for"):
        table.add_column(heading, no_wrap=heading != "looks for")
    for rule in found:
        table.add_row(rule.id, rule.name, rule.severity.value, rule.summary)
    terminal(no_color=outputs.no_color).print(table)
    print(words)
