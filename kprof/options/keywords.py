"""Let callers pass the options of a group as keyword arguments."""

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from kprof.options.option import Declared, Options, declared, is_group

Function = TypeVar("Function", bound=Callable[..., Any])

_PLACE = re.compile(r"^( *)options: .*\n(?:\1 +.*\n)*", re.MULTILINE)


def keywords(function: Function) -> Function:
    """Decorate a function so that callers can pass its options as keyword arguments.

    The function has a parameter ``options``, which is a group; code inside kprof may also pass the group itself.
    ``kprof/__init__.pyi`` lists the keyword arguments for type checkers and editors.
    """
    group = options_of(function)
    names = {each.name for each in declared(group)}

    @functools.wraps(function)
    def asked(*args: Any, **given: Any) -> Any:
        own = {name: given.pop(name) for name in names & given.keys()}
        if "options" not in given:
            given["options"] = group(**own)
        elif own:
            raise TypeError(f"{function.__name__}() takes options or {', '.join(sorted(own))}, not both")
        return function(*args, **given)

    lines = "\n".join(_described(each) for each in declared(group))
    asked.__doc__ = _PLACE.sub(lambda found: textwrap.indent(lines, found[1]) + "\n", function.__doc__ or "")
    vars(asked)["__signature__"] = _signature(function, group)
    return asked  # type: ignore[return-value]  # inside kprof the group itself is given


def options_of(function: Callable[..., Any]) -> type[Options]:
    """Return the group of a function's parameter ``options``."""
    group = inspect.signature(inspect.unwrap(function)).parameters["options"].annotation
    assert is_group(group), function.__name__
    return group  # type: ignore[no-any-return]  # an annotation, asked for just now


def _signature(function: Callable[..., Any], group: type[Options]) -> inspect.Signature:
    signature = inspect.signature(function)
    shown: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        shown += _parameters(group) if each.name == "options" else [each]
    return signature.replace(parameters=shown)


def _parameters(group: type[Options]) -> Iterator[inspect.Parameter]:
    for each in declared(group):
        yield inspect.Parameter(
            each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.accepts
        )


def _described(each: Declared) -> str:
    text = f"{each.name}: {each.option.text}"
    return textwrap.fill(text, 108, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)
