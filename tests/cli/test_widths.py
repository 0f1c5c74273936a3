"""Commands as people run them: terminals of 80 and 120 columns, a pipe, NO_COLOR."""

import re

import pytest

from kprof.cli.app import SECTIONS, app, to_click
from tests.cli.every_command import COMMANDS, furnish
from tests.reporters.test_recorded_screens import SHOWN
from tests.reporters.test_screens import run, screen

ELSEWHERE = frozenset({"advise", "bench", "capture", "demo", "oracle", "profile", "tune", "validate"})
"""They compile, run a program or need a GPU: ``tests/reporters`` has their screens."""
ENDLESS = frozenset({"serve lsp", "serve mcp", "view"})
"""They serve until they are stopped."""
DOCUMENTS = frozenset({"draw flow", "draw layout", "schema"})
"""They print a document for programs, or a drawing; ``tests/reporters`` has their screens with -o."""
QUICK = sorted(set(COMMANDS) - ELSEWHERE - ENDLESS - {"list kernels"})
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the commands read; the working directory."""
    furnish(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def overlong(text, width):
    """Return lines that are wider although they could be broken: not commands, nor one word with its indentation."""
    return [
        line
        for line in ESCAPE.sub("", text).splitlines()
        if len(line) > width
        and not re.match(r" *(?:\$ |rocprofv3 |kprof |#\w+ = #ttg)", line)
        and len(line.split()) > 1
        and max(map(len, line.split())) < width - 40
    ]


def test_every_command_of_the_help_is_walked():
    """Here, or among the screens of what was recorded."""
    walked = {name.split()[0] for name in (*QUICK, *ENDLESS, "list kernels")}
    walked |= {command.split()[0] for command, *_ in SHOWN.values()}
    listed = [name for names in SECTIONS.values() for name in names]
    assert set(listed) <= walked
    assert len(listed) <= 22


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", [name for name in QUICK if name not in DOCUMENTS])
def test_terminals(folder, monkeypatch, capsys, name, width):
    """No line is cut by the terminal, and NO_COLOR leaves no colour."""
    monkeypatch.setattr("tests.reporters.test_screens.SGR", re.compile(r"(?!)"))
    text = screen(monkeypatch, width, lambda: run(monkeypatch, " ".join([name, *COMMANDS[name]])))
    assert not COLOUR.search(text)
    assert not overlong(text, width)


@pytest.mark.parametrize("name", QUICK)
def test_pipes(folder, kprof, name):
    """No escape sequence, on either stream; sentences are whole lines there, for logs and searches."""
    ran = kprof(*name.split(), *COMMANDS[name])
    assert "\x1b" not in ran.out + ran.err


@pytest.mark.parametrize("path", ["", *sorted(COMMANDS)])
def test_help_on_80_columns(monkeypatch, path):
    """Each command's help."""
    monkeypatch.setenv("COLUMNS", "80")
    command, context = to_click(app), None
    for name in ("kprof", *path.split()):
        command = command if context is None else command.get_command(context, name)
        context = command.context_class(command, info_name=name, parent=context, terminal_width=80)
    assert not overlong(command.get_help(context), 80)
