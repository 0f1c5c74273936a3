"""The frame of the command line."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import kprof.cli as commands_folder
from kprof import __version__, origin
from kprof.cli.app import _help_line

ROOT = Path(__file__).resolve().parents[2]


def test_version_is_printed(kprof, monkeypatch):
    """--version names the program, its version and, where it is known, the commit."""
    ran = kprof("--version")
    assert ran.code == 0
    assert re.fullmatch(rf"kprof {re.escape(__version__)}( \(commit [0-9a-f]{{12}}\))?\n", ran.out)
    monkeypatch.setattr(origin, "installed_from", lambda: ("https://host/owner/kprof", "0123456789abcdef"))
    assert kprof("--version").out == f"kprof {__version__} (commit 0123456789ab)\n"
    monkeypatch.setattr(origin, "installed_from", lambda: ("", ""))
    assert kprof("--version").out == f"kprof {__version__}\n"


def test_help_lists_every_command_with_a_line_each(kprof):
    """A newcomer sees all commands and where to start."""
    ran = kprof("--help")
    assert ran.code == 0
    assert "kprof analyze kernel flash_attention" in ran.out
    for command in ("advise", "analyze", "bench", "bisect", "explain", "ingest", "list", "occupancy", "serve", "trace"):
        assert f"\n  {command} " in ran.out


@pytest.mark.parametrize(("typed", "meant"), [("analyse", "analyze"), ("ocupancy", "occupancy")])
def test_mistyped_command_gets_a_near_match(kprof, typed, meant):
    """A typo names the command that was meant, with exit code 2."""
    ran = kprof(typed)
    assert ran.code == 2
    assert f"did you mean '{meant}'" in ran.err


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("ingest countrs x", "did you mean 'counters'"),
        ("trace brekdown x", "did you mean 'breakdown'"),
        ("list ruls", "did you mean 'rules'"),
        ("draw gemm", "its commands are flow, layout"),
        ("arch show gfx942", "arch is now: kprof list gpus"),
        ("lint-configs x", "lint-configs is now: kprof lint"),
    ],
)
def test_mistyped_or_forgotten_subcommand(kprof, typed, answer):
    """Groups answer as the program itself does; where there is one command only, it was meant."""
    ran = kprof(*typed.split())
    assert ran.code == 2
    assert answer in ran.err


@pytest.mark.parametrize("name", ["analyze", "counters", "draw", "ingest", "list", "serve", "trace"])
def test_help_of_groups_has_no_other_options(kprof, name):
    """Set up alike: no completion options in the middle of the program."""
    ran = kprof(name, "--help")
    assert ran.code == 0
    assert "completion" not in ran.out


EXAMPLES = (
    "advise", "analyze kernel", "bench", "check", "configs", "counters diff", "counters metrics",
    "counters roofline", "ingest counters", "ingest mlir", "ingest results",
    "ingest thread-trace", "ingest trace", "ingest tunableop", "draw flow", "draw layout", "explain",
    "lint", "occupancy",
    "profile", "select",
    "trace breakdown", "trace diff", "trace gaps", "trace ops", "trace path", "trace ranks", "trace steps", "trace top",
    "trace tree",
    "validate",
)  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_help_has_an_example_that_takes_these_options(kprof, name):
    """One line to copy; each option in it is one of the command's."""
    shown = kprof(*name.split(), "--help").out
    examples = [line for line in shown.splitlines() if f"kprof {name} " in line and "Usage" not in line]
    assert examples, shown
    for option in re.findall(r" (--?[a-z][a-z-]*)", " ".join(examples)):
        assert re.search(rf"^ +(-\w, )?(--[\w-]+, )*{option}\b", shown, re.MULTILINE), option


def test_start_imports_nothing_heavy():
    """Neither help nor numbers-only occupancy may pay for Triton, torch, pandas or numpy."""
    code = (
        "import sys\nsys.argv = ['kprof', 'occupancy', '--arch', 'gfx942', '--vgpr', '128']\n"
        "from kprof.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'triton', 'torch', 'pandas', 'numpy', 'elftools', 'yaml', 'jinja2'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy), file=sys.stderr)\n"
    )
    paths = os.pathsep.join([str(ROOT), str(ROOT / "analyzers")])
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert "heavy: []" in ran.stderr


def test_the_list_shows_each_module_s_line():
    """The lines are read from the modules' text; they are those that the modules define."""
    names = [m.name for m in iter_modules(commands_folder.__path__) if not m.name.startswith("_")]
    commands = [name for name in names if name not in {"app", "common"}]
    assert len(commands) > 15
    for name in commands:
        assert _help_line(name.replace("_", "-")) == import_module(f"kprof.cli.{name}").HELP


def test_the_list_imports_no_command():
    """Start-up stays short however many commands there are."""
    code = "import sys; sys.argv = ['kprof', '--help']\nfrom kprof.cli.app import main\n"
    code += "try: main()\nexcept SystemExit: pass\n"
    code += "print([m for m in sys.modules if m.startswith('kprof.cli.') and m[10:] != 'app' and m[10] != '_'])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"
