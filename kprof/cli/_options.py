"""Create a command's options from the option groups that it uses and the output formats that support its document."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

import typer

from kprof.cli import _arguments
from kprof.cli._other_triton import run_again
from kprof.options.groups import DisplayOptions, TritonOptions
from kprof.options.option import Declared, Options, declared, is_group
from kprof.reporters.interface import Format
from kprof.reporters.outputs import TEXT, Outputs
from kprof.reporters.registry import formats, formats_of

Command = TypeVar("Command", bound=Callable[..., None])

_FORMAT = "shown_format"


def takes_options(kind: str = "", *, compiles: bool = False) -> Callable[[Command], Command]:
    """Return a decorator that replaces a command's parameters for option groups by the options that the groups declare.

    A parameter whose type is a group of options becomes these options on the command line, and receives the group's
    object. The parameter ``outputs`` becomes the options of every format that supports the command's document, with
    ``--quiet``, ``--verbose`` and ``--no-color``.

    Args:
        kind: kind of the document, see :attr:`kprof.reporters.interface.Format.documents`; "" for no document.
        compiles: whether the command accepts ``--triton``, which runs it again in a process that imports that Triton.
    """

    def decorate(command: Command) -> Command:
        own = inspect.signature(command).parameters
        groups = {name: each.annotation for name, each in own.items() if is_group(each.annotation)}

        @functools.wraps(command)
        def called(*args: Any, **given: Any) -> None:
            made: dict[str, Any] = {name: _group(group, given) for name, group in groups.items()}
            if "outputs" in own:
                made["outputs"] = _outputs(kind, given)
                made["outputs"].check()
            if compiles:
                triton = _group(TritonOptions, given)
                assert isinstance(triton, TritonOptions)
                run_again(triton, {**given, **made})
            command(*args, **given, **made)

        shown: list[inspect.Parameter] = []
        for name, each in own.items():
            if name in groups:
                shown += map(_parameter, declared(groups[name]))
            else:
                shown += _output_parameters(kind) if name == "outputs" else [each]
        shown += map(_parameter, declared(TritonOptions) if compiles else ())
        vars(called)["__signature__"] = inspect.Signature(shown)
        called.__annotations__ = {each.name: each.annotation for each in shown}
        return called  # type: ignore[return-value]  # only typer calls it, and reads its signature

    return decorate


def _group(group: type[Options], given: dict[str, Any]) -> Options:
    """Create a group of options from the command line's values, and remove these values from ``given``."""
    values = {each.name: given.pop(each.name) for each in declared(group)}
    # If an option has a custom kind of value, None and [] mean that it was not given.
    unwritten = {each.name for each in declared(group) if each.option.kind is not None}
    return group(**{name: value for name, value in values.items() if name not in unwritten or value not in (None, [])})


def _parameter(each: Declared) -> inspect.Parameter:
    option = each.option
    annotation, default = each.type, each.default
    if option.kind is not None:
        annotation, default = (list[str], []) if option.kind.several else (str | None, None)
    completion = {"autocompletion": getattr(_arguments, option.completes)} if option.completes else {}
    flag = each.flag
    if annotation == bool | None or each.default is True:
        flag += f"/--no-{flag[2:]}"
    shown = typer.Option(
        *filter(None, (flag, option.short)),
        help=option.text,
        metavar=option.metavar,
        min=option.least,
        max=option.most,
        count=option.counted,
        **completion,
    )
    return _declared(each.name, Annotated[annotation, shown], default)


def _declared(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


def _output_parameters(kind: str) -> Sequence[inspect.Parameter]:
    shown = formats_of(kind) if kind else ()
    found = [parameter for each in shown for parameter in _format_parameters(each)]
    if shown:
        found.append(
            _declared(_FORMAT, Annotated[str, typer.Option("--format", help=_format_help(), metavar="FORMAT")], TEXT)
        )
    return [*found, *map(_parameter, declared(DisplayOptions))]


def _format_help() -> str:
    """Return the help text of ``--format``, which is the same for every command."""
    return (
        f"Print on standard output, where it can be shown so: {', '.join([TEXT, *(each.name for each in formats())])}."
    )


def _format_parameters(each: Format) -> list[inspect.Parameter]:
    found = []
    if each.option == "path":
        shown = typer.Option(f"--{each.name}", help=f"{each.help} - is standard output.", metavar="PATH")
        found.append(_declared(_key(each.name), Annotated[str | None, shown], None))
    elif each.option == "flag":
        found.append(_declared(_key(each.name), Annotated[bool, typer.Option(f"--{each.name}", help=each.help)], False))
    for flag, text in each.flags.items():
        shown = typer.Option(f"--{each.name}-{flag}", help=text)
        found.append(_declared(_key(each.name, flag), Annotated[bool, shown], False))
    return found


def _outputs(kind: str, given: dict[str, Any]) -> Outputs:
    """Create the outputs from the options for formats and display, and remove these options from ``given``."""
    paths: dict[str, str] = {}
    flags: dict[str, frozenset[str]] = {}
    for each in formats_of(kind) if kind else ():
        own = {flag for flag in each.flags if given.pop(_key(each.name, flag))}
        asked = given.pop(_key(each.name), None)
        if each.option == "path" and asked:
            paths[each.name] = asked
        elif asked:
            own.add("")
        if own:
            flags[each.name] = frozenset(own)
    display = _group(DisplayOptions, given)
    assert isinstance(display, DisplayOptions)
    return Outputs(kind, paths, flags, given.pop(_FORMAT, TEXT), display)


def _key(name: str, flag: str = "") -> str:
    return "_".join(["format", name, *filter(None, [flag])]).replace("-", "_")
