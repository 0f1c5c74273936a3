"""Options that several commands have in common, given to each as one parameter."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Command = TypeVar("Command", bound=Callable[..., None])


def option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """One option of a group, as typer reads it from a signature."""
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


def option_group(
    parameter: str, options: Sequence[inspect.Parameter], combine: Callable[[dict[str, Any]], Any]
) -> Callable[[Command], Command]:
    """A decorator that replaces one parameter of a command by options.

    They stand in ``--help`` where the command has the parameter.

    Args:
        parameter: the command's parameter.
        options: what the command line has in its place.
        combine: from the options' values, by name, to the parameter's value.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def called(*args: Any, **values: Any) -> None:
            given = {each.name: values.pop(each.name) for each in options}
            command(*args, **values, **{parameter: combine(given)})

        parameters: list[inspect.Parameter] = []
        for each in inspect.signature(command).parameters.values():
            parameters += options if each.name == parameter else [each]
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        kept = {name: kind for name, kind in command.__annotations__.items() if name != parameter}
        called.__annotations__ = kept | {each.name: each.annotation for each in options}
        return called  # type: ignore[return-value]  # only typer calls it, and reads its signature

    return decorate
