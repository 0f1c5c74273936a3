"""The options of output formats, made from the folder that they are in."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from kprof.cli._option_groups import Command, option, option_group
from kprof.reporters.interface import Format
from kprof.reporters.outputs import TEXT, Outputs
from kprof.reporters.registry import formats_of


def format_options(kind: str) -> Callable[[Command], Command]:
    """Give a command the options of every format that can render its document.

    They stand in ``--help`` where the command has its parameter ``outputs``, which gets what they say.

    Args:
        kind: what the document is, see :attr:`kprof.reporters.interface.Format.documents`.
    """

    def combine(given: dict[str, Any]) -> Outputs:
        outputs = _outputs(kind, given)
        outputs.check()
        return outputs

    return option_group("outputs", _options(kind), combine)


def _options(kind: str) -> list[inspect.Parameter]:
    found = []
    for each in formats_of(kind):
        found += _options_of(each)
    names = ", ".join([TEXT, *(each.name for each in formats_of(kind))])
    declared = typer.Option(
        "--output-format" if kind in {"trace", "measurements"} else "--format",
        help=f"Print this on standard output: {names}.",
        metavar="FORMAT",
    )
    return [*found, option("output_format", Annotated[str, declared], TEXT)]


def _options_of(each: Format) -> list[inspect.Parameter]:
    found = []
    if each.option == "path":
        declared = typer.Option(f"--{each.name}", help=f"{each.help} - is standard output.", metavar="PATH")
        found.append(option(_key(each.name), Annotated[str | None, declared], None))
    elif each.option == "flag":
        found.append(option(_key(each.name), Annotated[bool, typer.Option(f"--{each.name}", help=each.help)], False))
    for flag, text in each.flags.items():
        declared = typer.Option(f"--{each.name}-{flag}", help=text)
        found.append(option(_key(each.name, flag), Annotated[bool, declared], False))
    return found


def _outputs(kind: str, given: dict[str, Any]) -> Outputs:
    paths: dict[str, str] = {}
    flags: dict[str, frozenset[str]] = {}
    for each in formats_of(kind):
        own = {flag for flag in each.flags if given[_key(each.name, flag)]}
        if each.option == "path" and given[_key(each.name)]:
            paths[each.name] = given[_key(each.name)]
        elif each.option == "flag" and given[_key(each.name)]:
            own.add("")
        if own:
            flags[each.name] = frozenset(own)
    return Outputs(kind, paths, flags, given["output_format"])


def _key(name: str, flag: str = "") -> str:
    return "_".join(["format", name, *filter(None, [flag])]).replace("-", "_")
