"""Output formats: a file in the folder is all there is to one, and what cannot be written is an error."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from kprof.document import KernelReport, Report, Verdict
from kprof.findings import Finding, Location, Severity
from kprof.reporters.interface import DOCUMENTS, Format, ReportRequest
from kprof.reporters.outputs import Outputs
from kprof.reporters.registry import format_of, formats

ROOT = Path(__file__).resolve().parents[2]
ASSEMBLY = ROOT / "tests/artifacts/gfx942/matmul.triton-3.9.0.amdgcn"
TSV = '''"""Findings as TSV."""

from kprof.reporters._ci_findings import items
from kprof.reporters.interface import Format


class _Tsv(Format):
    name = "tsv"
    help = "Write findings as TSV."
    extension = ".tsv"
    documents = ("check", "lint")

    def render(self, document, request):
        return "rule,where\\n" + "".join(f"{item.finding.rule},{item.where}\\n" for item in items(document))


FORMAT = _Tsv()
'''


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package with one more file; runs it."""
    root = tmp_path_factory.mktemp("copy")
    skip = shutil.ignore_patterns("__pycache__")
    for name in ("kprof", "analyzers", "servers", "validation", "docs", "kernels"):
        shutil.copytree(ROOT / name, root / name, ignore=skip)
    (root / "kprof/reporters/tsv.py").write_text(TSV)
    (root / "gfx950-GEMM-A16W16.json").write_text(json.dumps({"any": {"num_warps": 4, "kpack": 2}}))
    (root / "kprof.toml").write_text(f'[[kernel]]\ntarget = "{ASSEMBLY}"\n')
    paths = os.pathsep.join([str(root), str(root / "analyzers"), str(root / "servers")])

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=root,
            env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        )

    return root, run


@pytest.mark.parametrize("command", ["check", "lint"])
def test_a_format_is_one_file(copy, command):
    """Both commands write it, know it as ``--format`` and show it in their help."""
    root, run = copy
    target = ["gfx950-GEMM-A16W16.json"] if command == "lint" else []
    ran = run("-m", "kprof", command, *target, "--tsv", f"{command}.tsv")
    written = (root / f"{command}.tsv").read_text().splitlines()
    assert written[0] == "rule,where", ran.stderr
    assert ran.stdout
    ran = run("-m", "kprof", command, *target, "--format", "tsv")
    assert ran.stdout.splitlines() == written
    if command == "lint":
        assert any(line.startswith("KP711,") for line in written)
    helped = run("-m", "kprof", command, "--help").stdout
    assert re.search(r"--tsv PATH +Write findings as TSV\.", helped)


LISTING = '''"""How much there is of each."""

from kprof.reporters.interface import Format


class _Count(Format):
    name = "count"
    help = "Write how many entries there are."
    extension = ".txt"
    documents = ("occupancy", "select", "kernels", "kernel", "architectures", "architecture", "rules")

    def render(self, document, request):
        content = document if isinstance(document, dict) else {"kernels": document.kernels}
        lengths = [len(each) for each in content.values() if isinstance(each, list)]
        return f"{request.kind}: {max(lengths, default=1)}\\n"


FORMAT = _Count()
'''
LISTED = {
    "occupancy": ("occupancy", "--arch", "gfx942,gfx1201", "--vgpr", "128", "--num-warps", "8"),
    "select": ("select", "rmsnorm", "--arch", "gfx942", "--shape", "M=64,N=64", "--no-predict"),
    "kernels": ("list", "kernels"),
    "kernel": ("list", "kernels", "softmax"),
    "architectures": ("list", "gpus"),
    "architecture": ("list", "gpus", "gfx942"),
    "rules": ("list", "rules"),
}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.triton] if kind in {"select", "kernel"} else []) for kind in LISTED]
)
def test_a_format_of_listings_is_one_file(copy, kind):
    """Of tables and look-ups as well: the file is written, printed where it is asked for, and in the help."""
    root, run = copy
    (root / "kprof/reporters/count.py").write_text(LISTING)
    try:
        ran = run("-m", "kprof", *LISTED[kind], "--count", f"{kind}.txt")
        assert ran.returncode == 0, ran.stderr
        written = (root / f"{kind}.txt").read_text()
        assert re.fullmatch(rf"{kind}: [1-9][0-9]*\n", written)
        assert run("-m", "kprof", *LISTED[kind], "--format", "count").stdout == written
        words = LISTED[kind][:2] if kind in {"kernels", "kernel", "architectures", "architecture", "rules"} else [kind]
        assert "--count PATH" in run("-m", "kprof", *words, "--help").stdout
    finally:
        (root / "kprof/reporters/count.py").unlink()


