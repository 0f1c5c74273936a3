"""The examples of docs/api.md, run as they stand: each prints what stands below it."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import kprof

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"<!-- example(?P<about>[^>]*?) -->\n```python\n(?P<code>.*?)```\n```text\n(?P<printed>.*?)```", re.DOTALL
)


@dataclass(frozen=True)
class Example:
    """A block of code with what it prints."""

    about: str
    code: str
    printed: str


EXAMPLES = [Example(**found.groupdict()) for found in EXAMPLE.finditer(PAGE)]


def _parameters() -> list[object]:
    marks = [[pytest.mark.triton, pytest.mark.slow] if "triton" in one.about else [] for one in EXAMPLES]
    return [
        pytest.param(one, marks=mark, id=f"{number}")
        for number, (one, mark) in enumerate(zip(EXAMPLES, marks, strict=True))
    ]


def test_every_block_of_python_is_an_example() -> None:
    assert PAGE.count("```python") == len(EXAMPLES) >= 5


@pytest.mark.parametrize("example", _parameters())
def test_an_example_prints_what_the_page_says(example: Example, tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    path.write_text(example.code)

    ran = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, check=False)

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == example.printed


def test_every_public_name_is_on_the_page() -> None:
    assert [name for name in kprof.__all__ if name != "__version__" and f"kprof.{name}" not in PAGE] == []
