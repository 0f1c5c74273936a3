"""The cells of docs/notebook.md, run in one notebook as they stand: each prints what stands below it."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "notebook.md").read_text(encoding="utf-8")
CELL = re.compile(r"```python\n(?P<code>.*?)```\n(?:```text\n(?P<printed>.*?)```)?", re.DOTALL)
CELLS = [(found["code"], found["printed"] or "") for found in CELL.finditer(PAGE)]


def test_every_block_is_a_cell_and_there_are_twelve_tasks() -> None:
    assert PAGE.count("```python") == len(CELLS)
    assert len(re.findall(r"^## \d+\. ", PAGE, re.MULTILINE)) == 12


@pytest.mark.slow
@pytest.mark.triton("3.9.")
def test_a_cell_prints_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what is shown in place of printing: each cell with a magic ends with an analysis, as tables and as text."""
    monkeypatch.delenv("KPROF_TRY", raising=False)
    pytest.importorskip("torch")
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code, _ in CELLS])

    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()

    printed = [
        "".join(one.text for one in cell.outputs if one.output_type == "stream" and one.name == "stdout")
        for cell in notebook.cells
    ]
    assert printed == [text for _, text in CELLS]
    shown = [
        one.data
        for cell in notebook.cells
        for one in cell.outputs
        if one.output_type in {"display_data", "execute_result"}
    ]
    assert [data["text/plain"].split(":")[0] for data in shown] == ["<Analysis", "<Analysis"]
    assert all("<table" in data["text/html"] for data in shown)
