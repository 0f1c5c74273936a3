"""Create commands from views: each view in a folder of ``kprof/api`` becomes a command without further code."""

import functools
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from kprof.api.views import View, documentation, load_view, names_in
from kprof.cli._groups import Folder, as_click
from kprof.cli._options import takes_options
from kprof.options.groups import CompileOptions
from kprof.output.writing import log
from kprof.reporters.outputs import Outputs


class ViewFolder(Folder):
    """A group whose commands are the modules of a package, and the views in a folder of ``kprof/api``.

    Attributes:
        views: name of the folder in ``kprof/api``.
    """

    views: str

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the sorted names of modules and views."""
        return sorted({*super().list_commands(ctx), *names_in(self.views)})

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """Import a command or view; return ``None`` if there is none of that name."""
        if cmd_name not in names_in(self.views):
            return super().get_command(ctx, cmd_name)
        view = load_view(self.views, cmd_name)
        return as_click(SimpleNamespace(HELP=view.help, command=command_of(view)), cmd_name)


def command_of(view: type[View]) -> Callable[..., None]:
    """Create the command function of a view, with a signature from which typer derives arguments and options."""

    def command(options: Any, display: Any, outputs: Outputs, **given: Any) -> None:
        paths = [given[name] for name in view.given] or given["paths"]
        if display.output is not None:
            view.check_output(display.output)
        found = view.from_command(paths, options, display, quiet=outputs.quiet)
        show(found, display, outputs)

    arguments = [
        (name, Annotated[str, typer.Argument(help=text)]) for name, text in view.given.items()
    ] or [("paths", Annotated[list[str], typer.Argument(metavar="PATH", help=view.about)])]  # fmt: skip
    kinds = [*arguments, ("options", view.options), ("display", view.display), ("outputs", Outputs)]
    vars(command)["__signature__"] = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind) for name, kind in kinds]
    )
    command.__doc__ = "\n\n".join(filter(None, documentation(view)))
    return takes_options(view.kind, compiles=issubclass(view.options, CompileOptions))(command)


def show(found: View, display: Any, outputs: Outputs) -> None:
    """Print a view's warnings, tables, remarks and verdict, and write the requested files.

    Raises:
        typer.Exit: a limit in the options is exceeded, or cannot be checked.
    """
    for words in found.warnings():
        log(words)
    if display.output is not None:
        found.write(display)
        if display.output == "-":
            return
        log(f"written: {display.output}")

    lines = functools.cache(lambda: "\n".join(found.lines(display)))
    if found.is_bare(display):
        print(lines())
        return
    outputs.tell(found, lambda: print(lines()) if lines() else None)
    for words in found.remarks():
        log(words)
    code, doubt = found.verdict_of(display)
    if doubt:
        log(f"kprof: {doubt}")
    if code:
        raise typer.Exit(code)
