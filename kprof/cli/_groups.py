"""Groups of commands: they suggest corrections of mistyped commands, and load commands from the modules of a folder."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command as to_click

from kprof.errors import near
from kprof.plug_ins import installed, load

# Newer typer releases contain their own copy of click, so this module writes click's types as Any.


class SuggestingGroup(TyperGroup):
    """A group of commands that answers an unknown command with similar names, or with the names of all its commands."""

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """Resolve a command; for an unknown command, fail with a message that suggests others."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            known = self.list_commands(ctx)
            loaded: dict[str, Any] = getattr(self, "commands", {})
            shown = [name for name in known if name not in loaded or not loaded[name].hidden]
            ctx.fail(f"no command {args[0]!r}{_suggestion(ctx.command_path, args[0], shown)}")
        return super().resolve_command(ctx, args)


class SingleCommand(TyperCommand):
    """A command that rejects surplus arguments and programs after ``--`` with a one-sentence message."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the arguments; if some are left over, fail with a clear message."""
        has_program, passed_on = "--" in args, ctx.allow_extra_args
        ctx.allow_extra_args = True
        rest: list[str] = super().parse_args(ctx, args)
        if rest and not passed_on and not ctx.resilient_parsing:
            if has_program:
                those = "analyze kernel, advise, tune, report, profile, validate, diff --triton and capture"
                ctx.fail(f"{ctx.command_path} runs no program and cannot use {' '.join(rest)!r}; {those} run one")
            taken = sum(parameter.param_type_name == "argument" for parameter in self.params)
            ctx.fail(f"{ctx.command_path} takes {taken or 'no'} argument{'s' * (taken != 1)}, not {' '.join(rest)!r}")
        return rest


class Folder(SuggestingGroup):
    """A group whose commands are the modules of a package, each imported on first use.

    A module has ``HELP``, one line, and ``command`` (a function) or ``app`` (a :class:`typer.Typer` with
    sub-commands).

    Attributes:
        package: dotted name of the package; a subclass sets it.
        plugged_in: entry point group with commands of other packages; "" for none.
        left_out: names of public modules that are not commands.
    """

    package: str
    plugged_in: str = ""
    left_out: frozenset[str] = frozenset()

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # noqa: ARG002 - the base class's
        """Return the sorted names of all commands: modules (hyphens for underscores) and entry points of packages."""
        return sorted({*self._own_commands(), *(installed(self.plugged_in) if self.plugged_in else ())})

    def _own_commands(self) -> set[str]:
        from pkgutil import iter_modules

        names = (m.name for m in iter_modules(import_module(self.package).__path__))
        return {n.replace("_", "-") for n in names if n not in self.left_out and not n.startswith("_")}

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # noqa: ARG002 - as above
        """Import a command; return ``None`` if there is no command of that name."""
        if cmd_name in self._own_commands():
            return as_click(import_module(f"{self.package}.{cmd_name.replace('-', '_')}"), cmd_name)
        # Searching installed packages is slow, so it is only done for commands that are not in this package.
        module = load(self.plugged_in, cmd_name) if self.plugged_in else None
        return None if module is None else as_click(module, cmd_name)


def group(folder: type[TyperGroup] = SuggestingGroup) -> typer.Typer:
    """Create an empty Typer with kprof's settings, to which sub-commands can be added."""
    return typer.Typer(cls=folder, add_completion=False, no_args_is_help=True, rich_markup_mode=None)


def folder(package: str, kind: type[Folder] = Folder, **attributes: Any) -> typer.Typer:
    """Return a Typer whose sub-commands are the modules of a package; its help is the package's ``HELP``.

    Args:
        package: dotted name of the package.
        kind: class that finds the commands.
        attributes: further attributes of that class.
    """
    made = group(type("Commands", (kind,), {"package": package, **attributes}))
    # Typer creates a group only for an app with a callback, sub-groups or several commands of its own.
    made.callback()(lambda: None)
    return made


def _suggestion(path: str, word: str, known: list[str]) -> str:
    if guess := near(word, known):
        return guess
    if len(known) == 1:
        return f"; did you mean '{path} {known[0]} {word}'?"
    return f"; its commands are {', '.join(known)}"


def as_click(module: Any, name: str) -> Any:
    """Return the command or group that a module defines."""
    if hasattr(module, "app"):
        module.app.info.help = module.app.info.help or module.HELP
        command = to_click(module.app)
    else:
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, cls=SingleCommand, context_settings=getattr(module, "CONTEXT_SETTINGS", None))(
            module.command
        )
        command = to_click(single)
    command.name = name
    command.short_help = module.HELP
    return command
