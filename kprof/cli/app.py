"""Find the commands in this folder and run one of them.

A command module defines ``app`` (a :class:`typer.Typer` with sub-commands) or ``command`` (a function), and
``HELP``, one line. Only the module of the command in use is imported, so that start-up stays short.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import typer
from typer.main import get_command as to_click

from kprof import __version__
from kprof.cli._groups import Folder
from kprof.errors import KprofError

EXIT_CANNOT_TELL = 2
EXIT_INTERRUPTED = 130


class _Interrupted(BaseException):
    """Ctrl-C on its way out: typer would take KeyboardInterrupt, each version with another exit code and word."""


class CommandFolder(Folder):
    """The commands of this package."""

    package = "kprof.cli"
    left_out = frozenset({"app", "common"})

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """The list of commands, with each module's line read from its text: importing them all would take long."""
        rows = [(name, _help_line(name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """As usual, with Ctrl-C told by :func:`main`."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _Interrupted from None


def _help_line(name: str) -> str:
    import kprof.cli

    path = os.path.join(kprof.cli.__path__[0], name.replace("-", "_"))  # noqa: PTH118 - pathlib takes long to import
    path = os.path.join(path, "__init__.py") if os.path.isdir(path) else f"{path}.py"  # noqa: PTH118, PTH112 - as above
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - as above
        for line in file:
            if line.startswith('HELP = "'):
                return line[len('HELP = "') :].rstrip().removesuffix('"')
    raise AssertionError(f"{path} has no HELP line")


app = typer.Typer(
    cls=CommandFolder,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(value: bool) -> None:
    if value:
        print(f"kprof {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """What an AMD GPU will do with your kernel, why, and which knob to turn. No GPU needed.

    Start with:  kprof analyze kernel flash_attention --arch gfx942

    Exit codes: 0 fine, 1 a regression or a finding at or above --fail-on, 2 cannot tell.
    """


@contextlib.contextmanager
def _shown() -> Iterator[None]:
    """Show on a terminal how far compiles are."""
    if not sys.stderr.isatty():
        yield
        return
    from kprof.output.progress import watching
    from kprof.output.waiting import Waiting

    with watching(Waiting()):
        yield


def main() -> None:
    """Entry point of the ``kprof`` program."""
    try:
        with _shown():
            to_click(app)(prog_name="kprof")
    except KprofError as error:
        print(f"kprof: {error}", file=sys.stderr)
        sys.exit(EXIT_CANNOT_TELL)
    except (KeyboardInterrupt, _Interrupted):
        print("kprof: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader went away (``| head``): not an error. Keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if error.filename is None and error.errno is None:
            raise
        print(f"kprof: {error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(EXIT_CANNOT_TELL)


if __name__ == "__main__":
    main()
