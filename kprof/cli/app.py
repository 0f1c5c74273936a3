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
# If a declared path has one of these attributes set, typer itself has to check or convert the path.
_CHECKS = ("exists", "writable", "resolve_path", "allow_dash", "path_type")

EXIT_CANNOT_TELL = 2
EXIT_INTERRUPTED = 130


class _Interrupted(BaseException):
    """Raised instead of KeyboardInterrupt, whose exit code and message depend on the version of typer."""


SECTIONS = {
    "Kernels": ("analyze", "report", "view", "advise", "tune", "select", "occupancy"),
    "Programs": ("capture", "profile"),
    "Compare and gate": ("diff", "bisect", "check", "configs", "lint"),
    "Measurements": ("trace", "counters", "ingest", "bench"),
    "Reference": ("doctor", "explain", "list", "serve"),
}
"""Headings of the list of commands, each with its commands in the order in which a new user needs them."""
RARE = ("cache", "draw", "oracle", "schema", "validate")
"""Rarely used commands, which the list of commands names in one line; the text above the list names ``demo``."""
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
"""Current command for each former name."""


class CommandFolder(Folder):
    """The commands of this package."""

    package = "kprof.cli"
    plugged_in = "kprof.commands"
    left_out = frozenset({"app"})

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """Resolve a command; for a former name, fail with a message that names the current command."""
        if args and (now := MOVED.get(args[0])):
            ctx.fail(f"{args[0]} is now: kprof {now}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the list of commands.

        Each ``HELP`` line is read from the source file, because importing all commands is slow.
        """
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
        """Run the command; pass Ctrl-C and broken pipes on to :func:`main`."""
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
    """Return the file of a command in another package; only its parent packages are imported."""
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
def _progress_shown() -> Iterator[None]:
    """Show the progress of compiles and long steps on a terminal; before the first output, show the command's name."""
    if not sys.stderr.isatty():
        yield
        return
    from kprof.output.progress import until_output, watching
    from kprof.output.waiting import Waiting

    # Python's start-up counts as waiting, too. The processor time used so far approximates the time since the start.
    with watching(Waiting(begun=time.monotonic() - time.process_time())), until_output(" ".join(["kprof", *_named()])):
        yield


def _named() -> list[str]:
    """Return the command's name as the user typed it: one word, or two words for a command of a group."""
    words = list(itertools.takewhile(lambda word: not word.startswith("-"), sys.argv[1:3]))
    return words if words[:1] and words[0] in {"trace", "counters", "ingest", "list", "draw"} else words[:1]


def main() -> None:
    """Entry point of the ``kprof`` program."""
    open_streams()
    try:
        with clean_streams():
            sys.exit(_ran())
    except OSError as error:
        # The error message could not be written either, for example because the reader has closed standard error.
        drop_output()
        sys.exit(EXIT_BROKEN_PIPE if isinstance(error, BrokenPipeError) else EXIT_CANNOT_TELL)


def _ran() -> int | str | None:
    """Run the command, print a message if it fails, and return the exit code."""
    try:
        with told_apart():
            take_plain_values()
            try:
                with _progress_shown():
                    to_click(app)(prog_name="kprof")
            finally:
                flush()
    except SystemExit as stop:
        return stop.code
    except (Reader, KprofError, KeyboardInterrupt, _Interrupted, Exception) as error:  # noqa: BLE001 - the last resort
        return _reported(error)
    return 0


def _reported(error: BaseException) -> int:
    """Print a message for the error that ended a command, if needed, and return the exit code."""
    if isinstance(error, Reader):
        drop_output()
        return EXIT_BROKEN_PIPE
    if isinstance(error, (KeyboardInterrupt, _Interrupted)):
        message, code = "interrupted", EXIT_INTERRUPTED
    elif isinstance(error, KprofError):
        message, code = str(error), EXIT_CANNOT_TELL
    elif isinstance(error, OSError) and (error.filename is not None or error.errno is not None):
        # An error without a file name comes from writing the output, for example to a full disk. The flush at exit
        # would fail too.
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
    """Make typer use pydantic only for values that are not plain. Does nothing if typer does not use pydantic.

    Since 0.29 typer converts every value with pydantic, whose import takes 0.2 s: as long as the rest of a short
    command. Text, and numbers within their limits, need no conversion by pydantic.
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
        """Return the value to pass to the command.

        Raises:
            typer.BadParameter: the value cannot be converted.
        """
        described = self._parameter.type_descriptor
        info = described.parameter_info
        if getattr(info, "parser", None) is None and getattr(info, "click_type", None) is None:
            found = _convert_plain(described.annotation, value, several=param.multiple or param.nargs == -1, info=info)
            if found is not _UNKNOWN:
                return found
        return self._ask(self._parameter).coerce(value, param=param, ctx=ctx)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ask(self._parameter), name)


def _is_checked(info: Any) -> bool:
    """Return whether a path's declaration requests checks that only typer performs."""
    usual = getattr(info, "file_okay", True) and getattr(info, "dir_okay", True)
    return not usual or any(getattr(info, name, None) for name in _CHECKS)


def _is_refused(path: str) -> bool:
    """Return whether typer may reject a path even without checks: it has a null byte, or exists but is unreadable."""
    return "\0" in path or (os.path.lexists(path) and not os.access(path, os.R_OK))


def _convert_plain(kind: Any, value: Any, *, several: bool, info: Any) -> Any:
    """Convert a plain value; return ``_UNKNOWN`` if typer's own conversion is needed."""
    if value is None:
        return () if several else None
    if kind in {list[str], list[int], list[float], list[Path]} and isinstance(value, tuple | list):
        (each_kind,) = kind.__args__
        found = [_convert_plain(each_kind, each, several=False, info=info) for each in value]
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
