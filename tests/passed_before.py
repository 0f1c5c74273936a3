"""A pytest plugin for CI, where one suite runs under several interpreters: skip the tests that another run has passed.

    python -m pytest -p tests.passed_before --write-passed FILE
    python -m pytest -p tests.passed_before --passed-before FILE

A test that was skipped or that failed is not in the file, so that the second run contains it.
"""

from pathlib import Path

import pytest

_passed: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup("tests that another run has passed")
    group.addoption("--write-passed", type=Path, help="Write the names of the passed tests to this file.")
    group.addoption("--passed-before", type=Path, help="Leave out the tests whose names are in this file.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that the other run has passed."""
    path: Path | None = config.getoption("--passed-before")
    if path is None:
        return
    before = set(path.read_text(encoding="utf-8").splitlines())
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in before])
    items[:] = [item for item in items if item.nodeid not in before]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember a test whose call passed; forget it when its teardown fails."""
    if report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
        _passed.add(report.nodeid)
    elif report.failed:
        _passed.discard(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the file; with pytest-xdist, only the process that collects all reports does so."""
    path: Path | None = session.config.getoption("--write-passed")
    if path is not None and not hasattr(session.config, "workerinput"):
        # pytest escapes line breaks in names, so that each name is one line.
        path.write_text("".join(f"{name}\n" for name in sorted(_passed)), encoding="utf-8")
