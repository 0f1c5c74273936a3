"""Mutants of some rules are killed as docs/validation/mutation.md says: a sample, the same every time."""

import importlib
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/validation/mutation.md"
ROW = re.compile(r"^\| (rules\.\w+\.\w+) \|.*\| (\d+)/(\d+) \|$", re.MULTILINE)


def clean() -> list[str]:
    """Rules of which the page says that no mutant survives."""
    table = PAGE.read_text(encoding="utf-8").partition("<!-- rules -->")[2].partition("<!-- end -->")[0]
    return [module for module, killed, made in ROW.findall(table) if killed == made]


@pytest.mark.skipif(sys.platform == "win32", reason="mutants are run in forked processes")
def test_no_mutant_of_some_rules_survives(tmp_path):
    """Evidence and limits of two rules; written into the page their rows are those that it has, and all others stay."""
    chosen = random.Random(len(clean())).sample(clean(), 2)
    page = tmp_path / "mutation.md"
    page.write_bytes(PAGE.read_bytes())
    command = [sys.executable, "validation/mutate.py", "--set", "rules", "--kind", "evidence", "--kind", "threshold"]
    command += ["--least", "100", "--write", str(page), *chosen]
    ran = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert [line.split(": ")[0] for line in ran.stdout.splitlines()] == [
        f"kprof_analyzers.{name}" for name in sorted(chosen)
    ]
    assert page.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


@pytest.fixture
def mutate(monkeypatch):
    """The script as a module."""
    monkeypatch.syspath_prepend(ROOT / "validation")
    return importlib.import_module("mutate")


def test_a_sample_fails_only_where_chance_does_not_explain_its_survivors(mutate):
    """Of 40 mutants ten survivors in one sample of a hundred, where nine of ten mutants are killed."""
    assert mutate.chance(0, 2, 0.9) == pytest.approx(0.01)
    assert mutate.chance(40, 40, 0.9) == pytest.approx(1.0)
    assert mutate.chance(30, 40, 0.9) < 0.01 < mutate.chance(31, 40, 0.9)
    assert mutate.chance(3, 4, 1.0) == 0.0


@pytest.mark.skipif(sys.platform == "win32", reason="mutants are run in forked processes")
def test_a_sample_ends_after_its_seconds_and_says_how_far_it_came():
    """The first module is always run, so that there is something to judge."""
    command = [
        sys.executable,
        "validation/mutate.py",
        "--sample",
        "10",
        "--seed",
        "3",
        "--seconds",
        "0",
        "--least",
        "90",
    ]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "0 s are over: 1 of 2 modules of the sample were run" in ran.stdout
    assert re.search(r"^\d of 5 mutants killed$", ran.stdout, re.MULTILINE)
