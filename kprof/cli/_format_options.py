"""The options of output formats, made from the folder that they are in."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer

from kprof.reporters.interface import Format
from kprof.reporters.outputs import TEXT, Outputs
from kprof.reporters.registry import formats_of

Command = TypeVar("Command", bound=Callable[..., None])

_PARAMETER = "outputs"


def format_options(kind: str) -> Callable[[Command], Command]:
    """Give a command the options of every format that can render its document.

    They stand in ``--help`` where the command has its parameter ``outputs``, which gets what they say.

    Args:
        kind: what the document is, see :attr:`kprof.reporters.interface.Format.documents`.
    """

    def decorate(command: Command) -> Command:
        options = _options(kind)

        @functools.wraps(command)
        def called(*args: Any, **values: Any) -> None:
            given = {name: values.pop(name) for name in [option.name for option in options]}
            outputs = _outputs(kind, given)
            outputs.check()
            command(*args, **values, outputs=outputs)

        parameters = []
        for parameter in inspect.signature(command).parameters.values():
            parameters += options if parameter.name == _PARAMETER else [parameter]
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        kept = {name: kind for name, kind in command.__annotations__.items() if name != _PARAMETER}
        called.__annotations__ = kept | {option.name: option.annotation for option in options}
        return called  # type: ignore[return-value]  # only typer calls it, and reads its signature

    return decorate


def _options(kind: str) -> list[inspect.Parameter]:
    found = []
    for each in formats_of(kind):
        found += _options_of(each)
    names = ", ".join([TEXT, *(each.name for each in formats_of(kind))])
    option = typer.Option("--output-format", help=f"Print this on standard output: {names}.", metavar="FORMAT")
    return [*found, _parameter("output_format", Annotated[str, option], TEXT)]


def _options_of(each: Format) -> list[inspect.Parameter]:
    found = []
    if each.option == "path":
        option = typer.Option(f"--{each.name}", help=f"{each.help} - is standard output.", metavar="PATH")
        found.append(_parameter(_key(each.name), Annotated[str | None, option], None))
    elif each.option == "flag":
        found.append(
            _parameter(_key(each.name), Annotated[bool, typer.Option(f"--{each.name}", help=each.help)], False)
        )
    for flag, text in each.flags.items():
        option = typer.Option(f"--{each.name}-{flag}", help=text)
        found.append(_parameter(_key(each.name, flag), Annotated[bool, option], False))
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


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)
