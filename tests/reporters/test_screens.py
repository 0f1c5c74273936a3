"""First screens at 80 and 120 columns, as text; what holds for all of them is compared with each."""

import io
import json
import os
import re
import sys
from pathlib import Path

import pytest

from kprof.cli.app import main
from kprof.diffing.reading import read_report
from kprof.output.terminal import terminal
from kprof.reporters.console import ConsoleReporter
from tests.artifacts.kineto.builder import FOOTER, HEADER, Builder

SCREENS = Path(__file__).parent / "screens"
FILES = Path(__file__).parents[1] / "artifacts"
SGR = re.compile(r"\x1b\[[0-9;]*m")
PROGRESS = re.compile(r"\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)|\r\x1b\[K")
"""The line that a slow machine shows until the first output."""
COMMANDS = {
    "analyze-assembly": "analyze kernel matmul.triton-3.9.0.amdgcn",
    "check": "check --config-file kprof.toml",
    "diff": "diff matmul.triton-3.4.0.amdgcn matmul.triton-3.9.0.amdgcn",
    "trace-breakdown": "trace breakdown trace.json",
    "trace-top": "trace top trace.json",
    "trace-gaps": "trace gaps trace.json",
    "counters-metrics": "counters metrics counter_collection_1.csv --arch gfx942",
    "lint": "lint gfx950-GEMM-A16W16.json",
    "list-gpus": "list gpus",
    "list-gpus-one": "list gpus MI300X",
    "draw-flow": "draw flow matmul.triton-3.9.0.amdgcn -o flow.svg",
    "configs": "configs config.json --server vllm --arch MI300X --tp 8",
    "counters-diff": "counters diff counter_collection_1.csv counter_collection_1.csv --arch gfx942",
    "counters-roofline": "counters roofline counter_collection_1.csv --arch gfx942",
    "ingest-counters": "ingest counters counter_collection_1.csv",
    "ingest-mlir": "ingest mlir matmul.ttgir",
    "ingest-trace": "ingest trace trace.json",
    "list-kernels": "list kernels",
    "draw-layout": "draw layout mfma --size 32x32 -o layout.svg",
    "occupancy": "occupancy --arch gfx942 --vgpr 168 --lds 32768 --num-warps 4",
    "occupancy-kernel": "occupancy matmul.triton-3.9.0.amdgcn --lds 16384",
    "explain": "explain KP301",
    "list-rules": "list rules",
    "trace-diff": "trace diff trace.json slower.json",
    "trace-ops": "trace ops trace.json --arch MI300X",
    "trace-path": "trace path trace.json",
    "trace-ranks": "trace ranks trace.json slower.json",
    "trace-steps": "trace steps trace.json",
    "trace-tree": "trace tree trace.json",
}


MNEMONIC = r"(?:[sv]|ds|buffer|global|flat|scratch)_(?:wait|mfma|wmma|load|store|read|write|cvt)\w*"
ABOUT_INSTRUCTIONS = {"list-gpus-one", "explain", "ingest-mlir"}
"""Screens whose subject they are; all others name instructions under -v."""


