"""``kprof rules``: what kprof checks, and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._completion import rules
from kprof.cli._format_options import format_options
from kprof.cli._groups import group
from kprof.cli._plug_ins import tell_broken
from kprof.cli.common import NoColorOption
from kprof.output.terminal import terminal
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.reporters._ci_findings import RuleHelp

HELP = "The rules: list them, or explain one."

app = group()


@app.command("list")
@format_options("rules")
def list_rules(outputs: Outputs = NO_OUTPUTS, no_color: NoColorOption = False) -> None:
    """Every rule with its severity and what it looks for."""
    from kprof.api.rules import document, rules

    found = rules()
    outputs.write(document(found), lambda: _show(found, no_color=no_color))
    raise typer.Exit(tell_broken())


def _show(found: "list[RuleHelp]", *, no_color: bool) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("rule", "name", "severity", "looks for"):
        table.add_column(heading, no_wrap=heading != "looks for")
    for rule in found:
        table.add_row(rule.id, rule.name, rule.severity.value, rule.summary)
    terminal(no_color=no_color).print(table)
    print(f"{len(found)} rules; kprof rules explain KP301 says more about one")


@app.command("show", hidden=True)
@app.command()
def explain(
    rule: Annotated[str, typer.Argument(help="Identifier or name: KP101 or narrow-global-load.", autocompletion=rules)],
) -> None:
    """What a rule looks for, why it matters, and what to try."""
    from kprof.api import rules
    from kprof.reporters.rule_list import on_screen

    chosen = rules.rule(rule)
    print(f"{chosen.id} {chosen.name} ({chosen.severity.value})\n")
    print(on_screen(chosen.help))
    raise typer.Exit(tell_broken())
