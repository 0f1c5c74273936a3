"""The page of the source documents: a row for everything, made by the script that runs the commands."""

import re
from pathlib import Path

import pytest

from kprof.inputs.boundary import toml_of
from scripts import try_sources

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/validation/sources.md").read_text(encoding="utf-8")
GROUPS = toml_of(try_sources.TABLE.read_text(encoding="utf-8"), "sources.toml")["group"]
ROWS = [row for group in GROUPS for row in group["rows"]]
QUICK = [group for group in GROUPS if re.match(r"kprof (occupancy|rules explain|kernels show)", group.get("run", ""))]


def test_the_page_has_every_row():
    """150 or more; each document has some, and what does not work wholly says why."""
    shown = [line for line in PAGE.splitlines() if line.startswith("| ") and line.count(" | ") >= 4]
    assert len(shown) >= max(150, len(ROWS))
    assert {row[0] for row in ROWS} == set(try_sources.TITLES)
    assert all(f"## {title}" in PAGE for title in try_sources.TITLES.values())
    for document, what, pattern, state, *why in ROWS:
        assert state in try_sources.STATES, what
        assert f"| {what.replace('|', chr(92) + '|')} |" in PAGE, (document, what)
        assert state == "works" or why, what
        re.compile(pattern)


@pytest.mark.parametrize(
    "group",
    [
        # A kernel's file is imported, and with it Triton.
        pytest.param(group, id=group["run"], marks=pytest.mark.triton if "list kernels" in group["run"] else ())
        for group in QUICK
    ],
)
def test_commands_print_what_the_page_says(group, tmp_path):
    """Those that take no time; the script runs all."""
    output = try_sources.run(group["run"], tmp_path)
    assert [row[1] for row in group["rows"] if try_sources.shown(output, row[2], tmp_path) is None] == []


def test_a_row_that_is_no_longer_true_fails(tmp_path, monkeypatch):
    """With the command and what it printed."""
    table = tmp_path / "sources.toml"
    rows = '["guide", "a", "kprof", "works"], ["guide", "b", "never", "works"]'
    table.write_text(f'[[group]]\nrun = "kprof --version"\nrows = [{rows}]\n')
    monkeypatch.setattr(try_sources, "TABLE", table)
    found = [wrong for _, wrong in try_sources.tried(tmp_path)]
    assert found[0] is None
    assert "kprof --version: no 'never' for 'b' in" in str(found[1])