class _Screen(io.StringIO):
    """A terminal."""

    def isatty(self):
        return True


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the commands read; the working directory."""
    for version in ("3.4.0", "3.9.0"):
        name = f"matmul.triton-{version}.amdgcn"
        text = (FILES / "gfx942" / name).read_text()
        (tmp_path / name).write_text(re.sub(r'"/[^"]*/([^"/]+\.py)"', r'"\1"', text))
    (tmp_path / "kprof.toml").write_text('arch = ["gfx942"]\n[[kernel]]\ntarget = "matmul.triton-3.9.0.amdgcn"\n')
    source = FILES / "rocprof" / "v3" / "counter_collection_1.csv"
    (tmp_path / source.name).write_bytes(source.read_bytes())
    (tmp_path / "gfx950-GEMM-A16W16.json").write_text(
        json.dumps({"any": {"BLOCK_SIZE_M": 64, "num_warps": 4, "kpack": 2}}, indent=2)
    )
    (tmp_path / "matmul.ttgir").write_bytes((FILES / "mlir" / "matmul.gfx942.stages2.triton-3.9.ttgir").read_bytes())
    (tmp_path / "config.json").write_bytes((FILES / "model_configs" / "deepseek-v3" / "config.json").read_bytes())
    (tmp_path / "trace.json").write_text(_trace(400))
    (tmp_path / "slower.json").write_text(_trace(480))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _trace(us):
    """Products, elementwise kernels of ``us`` microseconds, and a collective."""
    trace = Builder()
    names = ("Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x224x64_MI16x16x1_SN", "triton_poi_fused_add_mul_0")
    for number in range(9):
        trace.run(names[number % 2], 1000 * number + 30, (us if number % 2 else 400) + number)
    trace.run("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", 12000, 300)
    return json.dumps({**HEADER, "traceEvents": trace.events, **FOOTER})


def screen(monkeypatch, width, show):
    """What ``show`` prints on a terminal of this width, without colours and blanks at the ends of lines."""
    stream = _Screen()
    for name, value in {"COLUMNS": str(width), "LINES": "40", "TERM": "xterm", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        show()
    return "\n".join(line.rstrip() for line in SGR.sub("", PROGRESS.sub("", stream.getvalue())).splitlines()) + "\n"


def run(monkeypatch, command):
    """The program, whatever its exit code."""
    monkeypatch.setattr(sys, "argv", ["kprof", *command.split()])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code in {0, 1, 2, None}


def held(name, width, text):
    """The golden text, written anew where that is asked for."""
    path = SCREENS / f"{name}.{width}.txt"
    if "KPROF_UPDATE_GOLDEN" in os.environ:
        path.write_text(text)
    assert text == path.read_text()


def proper(text, width):
    """No line that the terminal would cut, no name of an instruction or of a block, no count of nothing."""
    lines = text.splitlines()
    for line in lines:
        # Commands, attributes and names of files are there to be copied.
        assert len(line) <= width or re.match(r"rocprofv3 |  #\w+ = #ttg| +\S+\.json$", line), line
    assert lines[0].strip()
    assert ".LBB" not in text
    assert not re.search(r"(?<![\d.,])0 (note|remark|warning|error|finding|change)s?\b", text)
    assert not re.search(r"\b(turns?|clocks a)\b", text)


def words(text):
    """All words, however they are laid out."""
    return set(re.findall(r"[^\s│]+", text))


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(
    "name",
    # What a kernel cannot run on is asked of Triton.
    [pytest.param(name, marks=[pytest.mark.triton] if name == "list-kernels" else []) for name in COMMANDS],
)
def test_first_screens(folder, monkeypatch, capsys, name, width):
    """Each as it was read and found good."""
    text = screen(monkeypatch, width, lambda: run(monkeypatch, COMMANDS[name]))
    proper(text, width)
    if name not in ABOUT_INSTRUCTIONS:
        assert not re.search(rf"\b{MNEMONIC}", text)
    held(name, width, text)


@pytest.mark.parametrize("width", [80, 120])
def test_a_kernel_that_spills(monkeypatch, width):
    """The README's kernel, from what was saved of it."""
    report = read_report(SCREENS / "flash_attention.json")
    text = screen(monkeypatch, width, lambda: ConsoleReporter(terminal()).show(report))
    proper(text, width)
    held("analyze", width, text)
    first = "flash_attention on gfx942 (MI300X assumed): 3.82 ms predicted (likely 1.83 to 5.31 ms)"
    assert " ".join(text.split()).startswith(first)
    assert "the loop at lines 44-77" in text.replace("\n", " ") or "lines 44-77" in text


def test_narrow_terminals_lose_no_word(monkeypatch):
    """All that is said at 120 columns is said at 80, the rules' names included."""
    report = read_report(SCREENS / "flash_attention.json")
    wide, narrow = (
        words(screen(monkeypatch, width, lambda: ConsoleReporter(terminal()).show(report))) for width in (120, 80)
    )
    assert wide == narrow


def test_pipes_end_with_the_verdict(folder, kprof):
    """Where there is no terminal, the last line is what it was: scripts and logs look there."""
    assert kprof(*COMMANDS["check"].split()).out.splitlines()[-1].startswith("regression: ")
    assert kprof(*COMMANDS["trace-breakdown"].split()).out.splitlines()[-1].startswith("measured: GPU busy ")
    assert kprof(*COMMANDS["diff"].split()).out.splitlines()[-1].startswith(("ok: ", "regression: "))
