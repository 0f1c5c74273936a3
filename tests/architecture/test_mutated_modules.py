"""Every module of what answers rest on is scored, or says why it is not."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/validation/mutation.md"
ROW = re.compile(r"^\| ([a-z_.0-9]+) \|.*\| (\d+)/(\d+) \|$", re.MULTILINE)
GROUP = re.compile(r"^\| \*\*(.+)\*\* \|.*\| \d+/\d+, ([\d.]+) % \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def script():
    """The module with the sets from which ``validation/mutate.py`` chooses mutants."""
    spec = importlib.util.spec_from_file_location("mutated_modules", ROOT / "validation/mutated_modules.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look their own module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tables():
    """The page's tables by their names."""
    parts = re.findall(r"<!-- (\w+) -->\n(.*?)<!-- end -->", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return dict(parts)


def modules_of(package):
    """Dotted names of all files of a package but those that only make a folder one."""
    top = ROOT / ("analyzers" if package.startswith("kprof_analyzers") else ".")
    folder = top / package.replace(".", "/")
    return [
        ".".join(path.relative_to(top).with_suffix("").parts)
        for path in sorted(folder.rglob("*.py"))
        if path.name != "__init__.py"
    ]


def test_every_module_is_scored_or_says_why_not(script):
    """A new module of these packages is on one of the two lists, and on one only."""
    scored = {chosen.module for name in script.SETS for chosen in script.SETS[name]()}
    there = {module for package in script.PACKAGES for module in modules_of(package)}
    excused = {module for module in there for name in script.WITHOUT_ROW if f"{module}.".startswith(f"{name}.")}
    assert sorted(there - scored - excused) == []
    whole = {name for name in script.WITHOUT_ROW if name in there}
    assert sorted(whole & scored) == []
    gone = {name for name in script.WITHOUT_ROW if not any(f"{module}.".startswith(f"{name}.") for module in there)}
    assert sorted(gone) == []
    assert len(there) > 90


def test_the_page_has_a_row_for_each_and_none_for_what_is_gone(script, tables):
    """Once each."""
    assert sorted(tables) == sorted(script.SETS)
    for name, table in tables.items():
        wanted = sorted(chosen.module.removeprefix("kprof_analyzers.") for chosen in script.SETS[name]())
        assert sorted(module for module, _, _ in ROW.findall(table)) == wanted


def test_nine_of_ten_mutants_of_each_group_are_killed(script, tables):
    """As `make mutants` demands, where all mutants were tried; samples show where tests are missing."""
    whole = [tables[name] for name in script.WHOLE]
    scores = {group: float(share) for table in whole for group, share in GROUP.findall(table)}
    assert len(scores) >= 8
    assert {group: share for group, share in scores.items() if share < 90} == {}
