"""Find the commands in this folder and run one of them.

A command module defines ``app`` (a :class:`typer.Typer` with sub-commands) or ``command`` (a function), and
``HELP``, one line. Only the module of the command in use is imported, so that start-up stays short.
"""

import os
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command as to_click

from kprof import __version__
from kprof.errors import KprofError, near

# Newer typers carry a click of their own: its types are therefore written as Any here.
_NOT_COMMANDS = {"app", "common"}
EXIT_CANNOT_TELL = 2
EXIT_INTERRUPTED = 130


class _Interrupted(BaseException):
    """Ctrl-C on its way out: typer would take KeyboardInterrupt, each version with another exit code and word."""


class CommandFolder(TyperGroup):
    """A group whose commands are the modules of a package, imported when they are asked for."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # noqa: ARG002 - the base class's
        """Module names with hyphens, sorted."""
        from pkgutil import iter_modules

        import kprof.cli

        names = (m.name for m in iter_modules(kprof.cli.__path__))
        return sorted(n.replace("_", "-") for n in names if n not in _NOT_COMMANDS and not n.startswith("_"))

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """Import one command; ``None`` when there is none of that name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = import_module(f"kprof.cli.{cmd_name.replace('-', '_')}")
        return _as_click(module, cmd_name)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """The list of commands, with each module's line read from its text: importing them all would take long."""
        rows = [(name, _help_line(name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """As usual, with near matches for a mistyped command."""
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            ctx.fail(f"no command {args[0]!r}{near(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

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


def _as_click(module: Any, name: str) -> Any:
    help_line = module.HELP
    if hasattr(module, "app"):
        module.app.info.help = module.app.info.help or help_line
        module.app.rich_markup_mode = None
        command = to_click(module.app)
    else:
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, context_settings=getattr(module, "CONTEXT_SETTINGS", None))(module.command)
        command = to_click(single)
    command.name = name
    command.short_help = help_line
    return command


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


def main() -> None:
    """Entry point of the ``kprof`` program."""
    try:
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
