"""No output gives a time where it is not known how often a loop iterates."""

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

import kprof
from kprof.reporters.console import ConsoleReporter
from kprof.reporters.interface import ReportRequest
from kprof.reporters.registry import formats_of

pytestmark = pytest.mark.triton

SOURCE = """import triton
import triton.language as tl


@triton.jit
def summed(a, lengths, out, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    length = tl.load(lengths + row)
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, length, BLOCK):
        total += tl.load(a + row * 4096 + (start + at) * 2, start + at < length, 0.0)
    tl.store(out + row * BLOCK + at, total)
"""
TIME = re.compile(r"\b\d[\d.,]*\s?(?:µs|us|ms|ns)\b|\b\d[\d.,]* (?:microseconds|milliseconds)\b")
SIGNATURE = "*fp32:16,*i32:16,*fp32:16,256"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A row's length is in a tensor; rows are read every other element, so that there are findings."""
    file = tmp_path_factory.mktemp("bounds") / "summed.py"
    file.write_text(SOURCE, encoding="utf-8")
    made = kprof.analyze(f"{file}::summed", arch="MI300X", signature=SIGNATURE, grid=(2432,))
    (kernel,) = made.kernels
    assert [loop.trips_known for loop in kernel.model.loops] == [False]
    assert kernel.findings
    return made


def _numbers(value: Any, key: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _numbers(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, key)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield key, value


@pytest.mark.parametrize("name", [each.name for each in formats_of("report")])
def test_no_format_gives_a_time(report: Any, name: str) -> None:
    """Neither in words nor, in JSON, as a number in microseconds."""
    (chosen,) = (each for each in formats_of("report") if each.name == name)
    text = chosen.render(report.document, ReportRequest("report", details=report.details))
    assert TIME.findall(text) == []
    if text.lstrip().startswith("{"):
        timed = [key for key, _ in _numbers(json.loads(text)) if re.search(r"(?:^|_)(?:us|ms|ns)$", key)]
        assert timed == []


def test_the_terminal_gives_none(report: Any) -> None:
    """What is missing is said instead."""
    stream = io.StringIO()
    ConsoleReporter(Console(file=stream, width=160)).show(report.document)
    text = " ".join(stream.getvalue().split())
    assert "time not known" in text
    assert TIME.findall(text) == []


@pytest.mark.parametrize("said", ["12.5 µs", "3 ms", "1,024 us", "2.4 milliseconds"])
def test_a_time_would_be_seen(said: str) -> None:
    """The pattern finds what must not stand there."""
    assert TIME.search(f"it takes {said} (model)")
