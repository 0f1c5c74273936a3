"""What a stranger adds is one file: a rule, an architecture. Written into a copy of the project, and run."""

import json
import os
import runpy
import shutil

import pytest

from tests.strangers.added_rule import RULE
from tests.strangers.conftest import ROOT

CASES = """# Sleep

```asm gfx942 metadata.num_warps=4
    .loc 1 3 0
    s_sleep 1
expect: KP499 warning k.py:3
message: a wavefront sleeps
evidence: {"count": 1}
try: num_warps 4 -> 2
```

Awake.

```asm gfx942
    s_nop 0
```
"""


@pytest.fixture
def rule(copy):
    """A rule: its file and its cases, nothing else."""
    files = {
        copy.root / "analyzers/kprof_analyzers/rules/launch/sleeping.py": RULE.lstrip("\n"),
        copy.root / "tests/rules/launch/sleeping.md": CASES,
    }
    for path, text in files.items():
        path.write_text(text)
    yield copy
    for path in files:
        path.unlink()


def test_a_rule_is_one_file_and_its_cases(rule):
    """It is listed, explained, documented, tested and found; an ignore comment silences it."""
    assert "sleeping-wavefront" in rule.kprof("list", "rules")
    explained = rule.kprof("explain", "KP499")
    assert "Looks for `s_sleep`" in explained
    assert "- lower `num_warps`: fewer to put to sleep" in explained
    rule.write_kernel()
    kernel = rule.analysed()["kernels"][0]
    found = [f for f in kernel["findings"] if f["rule"] == "KP499"]
    assert [(f["location"]["line"], f["evidence"]) for f in found] == [(3, {"count": 2}), (4, {"count": 2})]
    assert "KP499" in kernel["rules"]["checked"]
    rule.write_kernel(comment="  # kprof: ignore[KP499] it is night")
    kernel = rule.analysed()["kernels"][0]
    assert [f["location"]["line"] for f in kernel["findings"] if f["rule"] == "KP499"] == [4]
    assert [(s["finding"]["rule"], s["reason"]) for s in kernel["suppressed"]] == [("KP499", "it is night")]


def test_the_gate_knows_a_new_rule(rule):
    """It can be forbidden, by name too, and be required; SARIF explains it."""
    rule.write_kernel()
    config = rule.folder / "kprof.toml"
    kernel = '[[kernel]]\ntarget = "k.amdgcn"\n'
    config.write_text(f'forbid = ["sleeping-wavefront"]\n{kernel}')
    sarif = rule.kprof("check", "--sarif", "out.sarif", code=1)
    assert (rule.folder / "out.sarif").exists(), sarif
    document = json.loads((rule.folder / "out.sarif").read_text())["runs"][0]
    (described,) = (r for r in document["tool"]["driver"]["rules"] if r["id"] == "KP499")
    assert "s_sleep" in described["help"]["markdown"]
    assert "KP499" in {result["ruleId"] for result in document["results"]}
    assert "KP499" in rule.kprof("check", code=1)
    config.write_text(f'require = ["KP499"]\nfail_on = "never"\n{kernel}')
    assert "ok" in rule.kprof("check")


def test_a_new_rule_is_documented_and_its_cases_run(rule):
    """The generator writes its page; the project's own tests of rules take it up."""
    rule.python(
        "-c",
        "import sys; sys.path.insert(0, 'validation'); import generate_docs as g; "
        "p = [t for f, t in g.generated().items() if f.name == 'KP499-sleeping-wavefront.md']; "
        "f = g.ROOT / 'docs/rules/KP499-sleeping-wavefront.md'; f.write_text(p[0])",
        cwd=rule.root,
    )
    page = rule.root / "docs/rules/KP499-sleeping-wavefront.md"
    try:
        assert "## What to try\n- lower `num_warps`" in page.read_text()
        chosen = "sleeping or KP499 or explain_are or every_rule_has or own_names"
        ran = rule.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/rules", "-k", chosen, cwd=rule.root)
        assert "passed" in ran.stdout
    finally:
        page.unlink()


