"""Values that need no conversion: the same as by typer's own, without what that imports."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from kprof.cli.app import take_plain_values

LINES = [
    ["text"],
    ["text", "--number", "7", "--share", "0.5", "--flag", "--word", "a", "--word", "b"],
    ["text", "--number", "007"],
    ["text", "--number", "-3"],
    ["text", "--number", "11"],
    ["text", "--number", "7.0"],
    ["text", "--number", "x"],
    ["text", "--number", "1_0"],
    ["text", "--share", "nan"],
    ["text", "--share", "3"],
    ["text", "--no-flag"],
    ["text", "--maybe", "1e3"],
    ["text", "--word", ""],
    ["text", "--id", "3", "--id", "4"],
    ["text", "--id", "3", "--id", "four"],
    ["\u0663"],
    ["text", "--number", "\u0663"],
    ["text", "--path", "a/../b", "--path", "", "--path", "."],
    ["text", "--path", "/proc/1/mem"],
    ["text", "--path", "/nowhere/at/all/\x00"],
    ["text", "--there", "/"],
    ["text", "--there", "/nowhere/at/all"],
    ["text", "--folder", __file__],
    [],
]


def app():
    """One option of each kind that commands have."""
    found = typer.Typer()

    @found.command()
    def command(
        name: str,
        number: Annotated[int, typer.Option(min=0, max=10)] = 3,
        share: Annotated[float, typer.Option(min=0)] = 0.25,
        word: Annotated[list[str], typer.Option()] = [],  # noqa: B006 - as typer reads it
        ids: Annotated[list[int], typer.Option("--id")] = [],  # noqa: B006 - as typer reads it
        maybe: Annotated[float | None, typer.Option()] = None,
        paths: Annotated[list[Path], typer.Option("--path")] = [],  # noqa: B006 - as typer reads it
        there: Annotated[Path | None, typer.Option(exists=True)] = None,
        folder: Annotated[Path | None, typer.Option(file_okay=False)] = None,
        flag: Annotated[bool, typer.Option("--flag/--no-flag")] = True,
    ) -> None:
        print([name, number, share, word, ids, maybe, flag, paths, there, folder])
        print([type(each).__name__ for each in (name, number, share, word, *ids, *paths)])

    return found


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_values_and_messages_are_typer_s_own(line, monkeypatch):
    """With and without: the same output and exit code, for good values and bad ones."""
    core = pytest.importorskip("typer.core")
    parameter = getattr(core, "_TyperParameter", None)
    if not hasattr(parameter, "get_runtime_param"):
        pytest.skip("this typer converts values without pydantic")
    own = parameter.get_runtime_param
    while hasattr(own, "is_plain"):
        own = own.__closure__[0].cell_contents
    monkeypatch.setattr(parameter, "get_runtime_param", own)
    before = CliRunner().invoke(app(), line)
    take_plain_values()
    after = CliRunner().invoke(app(), line)
    assert (after.exit_code, after.output) == (before.exit_code, before.output)
    assert get_command(app()) is not None


@pytest.mark.parametrize(
    "line", [["occupancy", "--arch", "gfx942", "--vgpr", "168", "--num-warps", "4"], ["trace", "breakdown", "{trace}"]]
)
def test_a_short_command_imports_no_pydantic(line, tmp_path):
    """It would take as long as all the rest."""
    trace = tmp_path / "t.json"
    trace.write_text(
        '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 0, "ts": 1, "dur": 2}]}'
    )
    line = [word.format(trace=trace) for word in line]
    code = (
        f"import sys; sys.argv = ['kprof', *{line!r}];"
        "from kprof.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code, 'pydantic' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "0 False"
