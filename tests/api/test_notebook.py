"""A notebook as a user runs it: small HTML, escaped, without scripts, with the numbers of the command."""

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kprof
from kprof.api.result import ReportResult
from kprof.reporters.answer import cause_text


class Tags(HTMLParser):
    """Every element with its attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def check(html: str) -> Tags:
    """Self-contained, closed, no scripts, no links to elsewhere."""
    tags = Tags(html)
    assert not tags.open
    assert set(tags.found) <= {"div", "b", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert tags.attributes <= {"style"}
    assert "url(" not in html
    assert len(html) < 100_000
    return tags


@pytest.mark.slow
def test_a_notebook_shows_what_the_command_finds(compiled: Path, run: Callable[..., Any], tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    cells = [
        f"import kprof; r = kprof.analyze({str(compiled)!r}, arch='gfx942'); r",
        "print(r.to_json())",
        "r.to_frame()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])

    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()

    shown, printed, frame = (cell.outputs[0] for cell in notebook.cells)
    tags = check(shown.data["text/html"])
    assert "matmul" in tags.text
    assert shown.data["text/plain"].startswith("<Analysis: 1 kernel analysed")
    written = json.loads(run("analyze", "kernel", compiled, "--arch", "gfx942", "--json", "-").out)
    assert json.loads(printed.text) == written
    (kernel,) = kprof.analyze(compiled, arch="gfx942").document.kernels
    assert kernel.causes
    assert {row for cause in kernel.causes for row in cause.findings} == set(range(len(kernel.findings)))
    for cause in kernel.causes:
        assert cause_text(kernel, cause).message in tags.text
    assert "matmul" in frame.data["text/html"]


def test_names_from_files_are_text(compiled: Path) -> None:
    document = kprof.analyze(compiled).document
    hostile = "<img src=x onerror=alert(1)>\"'&"
    kernel = msgspec.structs.replace(document.kernels[0], name=hostile, notes=[hostile])
    found = ReportResult(msgspec.structs.replace(document, kernels=[kernel], notes=[hostile]))

    tags = check(found._repr_html_())

    assert tags.text.count(hostile) >= 2


def test_many_kernels_are_counted_not_listed(compiled: Path) -> None:
    document = kprof.analyze(compiled).document
    found = ReportResult(msgspec.structs.replace(document, kernels=document.kernels * 500))

    assert "and 470 more" in check(found._repr_html_()).text


def test_what_is_not_known_is_a_question_mark(compiled: Path) -> None:
    compiled.with_suffix(".json").unlink()

    tags = check(kprof.analyze(compiled)._repr_html_())

    assert "?" in tags.text.split()