ARCHITECTURE = """
name = "gfx1399"
family = "RDNA9"
generation = "gfx12"
wavefront_size = 32
wavefront_sizes = [32, 64]
source = ["llvm22"]

[occupancy]
source = ["llvm22"]
max_waves_per_simd = 16
simds_per_cu = 2
default_mode = "cu"
unified_vgprs = false
max_vgprs = 256
max_agprs = 0
accum_granule = 1
sgpr_granule = 1
sgpr_trap_handler = 0
max_sgprs = 106
max_workgroup_size = 1024
max_workgroups_per_cu = 16

[occupancy.vgprs.32]
total = 1536
granule = 24
encoding_granule = 24

[occupancy.vgprs.64]
total = 768
granule = 12
encoding_granule = 12

[lds]
source = ["llvm22"]
bytes_per_cu = 65536
bytes_per_workgroup = 65536
granule = 1024
granule_llvm = 512
banks = 32
bank_bytes = 4

[wait_counters]
source = ["llvm22"]
loadcnt = 63
dscnt = 63
storecnt = 63
kmcnt = 31

[llvm]
source = ["llvm22"]
elf_machine = 0x7f
sgpr_extra = 0

[products.RX99]
source = ["llvm22"]
note = "invented"
"""


@pytest.fixture
def architecture(copy):
    """An architecture: one file with the least that one must say."""
    path = copy.root / "kprof/hardware/gfx1399.toml"
    path.write_text(ARCHITECTURE)
    copy.write_kernel("gfx1399", 32)
    yield copy
    path.unlink()


def test_an_architecture_is_one_file(architecture):
    """Every command that takes one works with it, by its name and by its product's."""
    listed = architecture.kprof("list", "gpus")
    assert "gfx1399" in listed
    assert "RX99" in listed
    assert "RDNA9" in architecture.kprof("list", "gpus", "RX99")
    shown = architecture.kprof("occupancy", "--arch", "gfx1399", "--vgpr", 128, "--lds", "16K", "--num-warps", 4)
    assert "gfx1399" in shown
    assert "gfx1399" in architecture.kprof("occupancy", "k.amdgcn")
    assert "gfx1399" in architecture.kprof("analyze", "kernel", "k.amdgcn", "-v")
    architecture.kprof("report", "k.amdgcn", "-o", "page.html")
    assert "gfx1399" in (architecture.folder / "page.html").read_text()
    architecture.kprof("draw", "flow", "k.amdgcn", "-o", "flow.svg")
    (architecture.folder / "kprof.toml").write_text('arch = ["gfx1399"]\n[[kernel]]\ntarget = "k.amdgcn"\n')
    assert "ok" in architecture.kprof("check")
    assert "same" in architecture.kprof("diff", "k.amdgcn", "k.amdgcn")
    table = {"1": {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64, "num_warps": 64, "num_stages": 2}}
    (architecture.folder / "gfx1399-GEMM-A16W16.json").write_text(json.dumps({"any": table["1"]}))
    linted = architecture.kprof("lint", "gfx1399-GEMM-A16W16.json", code=None)
    assert "gfx1399 allows" in linted or "gfx1399 takes 1,024" in linted


