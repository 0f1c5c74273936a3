"""``kprof trace``: questions to PyTorch profiler traces. One command a file; this folder is the list."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command as to_click

HELP = "PyTorch traces: where the GPU's time goes, gaps, ranks, two traces compared."


class TraceFolder(TyperGroup):
    """The modules of this package, each imported when it is asked for."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # noqa: ARG002 - the base class's
        """Module names, sorted."""
        from pkgutil import iter_modules

        return sorted(m.name for m in iter_modules(__path__) if not m.name.startswith("_"))

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """Import one command; ``None`` when there is none of that name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = import_module(f"{__name__}.{cmd_name}")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(cmd_name)(module.command)
        command: Any = to_click(single)
        command.name = cmd_name
        command.short_help = module.HELP
        return command


app = typer.Typer(cls=TraceFolder, no_args_is_help=True, add_completion=False)


@app.callback()
def _group() -> None:
    """Questions to PyTorch profiler traces: .json, .json.gz, Proton's .hatchet, or what kprof ingest trace wrote."""
