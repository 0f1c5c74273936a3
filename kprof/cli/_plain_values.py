"""Take option values that need no conversion as they are.

From 0.29 on typer converts every value with pydantic, which takes a fifth of a second to import: as long as everything
else of a short command. Text, and numbers within their limits, are what they will be without it.
"""

import os
from pathlib import Path
from typing import Any


def take_plain_values() -> None:
    """Let typer ask pydantic only for what is not plain. Does nothing where typer has no such conversion."""
    from typer import core

    parameter = getattr(core, "_TyperParameter", None)
    ask = getattr(parameter, "get_runtime_param", None)
    if parameter is None or ask is None or getattr(ask, "is_plain", False):
        return

    def get(self: Any) -> Any:
        return _PlainFirst(self, ask)

    get.is_plain = True  # type: ignore[attr-defined]
    parameter.get_runtime_param = get


class _PlainFirst:
    """What typer asks for a value: itself where it is plain, else typer's own conversion."""

    def __init__(self, parameter: Any, ask: Any) -> None:
        self._parameter, self._ask = parameter, ask

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value that the command gets.

        Raises:
            typer.BadParameter: it cannot be converted.
        """
        described = self._parameter.type_descriptor
        info = described.parameter_info
        if getattr(info, "parser", None) is None and getattr(info, "click_type", None) is None:
            found = _plain(described.annotation, value, several=param.multiple or param.nargs == -1, info=info)
            if found is not _UNKNOWN:
                return found
        return self._ask(self._parameter).coerce(value, param=param, ctx=ctx)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ask(self._parameter), name)


_UNKNOWN = object()
# What of a path typer can be told to look at.
_CHECKS = ("exists", "writable", "resolve_path", "allow_dash", "path_type")


def _is_checked(info: Any) -> bool:
    """Whether typer has to look at the file itself."""
    usual = getattr(info, "file_okay", True) and getattr(info, "dir_okay", True)
    return not usual or any(getattr(info, name, None) for name in _CHECKS)


def _is_refused(path: str) -> bool:
    """Whether typer may refuse a path that it does not look at: one that is there and cannot be read."""
    return "\0" in path or (os.path.lexists(path) and not os.access(path, os.R_OK))


def _plain(kind: Any, value: Any, *, several: bool, info: Any) -> Any:
    """The value, or ``_UNKNOWN`` where it is not one of those that are known to stay as they are."""
    if value is None:
        return () if several else None
    if kind in {list[str], list[int], list[float], list[Path]} and isinstance(value, tuple | list):
        (each_kind,) = kind.__args__
        found = [_plain(each_kind, each, several=False, info=info) for each in value]
        return _UNKNOWN if any(each is _UNKNOWN or each is None for each in found) else found
    if kind in {str, bool} and type(value) is kind:
        return value
    if kind is Path and type(value) is str and not _is_checked(info) and not _is_refused(value):
        return Path(value)
    if kind is int and type(value) is str and value.isascii() and value.isdecimal() and len(value) < 16:
        value = int(value)
    if kind in {int, float} and type(value) is kind:
        low, high = getattr(info, "min", None), getattr(info, "max", None)
        return value if (low is None or value >= low) and (high is None or value <= high) else _UNKNOWN
    return _UNKNOWN
