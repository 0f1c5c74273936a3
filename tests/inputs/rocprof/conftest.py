"""The made-up run that every fixture file tells about, and how to read it."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def files() -> Path:
    """The folder of fixture files; see its ORIGIN.md."""
    return Path(__file__).parents[2] / "artifacts" / "rocprof"
