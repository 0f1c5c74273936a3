"""``kprof rules``: what kprof checks, and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._completion import rules
from kprof.cli._groups import group
from kprof.cli._options import takes_options
from kprof.cli._plug_ins import tell_broken
from kprof.output.terminal import terminal
from kprof.reporters.outputs import Outputs

if TYPE_CHECKING:
    from kprof.reporters._ci_findings import RuleHelp

HELP = "The rules: list them, or explain one."

app = group()


@app.command("list")
@takes_options("rules")
def list_rules(outputs: Outputs) -> None:
    """Every rule with its severity and what it looks for."""
    from kprof.api.rules import document, rules

    found = rules()
    outputs.write(document(found), lambda: _show(found, outputs))
    raise typer.Exit(tell_broken())


def _show(found: "list[RuleHelp]", outputs: Outputs) -> None:
    words = f"{len(found)} rules; kprof rules explain KP301 says more about one"
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


@app.command("show", hidden=True)
@app.command()
@takes_options("rule")
def explain(
    rule: Annotated[str, typer.Argument(help="Identifier or name: KP101 or narrow-global-load.", autocompletion=rules)],
    outputs: Outputs,
) -> None:
    """What a rule looks for, why it matters, and what to try."""
    from kprof.api import rules
    from kprof.reporters.rule_list import on_screen

    chosen = rules.rule(rule)
    title = f"{chosen.id} {chosen.name} ({chosen.severity.value})"
    outputs.write(
        rules.document([chosen], whole=True),
        lambda: print(title if outputs.quiet else f"{title}\n\n{on_screen(chosen.help)}"),
    )
    raise typer.Exit(tell_broken())
