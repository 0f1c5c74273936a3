"""The plugin that CI uses to run a test under one interpreter only: what has not passed is never left out."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = """
import pytest

@pytest.fixture
def broken():
    yield
    raise ValueError

@pytest.mark.parametrize("word", ["plain", "line\\nbreak"])
def test_passes(word): pass
def test_fails(): assert False
def test_is_skipped(): pytest.skip("elsewhere")
def test_ends_badly(broken): pass
@pytest.mark.xfail
def test_is_expected_to_fail(): assert False
"""


def run(folder: Path, *options: object) -> "subprocess.CompletedProcess[str]":
    """Run the tests of a folder on two workers, without this project's settings."""
    start = [sys.executable, "-m", "pytest", "-p", "tests.passed_before", "-p", "no:cacheprovider", "-v", "-n", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*start, "-c", str(folder / "pytest.ini"), *map(str, options)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_only_passed_tests_are_left_out(tmp_path):
    """Tests that failed, were skipped, failed in their teardown or were expected to fail run again."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    passed = tmp_path / "passed"
    first = run(tmp_path, "--write-passed", passed)
    assert first.returncode == 1, first.stdout + first.stderr
    names = [f"test_it.py::test_passes[{word}]" for word in (r"line\nbreak", "plain")]
    assert passed.read_text(encoding="utf-8").splitlines() == names
    second = run(tmp_path, "--passed-before", passed)
    assert second.returncode == 1, second.stdout + second.stderr
    assert "test_passes" not in second.stdout
    for name in ("test_fails", "test_is_skipped", "test_ends_badly", "test_is_expected_to_fail"):
        assert f"test_it.py::{name}" in second.stdout
