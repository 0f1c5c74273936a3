"""Every command that reads files, with names in them that command terminals, spreadsheets and CI services."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.artifacts.kineto.builder import FOOTER, HEADER, Builder

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "tests" / "artifacts"
# A window's title, C1, right-to-left, an invisible letter, and a line that GitHub would take for an annotation.
NAME = "k\x1b]0;gone\x07\x9b31m\u202e\u200b\n::error file=x::boom"
FORMULA = "=cmd|' /C calc'!A0"
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A trace, counters, tuning results, assembly and configurations with such names."""
    folder = tmp_path_factory.mktemp("hostile")
    trace = Builder()
    for number, name in enumerate((NAME, FORMULA, NAME + "2")):
        trace.op(NAME, 1000 * number, 20, number)
        trace.run(name, 1000 * number + 30, 400)
    (folder / "trace.json").write_text(json.dumps({**HEADER, "traceEvents": trace.events, **FOOTER}))
    for source in ("counter_collection_1.csv", "kernel_trace_1_plain.csv"):
        rows = list(csv.reader((FILES / "rocprof" / "v3" / source).read_text().splitlines()))
        place = rows[0].index("Kernel_Name")
        with (folder / source).open("w", newline="") as file:
            for number, row in enumerate(rows):
                row[place] = row[place] if not number else NAME if number % 2 else FORMULA
                csv.writer(file).writerow(row)
    (folder / "tunableop.csv").write_text(
        "Validator,PT_VERSION,2.11.0\x1b]0;x\x07\nGemmTunableOp_float_TN,tn_1_2_3_ld_1_2_3,Gemm_\x1b[2J\x9b\u202e_12,1.0\n"
        "GemmTunableOp_float_TN,tn_1_2_3_ld_1_2_3,Default,2.0\n"
    )
    (folder / "tuned.csv").write_text(
        "M,N,K,libtype,solidx,us,kernelName\x1b[2J\n1,2,3,a\x1b]0;x\x07,1,2.0,\x9b\u202e\n1,2,\x1b[2J,a,1,2.0,k\n"
    )
    text = (FILES / "gfx942" / "matmul.triton-3.9.0.amdgcn").read_text()
    file = "/tmp/\x1b]0;gone\x07\x9b\u202e.py"
    name = re.search(r'^\s*\.file\s+1 "[^"]*"(?: "[^"]*")?', text, re.MULTILINE)[0]
    (folder / "k.amdgcn").write_text(text.replace(name, name.replace(name.split('"')[1], file)))
    (folder / "gfx942-GEMM-\x1b]0;x\x07\u202e.json").write_text(
        json.dumps({"any": {"BLOCK_SIZE_M": 64, NAME: 1, "num_warps": 3, "kpack": NAME}}, indent=2, ensure_ascii=False)
    )
    saved = json.loads((ROOT / "tests/reporters/screens/flash_attention.json").read_text())
    (kernel,) = saved["kernels"]
    kernel["name"] = NAME
    kernel["findings"][0]["message"] = NAME
    kernel["notes"] = kernel["model"]["assumptions"] = [NAME]
    (folder / "old.json").write_text(json.dumps(saved))
    kernel["resources"]["vgpr_spills"] += 300
    kernel["findings"][0]["name"] = NAME
    (folder / "new.json").write_text(json.dumps(saved))
    (folder / "kprof.toml").write_text(
        'arch = ["gfx942"]\n[[kernel]]\ntarget = "k.amdgcn"\n'
        '[[kernel]]\ntarget = "\\u001b]0;x\\u0007\\n::error::boom"\n'
    )
    return folder


