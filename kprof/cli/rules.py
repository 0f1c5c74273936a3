"""``kprof rules``: what kprof checks, and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._groups import group
from kprof.cli._plug_ins import tell_broken
from kprof.cli.common import JsonOption, NoColorOption
from kprof.output.terminal import terminal
from kprof.output.writing import write_document

if TYPE_CHECKING:
    from kprof.reporters._gate_words import RuleHelp

HELP = "The rules: list them, or explain one."

app = group()


@app.command("list")
def list_rules(json: JsonOption = None, no_color: NoColorOption = False) -> None:
    """Every rule with its severity and what it looks for."""
    from kprof.api.rules import rules

    found = rules()
    if json:
        rows = [{"rule": r.id, "name": r.name, "severity": r.severity.value, "summary": r.summary} for r in found]
        write_document(json, "kprof.rules/1", {"rules": rows})
    if json != "-":
        _show(found, no_color=no_color)
    raise typer.Exit(tell_broken())


def _show(found: "list[RuleHelp]", *, no_color: bool) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("rule", "name", "severity", "looks for"):
        table.add_column(heading, no_wrap=heading != "looks for")
    for rule in found:
        table.add_row(rule.id, rule.name, rule.severity.value, rule.summary)
    terminal(no_color=no_color).print(table)
    print(f"{len(found)} rules; kprof rules explain KP301 tells more about one")


@app.command("show", hidden=True)
@app.command()
def explain(rule: Annotated[str, typer.Argument(help="Identifier or name: KP101 or narrow-global-load.")]) -> None:
    """What a rule looks for, why it matters, and what to try."""
    from kprof.api import rules

    chosen = rules.rule(rule)
    print(f"{chosen.id} {chosen.name} ({chosen.severity.value})\n")
    print(chosen.help)
    raise typer.Exit(tell_broken())