LATER = {
    "trace ops": (("model.json", "--arch", "RX99"), 0, "work is known for 0.0 %"),
    "trace steps": (("model.json",), 0, "no steps are marked"),
    "trace tree": (("model.json",), 0, "0.144 ms of kernels"),
    "trace ranks": (("model.json",), 0, "one rank only"),
    "draw layout": (("wmma", "--arch", "gfx1399"), 0, "<svg"),
    "select": (("gemm", "--arch", "gfx1399", "--shape", "M=64,N=64,K=64"), 0, "use gemm on gfx1399"),
    "list kernels": (("softmax", "--arch", "gfx1399"), 0, "softmax: 6 cases"),
    "list rules": ((), 0, "rules; kprof explain"),
    "doctor": ((), None, "analysing and modelling work"),
    # What is not known of it is said, and no other architecture's is taken.
    "counters metrics": (("v3", "--arch", "RX99"), 2, "no counter formulas for gfx1399"),
    "counters roofline": (("v3", "--arch", "RX99"), 2, "no counter formulas for gfx1399"),
    "validate": (("k.amdgcn", "--counters", "v3"), 2, "this was measured on MI300X, k is for gfx1399"),
    "tune": (("softmax", "--arch", "gfx1399", "--budget", "1"), 2, "this Triton does not compile for gfx1399"),
    "advise": (("softmax", "--arch", "gfx1399", "--budget", "1"), 2, "this Triton does not compile for gfx1399"),
}
COMPILE = {"select", "list kernels", "tune", "advise"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.triton] if name in COMPILE else []) for name in LATER]
)
def test_every_other_command_takes_a_new_architecture(architecture, name, monkeypatch):
    """Or says in one sentence what it does not know of it."""
    # A machine without clang++ has a warning of its own.
    compiler = architecture.folder / "bin" / "clang++"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{compiler.parent}{os.pathsep}{os.environ['PATH']}")
    sample = ROOT / "tests/artifacts"
    if name.startswith("trace"):
        builder = runpy.run_path(str(sample / "kineto/builder.py"))
        builder["small_model"](builder["Builder"]()).write(architecture.folder / "model.json")
    shutil.copytree(sample / "rocprof/v3", architecture.folder / "v3")
    arguments, code, words = LATER[name]
    assert words in architecture.kprof(*name.split(), *arguments, code=code)


def test_an_architecture_s_file_says_what_its_counters_mean(architecture):
    """The set of formulas is named there, and nowhere else; one that does not exist is named in an error."""
    path = architecture.root / "kprof/hardware/gfx1399.toml"
    shutil.copytree(ROOT / "tests/artifacts/rocprof/v3", architecture.folder / "v3")
    asked = ("counters", "metrics", "v3", "--arch", "RX99", "--json", "metrics.json")
    path.write_text(f'counter_formulas = "rdna"\n{ARCHITECTURE}')
    architecture.kprof(*asked)
    kernels = json.loads((architecture.folder / "metrics.json").read_text())["kernels"]
    cycles = [kernel["metrics"]["gui_cycles"] for kernel in kernels]
    assert cycles
    # CDNA's are of one XCD.
    assert {each["title"] for each in cycles} == {"GPU active cycles"}
    assert all(each["missing"] == ["GRBM_GUI_ACTIVE"] for each in cycles)
    path.write_text(f'counter_formulas = "nobody"\n{ARCHITECTURE}')
    assert "there are no counter formulas called 'nobody'" in architecture.kprof(*asked, code=2)


def test_every_rule_says_what_it_did_on_a_new_architecture(architecture):
    """None takes another architecture's figures, and none is silent."""
    architecture.kprof("list", "rules", "--json", "rules.json")
    listed = json.loads((architecture.folder / "rules.json").read_text())["rules"]
    kernels = {r["rule"] for r in listed if r["rule"][:3] in {f"KP{family}" for family in range(1, 7)}}
    rules = architecture.analysed()["kernels"][0]["rules"]
    silent = {each["rule"]: each["reason"] for each in rules["not_checked"]}
    absent = {each["rule"]: each["reason"] for each in rules["does_not_apply"]}
    assert {*rules["checked"], *silent, *absent} == kernels
    assert absent["KP304"] == "gfx1399 has no AGPRs"
    for rule in ("KP104", "KP406", "KP501", "KP502", "KP503", "KP504", "KP507", "KP605"):
        assert "not known" in silent[rule], rule


def test_no_test_breaks_because_of_a_new_architecture(architecture):
    """Those that go through all architectures take it up or leave it out."""
    folders = (
        "hardware",
        "rules/test_rule.py",
        "inputs/code_object/test_reader.py",
        "analyzers/occupancy/test_hardware.py",
    )
    tests = [f"tests/{folder}" for folder in folders]
    chosen = "not test_a_rule_without and (not test_every_rule_says or gfx1399)"
    ran = architecture.python(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, "-k", chosen, cwd=architecture.root, code=None
    )
    assert ran.returncode == 0, ran.stdout[-3000:]
