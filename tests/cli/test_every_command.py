"""Each command where it is hard to be one: an error of kprof itself, outputs that break, users without a home."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.every_command import COMMANDS, SILENT

ROOT = Path(__file__).resolve().parents[2]
QUICK = [
    "cache info",
    "counters diff",
    "lint",
    "list rules",
    "schema",
    "select",
    "trace ops",
    "trace path",
    "trace steps",
    "trace tree",
]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def swept(folder, commands, places):
    """How each command ended in each place."""
    script = Path(__file__).with_name("every_command.py")
    given = [str(folder), json.dumps(commands), json.dumps(places)]
    ran = subprocess.run([sys.executable, str(script), *given], capture_output=True, text=True, check=True, timeout=900)
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(found) == len(commands) * len(places)
    for each in found:
        assert "Traceback" not in each["err"], each
    return found


def leaves(command, path=(), parent=None):
    """The names of all commands below one."""
    if not hasattr(command, "list_commands"):
        return {" ".join(path)}
    context = command.context_class(command, info_name=path[-1] if path else "kprof", parent=parent)
    return set().union(
        *(leaves(command.get_command(context, name), (*path, name), context) for name in command.list_commands(context))
    )


def test_none_is_left_out():
    """What follows a command is derived from its arguments; each command's is found, and every argument has a value."""
    from kprof.cli.app import app, to_click

    assert leaves(to_click(app)) == set(COMMANDS)


@pytest.mark.slow
def test_an_error_of_kprof_itself_is_70_for_each(tmp_path):
    """One sentence that names the report, whichever command it is; the report holds no secret."""
    for each in swept(tmp_path, list(COMMANDS), ["raises"]):
        assert (each["code"], each["out"]) == (70, ""), each
        assert each["err"].count("\n") == 1, each
    reports = list((tmp_path / "tmp").glob("kprof-crash-*.txt"))
    assert len(reports) == len(COMMANDS)
    assert not [path for path in reports if "S3CRET" in path.read_text()]


@pytest.mark.slow
def test_quick_ones_everywhere(tmp_path):
    """The answer is lost where nobody takes it, and is there where only the surroundings are poor."""
    ends = {
        "reader left": {141},
        "output closed": {0},
        "output full": {2},
        "latin-1": {0},
        "no home": {0},
        "a home that takes nothing": {0},
        "not UTF-8": {0},
    }
    for each in swept(tmp_path, QUICK, list(ends)):
        # Without a home there is no cache to tell of.
        no_cache = (each["command"], each["place"]) == ("cache info", "no home")
        assert each["code"] in ({2} if no_cache else ends[each["place"]]), each
        if each["place"] in {"latin-1", "no home", "not UTF-8"} and each["command"] not in SILENT and not no_cache:
            assert each["out"], each
        if each["place"] == "output full":
            assert each["err"].endswith("kprof: output: No space left on device\n"), each


def test_tables_that_cannot_be_written_are_no_success(kprof, tmp_path):
    """A full disk, or a file where the folder should be."""
    from tests.cli.every_command import furnish

    furnish(tmp_path)
    (tmp_path / "file").write_text("")
    ran = kprof("ingest", "trace", tmp_path / "trace.json", "-o", tmp_path / "file" / "out", "--table-format", "csv")
    assert ran.code == 2
    assert "no tables were written" in ran.err