COMMANDS = [
    "trace top trace.json",
    "trace top trace.json --show operators",
    "trace gaps trace.json",
    "trace report trace.json",
    "trace steps trace.json",
    "trace tree trace.json",
    "trace ops trace.json",
    "trace breakdown trace.json --by-name",
    "trace diff trace.json trace.json",
    "trace ranks trace.json",
    "ingest trace trace.json",
    "ingest counters counter_collection_1.csv",
    "ingest counters kernel_trace_1_plain.csv",
    "ingest counters counter_collection_1.csv --json -",
    "ingest tunableop tunableop.csv",
    "ingest tunableop tunableop.csv --json -",
    "ingest results tuned.csv",
    "ingest results tuned.csv --json -",
    "ingest thread-trace trace.json",
    "counters metrics counter_collection_1.csv --arch gfx942",
    "counters roofline counter_collection_1.csv --arch gfx942",
    "analyze kernel k.amdgcn -vv",
    "analyze kernel k.amdgcn --json -",
    "diff k.amdgcn k.amdgcn -vv",
    "diff old.json new.json",
    "diff old.json new.json -vv",
    "diff old.json new.json --json -",
    "diff old.json new.json --markdown -",
    "report old.json new.json -o page.html",
    "cfg k.amdgcn -o -",
    "analyze kernel k.amdgcn --format concise",
    "analyze kernel k.amdgcn --format markdown",
    "analyze kernel k.amdgcn --github",
    "diff k.amdgcn k.amdgcn --markdown -",
    "lint . -v --github",
    "lint . --json -",
    "lint . --markdown -",
    "lint . --sarif -",
    "lint . --junit -",
    "lint . --gitlab -",
    "check --config-file kprof.toml",
    "occupancy k.amdgcn",
    "list kernels \x1b]0;x\x07\u202e",
    "explain \x1b]0;x\x07\u202e",
    "trace top \x1b]0;x\x07\u202e.json",
    "\x1b]0;x\x07\u202e",
]


def run(folder, command, **environment):
    """The program in a process of its own: raw bytes of both streams."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "analyzers")])
    return subprocess.run(
        [sys.executable, "-m", "kprof", *command.split(" ")],
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )


def lines_for_github(text):
    """Lines that a runner takes for commands."""
    return [line for line in text.splitlines() if re.match(r"\s*::|.*##\w*\[", line)]


@pytest.mark.parametrize("command", COMMANDS, ids=[re.sub("[^ -~]", "?", command) for command in COMMANDS])
def test_names_are_text(folder, command):
    """No control, C1, bidi or invisible character on either stream, no forged annotation, no traceback."""
    ran = run(folder, command)
    text = (ran.stdout + ran.stderr).decode()
    assert text
    assert "Traceback" not in text
    assert ran.returncode in {0, 1, 2}
    assert not BAD.search(text), ascii(BAD.search(text)[0])
    forged = [line for line in lines_for_github(text) if "boom" in line and "--github" not in command]
    assert not forged
    # A name with a newline in it makes no line of its own, which a problem matcher or a reader would believe.
    assert not [line for line in text.splitlines() if re.match(r"\s*\\?::error file=x", line)]
    if "--github" in command:
        assert all(re.match(r"::(error|warning|notice) ", line) for line in lines_for_github(text))
    if "--json" in command:
        json.loads(ran.stdout)


@pytest.mark.parametrize("command", ["ingest counters counter_collection_1.csv", "ingest trace trace.json"])
def test_tables_hold_no_formulas(folder, tmp_path, command):
    """No cell of any table begins like a formula, and the names are there."""
    ran = run(folder, f"{command} -o {tmp_path} --table-format csv")
    assert ran.returncode == 0, ran.stderr
    cells = []
    for path in tmp_path.rglob("*.csv"):
        with path.open(newline="") as file:
            cells += [cell for row in csv.reader(file) for cell in row]
    assert f"'{FORMULA}" in cells
    assert not [cell for cell in cells if cell[:1] in {"=", "@", "\t", "\r"}]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
@pytest.mark.parametrize("command", ["analyze kernel k.amdgcn -v", "trace breakdown trace.json", "list gpus gfx942"])
def test_other_encodings(folder, command, encoding):
    """Bars and arrows degrade; nothing fails."""
    ran = run(folder, command, PYTHONIOENCODING=encoding)
    assert ran.returncode == 0, ran.stderr
    assert b"Traceback" not in ran.stderr
    ran.stdout.decode(encoding)
    if encoding == "ascii" and command.startswith("analyze"):
        assert b" f16 - " in ran.stdout