def test_a_format_is_in_the_documentation(copy):
    """The generated page has it, with the commands that write it."""
    root, run = copy
    ran = run("validation/generate_docs.py")
    assert ran.returncode == 0, ran.stderr
    rows = [line for line in (root / "docs/formats.md").read_text().splitlines() if line.startswith("| tsv ")]
    assert rows == [
        "| tsv | `.tsv` | `--tsv PATH` | Write findings as TSV. | `kprof check`, `kprof lint` |",
    ]


def test_a_format_of_other_documents_is_refused(copy):
    """A known one that cannot show a comparison, and one that nobody knows: exit 2, and what there is."""
    _, run = copy
    for name, message in (("tsv", "does not support this command's result"), ("tvs", "did you mean 'tsv'")):
        command = "diff" if name == "tsv" else "lint"
        target = [str(ASSEMBLY), str(ASSEMBLY)] if name == "tsv" else ["gfx950-GEMM-A16W16.json"]
        ran = run("-m", "kprof", command, *target, "--format", name)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert message in ran.stderr
    ran = run("-m", "kprof", "diff", str(ASSEMBLY), str(ASSEMBLY), "--tsv", "x.tsv")
    assert ran.returncode == 2
    assert "--tsv" in ran.stderr
    assert not Path("x.tsv").exists()


def test_every_format_says_what_it_is():
    """All attributes, known documents, and no two of one name; each class of the folder is in use."""
    found = formats()
    assert len({each.name for each in found}) == len(found) >= 8
    for each in found:
        assert re.fullmatch("[a-z]+", each.name)
        assert each.help.endswith(".")
        assert each.extension.startswith(".")
        assert each.documents
        assert set(each.documents) <= set(DOCUMENTS)
        assert each.option in {"path", "flag", "none"}
    classes = {each for each in Format.__subclasses__() if each.__module__.startswith("kprof.")}
    assert classes == {type(each) for each in found}


def _report():
    def finding(message, place):
        return Finding("KP301", "spill-in-loop", Severity.WARNING, message, location=place)

    kernel = KernelReport(
        name="softmax\n::error::x",
        arch="gfx942",
        findings=[
            finding("300 spills\nin a loop", Location("k.py", 31, 5)),
            finding("300 spills\nin a loop", Location("k.py", 31, 5)),
            finding("no column", Location("k.py", 7)),
        ],
    )
    other = KernelReport(
        name="bare", arch="gfx942", findings=[Finding("KP401", "lds-over-limit", Severity.ERROR, "too much")]
    )
    return Report(kprof="0", kernels=[kernel, other], verdict=Verdict("ok", "fine"))


def test_concise_is_a_line_a_finding():
    """As editors read it: the worst first, one line each whatever is in a message, nothing twice."""
    text = format_of("concise", "check").render(_report(), ReportRequest("check"))
    assert text.splitlines() == [
        "bare: KP401 too much",
        "k.py:7:1: KP301 no column",
        r"k.py:31:5: KP301 300 spills\nin a loop",
    ]


def test_only_one_format_has_standard_output(kprof):
    """Two that want it are refused before anything is analysed."""
    ran = kprof("analyze", "kernel", ASSEMBLY, "--json", "-", "--format", "concise")
    assert (ran.code, ran.out) == (2, "")
    assert "only one of --json and --format concise can go to standard output" in ran.err
    ran = kprof("analyze", "kernel", ASSEMBLY, "--format", "concise")
    assert ran.code == 0
    assert all(re.fullmatch(r"\S+:\d+:\d+: KP\d{3} .+", line) for line in ran.out.splitlines())
    assert ran.out.count("\n") == 2


def test_json_of_file_names_that_are_not_utf8():
    """Written with an escape, everything else as it is."""
    report = _report()
    place = Location(b"caf\xe9/k.py".decode(errors="surrogateescape"), 3)
    kernel = msgspec.structs.replace(report.kernels[0], source=place)
    text = format_of("json", "report").render(
        msgspec.structs.replace(report, kernels=[kernel]), ReportRequest("report")
    )
    found = json.loads(text)["kernels"][0]
    assert found["source"]["file"] == r"caf\udce9/k.py"
    assert found["name"] == kernel.name


def test_a_document_is_made_where_a_format_needs_it_and_once(tmp_path, capsys):
    """For people nothing of it is needed."""
    made = []

    def document():
        made.append(1)
        return {"schema": "kprof.metrics/1", "kernels": []}

    Outputs("metrics").write(document, lambda: print("text"))
    assert (made, capsys.readouterr().out) == ([], "text\n")
    one = tmp_path / "one.json"
    Outputs("metrics", {"json": str(one)}, shown="json").write(document, lambda: print("text"))
    assert made == [1]
    assert capsys.readouterr().out == one.read_text(encoding="utf-8")
