"""Find the commands in this folder and run one of them.

A command module defines ``app`` (a :class:`typer.Typer` with sub-commands) or ``command`` (a function), and
``HELP``, one line. Only the module of the command in use is imported, so that start-up stays short.
"""

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command as to_click

from kprof.cli._groups import Folder
from kprof.cli._last_resort import (
    EXIT_BROKEN_PIPE,
    EXIT_OWN_ERROR,
    Reader,
    drop_output,
    flush,
    open_streams,
    report,
    told_apart,
)
from kprof.errors import KprofError
from kprof.output.sink import clean_streams
from kprof.version import __version__

_UNKNOWN = object()
# What of a path typer can be told to look at.
_CHECKS = ("exists", "writable", "resolve_path", "allow_dash", "path_type")

EXIT_CANNOT_TELL = 2
EXIT_INTERRUPTED = 130


class _Interrupted(BaseException):
    """Ctrl-C on its way out: typer would take KeyboardInterrupt, each version with another exit code and word."""


SECTIONS = {
    "Kernels": ("analyze", "report", "view", "advise", "tune", "select", "occupancy"),
    "Programs": ("capture", "profile"),
    "Compare and gate": ("diff", "bisect", "check", "configs", "lint"),
    "Measurements": ("trace", "counters", "ingest", "bench"),
    "Reference": ("doctor", "explain", "list", "serve"),
}
"""Headings of the list of commands, in the order in which somebody new needs them."""
RARE = ("cache", "draw", "oracle", "schema", "validate")
"""Commands that the list names in one line; ``demo`` stands above it."""
MOVED = {
    "arch": "list gpus",
    "cfg": "draw flow",
    "kernels": "list kernels",
    "layout": "draw layout",
    "lint-configs": "lint",
    "lsp": "serve lsp",
    "mcp": "serve mcp",
    "rules": "list rules, or kprof explain RULE",
    "watch": "analyze TARGET --watch",
}
"""Former names, and what they are now."""


class CommandFolder(Folder):
    """The commands of this package."""

    package = "kprof.cli"
    plugged_in = "kprof.commands"
    left_out = frozenset({"app"})

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """As usual; a former name says what it is now."""
        if args and (now := MOVED.get(args[0])):
            ctx.fail(f"{args[0]} is now: kprof {now}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """The list of commands, with each module's line read from its text: importing them all would take long."""
        there = self.list_commands(ctx)
        added = [name for name in there if not any(name in names for names in (*SECTIONS.values(), RARE, ("demo",)))]
        width = max(map(len, there))
        for heading, names in {**SECTIONS, "Added by other packages": tuple(added)}.items():
            rows = [(name.ljust(width), _help_line(name)) for name in names if name in there]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
        formatter.write(f"\nRarely needed: {', '.join(name for name in RARE if name in there)}.\n")

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """As usual, but Ctrl-C and a reader that left are reported by :func:`main`."""
        try:
            with told_apart():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _Interrupted from None


def _help_line(name: str) -> str:
    import kprof.cli

    path = os.path.join(kprof.cli.__path__[0], name.replace("-", "_"))  # noqa: PTH118 - pathlib takes long to import
    path = os.path.join(path, "__init__.py") if os.path.isdir(path) else f"{path}.py"  # noqa: PTH118, PTH112 - as above
    if not os.path.exists(path):  # noqa: PTH110 - as above
        path = _plugged_in_file(name)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - as above
        for line in file:
            if line.startswith('HELP = "'):
                return line[len('HELP = "') :].rstrip().removesuffix('"')
    raise AssertionError(f"{path} has no HELP line")


def _plugged_in_file(name: str) -> str:
    """The file of another package's command; only the packages above it are imported."""
    from importlib.util import find_spec

    from kprof.plug_ins import entries

    spec = find_spec(entries(CommandFolder.plugged_in)[name].value)
    assert spec is not None
    assert spec.origin is not None
    return spec.origin


app = typer.Typer(
    cls=CommandFolder,
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(value: bool) -> None:
    if value:
        from kprof.origin import installed_from

        commit = installed_from()[1]
        print(f"kprof {__version__}" + (f" (commit {commit[:12]})" if commit else ""))
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """What an AMD GPU will do with your kernel, why, and which knob to turn. No GPU needed.

    Start with:  kprof demo, and kprof analyze kernel flash_attention --arch gfx942

    Exit codes: 0 fine, 1 a regression or a finding at or above --fail-on, 2 cannot tell, 70 an error of kprof itself.
    """


@contextlib.contextmanager
def _shown() -> Iterator[None]:
    """Show on a terminal how far compiles and long steps are; until the first output, that the command runs."""
    if not sys.stderr.isatty():
        yield
        return
    from kprof.output.progress import until_output, watching
    from kprof.output.waiting import Waiting

    # The silence began with the program: the imports until here are most of its processor time.
    with watching(Waiting(begun=time.monotonic() - time.process_time())), until_output(" ".join(["kprof", *_named()])):
        yield


def _named() -> list[str]:
    """Return the command's name as it was typed: one word, or two of a group."""
    words = list(itertools.takewhile(lambda word: not word.startswith("-"), sys.argv[1:3]))
    return words if words[:1] and words[0] in {"trace", "counters", "ingest", "list", "draw"} else words[:1]


def main() -> None:
    """Entry point of the ``kprof`` program."""
    open_streams()
    try:
        with clean_streams():
            sys.exit(_ran())
    except OSError as error:
        # What the message itself could not be written to.
        drop_output()
        sys.exit(EXIT_BROKEN_PIPE if isinstance(error, BrokenPipeError) else EXIT_CANNOT_TELL)


def _ran() -> int | str | None:
    """Run the command and say what went wrong; the exit code."""
    try:
        with told_apart():
            take_plain_values()
            try:
                with _shown():
                    to_click(app)(prog_name="kprof")
            finally:
                flush()
    except SystemExit as stop:
        return stop.code
    except (Reader, KprofError, KeyboardInterrupt, _Interrupted, Exception) as error:  # noqa: BLE001 - the last resort
        return _reported(error)
    return 0


def _reported(error: BaseException) -> int:
    """The exit code for what ended a command, with a message where one is due."""
    if isinstance(error, Reader):
        drop_output()
        return EXIT_BROKEN_PIPE
    if isinstance(error, (KeyboardInterrupt, _Interrupted)):
        message, code = "interrupted", EXIT_INTERRUPTED
    elif isinstance(error, KprofError):
        message, code = str(error), EXIT_CANNOT_TELL
    elif isinstance(error, OSError) and (error.filename is not None or error.errno is not None):
        # A disk that is full: what could not be written cannot be written at the end either.
        if error.filename is None:
            drop_output()
        message, code = f"{error.filename or 'output'}: {error.strerror or error}", EXIT_CANNOT_TELL
    elif isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
        name = ascii(error.object[error.start - 40 if error.start > 40 else 0 : error.end + 40])
        message, code = f"a file name is not UTF-8 and cannot be written into the result: {name}", EXIT_CANNOT_TELL
    else:
        message, code = report(error), EXIT_OWN_ERROR
    print(f"kprof: {message}", file=sys.stderr)
    return code


def take_plain_values() -> None:
    """Let typer ask pydantic only for what is not plain. Does nothing where typer has no such conversion.

    From 0.29 on typer converts every value with pydantic, which takes a fifth of a second to import: as long as
    everything else of a short command. Text, and numbers within their limits, are what they will be without it.
    """
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
    """Convert plain values (text, numbers) without pydantic, and leave all others to typer's own conversion."""

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


if __name__ == "__main__":
    main()
