"""``kprof report``: one page from anything that can be analysed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kprof.document import SCHEMA

ROOT = Path(__file__).resolve().parents[2]
ASSEMBLY = ROOT / "tests" / "artifacts" / "gfx942" / "matmul.triton-3.9.0.amdgcn"


def test_a_page_of_assembly(kprof, tmp_path):
    """Read only: resources, instructions and loops are there, sources only where they may be read."""
    page = tmp_path / "page.html"
    ran = kprof("report", ASSEMBLY, "-o", page)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1].startswith("1 kernel analysed")
    text = page.read_text(encoding="utf-8")
    assert "v_mfma" in text
    assert "text not shown" in text
    assert len(text.encode()) < 1_000_000


def test_two_runs_write_the_same(kprof, tmp_path):
    """A page can be compared, and kept under version control."""
    pages = []
    for name in ("one.html", "two.html"):
        assert kprof("report", ASSEMBLY, "-o", tmp_path / name, "--quiet").code == 0
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]


def test_a_saved_report_is_a_target(kprof, tmp_path):
    """The document alone: the same facts, and the page says what is missing."""
    saved = tmp_path / "saved.json"
    assert kprof("analyze", "kernel", ASSEMBLY, "--json", saved, "--quiet").code == 0
    ran = kprof("report", saved, "-o", "-")
    assert ran.code == 0
    assert "source and instructions are not in a saved report" in ran.out
    name = json.loads(saved.read_text())["kernels"][0]["name"]
    assert f"<h2>{name}</h2>" in ran.out
    assert ran.out.rstrip().endswith("</html>")


def test_analyze_writes_the_same_page(kprof, tmp_path):
    """``--html`` beside the text: source, instructions and all."""
    kprof("report", ASSEMBLY, "-o", tmp_path / "report.html")
    ran = kprof("analyze", "kernel", ASSEMBLY, "--html", tmp_path / "analyze.html")
    assert ran.code == 0
    assert "1 kernel analysed" in ran.out
    assert (tmp_path / "analyze.html").read_text() == (tmp_path / "report.html").read_text()


def test_a_saved_report_names_files_that_are_not_read(kprof, tmp_path):
    """A document from a stranger cannot put a file of this machine onto the page."""
    secret = tmp_path / "secret.py"
    secret.write_text("key = 'do not show'\n")
    place = {"file": str(secret), "line": 1}
    finding = {"rule": "KP301", "name": "n", "severity": "error", "message": "m", "location": place}
    kernel = {"name": "<b>k</b>", "arch": "gfx942", "source": place, "findings": [finding]}
    verdict = {"status": "ok", "summary": "fine"}
    saved = tmp_path / "saved.json"
    saved.write_text(json.dumps({"schema": SCHEMA, "kprof": "1", "kernels": [kernel], "verdict": verdict}))
    ran = kprof("report", saved, "-o", "-", "--source", tmp_path)
    assert "do not show" not in ran.out
    assert "&lt;b&gt;k&lt;/b&gt;" in ran.out


def test_one_kernel_of_several(kprof, tmp_path):
    """--kernel chooses; a wrong name lists those there are."""
    folder = tmp_path / "several"
    folder.mkdir()
    for name in ("first", "second"):
        text = ASSEMBLY.read_text().replace("matmul", name)
        (folder / f"{name}.amdgcn").write_text(text)
    ran = kprof("report", folder, "-o", tmp_path / "all.html")
    assert ran.out.splitlines()[-1].startswith("2 kernels analysed")
    names = re.findall(r"<h2>(\w+)</h2>", (tmp_path / "all.html").read_text())
    assert len(names) == 2
    kprof("report", folder, "-o", tmp_path / "one.html", "--kernel", names[1])
    assert re.findall(r"<h2>(\w+)</h2>", (tmp_path / "one.html").read_text()) == [names[1]]
    ran = kprof("report", folder, "-o", tmp_path / "none.html", "--kernel", "third")
    assert ran.code == 2
    assert names[0] in ran.err
    assert not (tmp_path / "none.html").exists()


def test_what_cannot_be_read_ends_in_one_message(kprof, tmp_path):
    """Nothing to show: exit code 2 and no page. Something to show: the page says what is missing."""
    page = tmp_path / "page.html"
    ran = kprof("report", tmp_path / "absent.amdgcn", "-o", page)
    assert ran.code == 2
    assert "no such file" in ran.err
    assert not page.exists()
    ran = kprof("report", ASSEMBLY, tmp_path / "absent.amdgcn", "-o", page)
    assert ran.code == 2
    assert "What could not be analysed" in page.read_text()
    ran = kprof("report", ASSEMBLY, "-o", page, "--source", tmp_path / "absent")
    assert ran.code == 2
    assert "no such folder" in ran.err
    (tmp_path / "other.json").write_text('{"schema": "kprof.diff/1"}')
    assert "kprof.diff/1" in kprof("report", tmp_path / "other.json", "-o", page).err


@pytest.mark.triton
def test_a_grid_gives_an_own_kernel_a_time(kprof, tmp_path):
    """As for kprof analyze kernel: with sizes in the signature and the number of workgroups."""
    pytest.importorskip("triton")
    target = f"{ROOT / 'tests' / 'rules' / 'ab_kernels' / 'product.py'}::row_sums"
    own = ("--signature", "*fp16:16,*fp32:16,4096,4096", "--constexpr", "BLOCK=2048,RAGGED=False", "--arch", "MI300X")
    pages = [kprof("report", target, *own, *grid, "-o", "-").out for grid in ((), ("--grid", "4096"))]
    assert [bool(re.search(r"[\d.]+ µs to [\d.]+ µs", page)) for page in pages] == [False, True]


@pytest.mark.triton
def test_a_bundled_kernel_with_passes(kprof, tmp_path):
    """Source text, instructions, control flow, layouts, passes and provenance of a kernel that is compiled here."""
    page = tmp_path / "page.html"
    ran = kprof("report", "softmax", "--arch", "MI300X", "--passes", "-o", page)
    assert ran.code == 0
    text = page.read_text(encoding="utf-8")
    assert "tl.load" in text
    assert "softmax on MI300X: " in text
    assert "of the GPU's limit" in text
    assert "Compiler passes that changed something" in text
    assert "tritongpu-coalesce" in text
    assert text.count("data:image/svg+xml,") >= 1
    assert "option num_warps" in text
    rows = re.findall(r'<tr id="(k1-0-\d+)"', text)
    assert rows
    assert len(set(rows)) == len(rows)


def test_the_templates_are_read_only_when_a_page_is_written():
    """The list of commands and the help of this one pay for neither jinja2 nor the analyzers."""
    code = (
        "import sys\nsys.argv = ['kprof', 'report', '--help']\nfrom kprof.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'jinja2', 'markupsafe', 'kprof_analyzers', 'kprof.document', 'msgspec'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy), file=sys.stderr)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "analyzers")])}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert "heavy: []" in ran.stderr
