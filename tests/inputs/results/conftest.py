"""Files of other tools, as these tests need them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kprof.inputs import results
from kprof.inputs.results import ToolResults

Reader = Callable[[str], ToolResults]


@pytest.fixture
def reading(tmp_path: Path) -> Reader:
    """Write a text to a file and read it."""

    def read(text: str) -> ToolResults:
        path = tmp_path / "given"
        path.write_text(text, encoding="utf-8")
        return results.read(path)

    return read
