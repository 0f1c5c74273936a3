"""``kprof analyze kernel`` end to end: the main job, without a GPU."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from kprof.reporters.json_document import schema

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.triton
LARGE = "BLOCK_M=128,BLOCK_N=64,waves_per_eu=2,num_warps=4"
SMALL = "BLOCK_M=64,BLOCK_N=32,waves_per_eu=2,num_warps=4"
ATTENTION = ("analyze", "kernel", "flash_attention", "--arch", "gfx942", "--case", "d256_s4096")


def document(kprof, *arguments):
    """The ``--json`` document of a run that must succeed, checked against the schema."""
    ran = kprof(*arguments, "--json", "-")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    Draft202012Validator(schema()).validate(found)
    return found


def test_head_size_256_spills_with_the_large_tile(kprof):
    """The published 2.7x: 128x64 spills an order of magnitude more than 64x32."""
    (large,) = document(kprof, *ATTENTION, "--config", LARGE)["kernels"]
    (small,) = document(kprof, *ATTENTION, "--config", SMALL)["kernels"]
    assert large["resources"]["vgpr_spills"] > 100
    assert large["resources"]["vgpr_spills"] >= 10 * small["resources"]["vgpr_spills"]


def test_first_lines_say_where_the_spills_are(kprof):
    """The report's first finding names the spills, the loop and the line."""
    ran = kprof(*ATTENTION, "--config", LARGE, "--no-color")
    lines = ran.out.splitlines()
    time = r"[\d.]+ ms predicted \(likely .*\)"
    assert re.match(
        rf"flash_attention on gfx942 \(MI300X assumed\): {time}, \d+ % of it on register spills", " ".join(lines[:2])
    )
    # The first cause says why it spills; what else the spills cost is listed below it.
    first = " ".join(lines[6:14])
    assert "KP306 waves-per-eu-above-lds" in first
    assert "same cause: KP301 spill-in-loop" in first
    assert ".LBB" not in ran.out
    assert "flash_attention.py:" in first


def test_spill_lines_are_lines_of_the_loop(kprof):
    """Each line that is named lies in the kernel file and holds code."""
    (kernel,) = document(kprof, *ATTENTION, "--config", LARGE)["kernels"]
    source = (ROOT / "kernels" / "flash_attention.py").read_text().splitlines()
    spills = [f for f in kernel["findings"] if f["rule"] == "KP301"]
    assert spills
    for finding in spills:
        for place in [finding["location"], *finding["related"]]:
            assert place["file"].endswith("flash_attention.py")
            assert source[place["line"] - 1].strip()
        loop = next(found for found in kernel["loops"] if found["header"] == finding["evidence"]["loop"])
        assert loop["spill_accesses"] == sum(finding["evidence"][k] for k in ("scratch_loads", "scratch_stores"))


def test_document_says_what_was_compiled(kprof):
    """Triton version, architecture and full specialisation are in every result."""
    import triton

    (kernel,) = document(kprof, *ATTENTION, "--config", SMALL)["kernels"]
    assert kernel["triton"] == triton.__version__
    assert kernel["arch"] == "gfx942"
    assert kernel["specialization"]["constexprs"]["BLOCK_M"] == 64
    assert kernel["specialization"]["options"]["waves_per_eu"] == 2
    hints = list(kernel["specialization"]["attributes"].values())
    # Triton 3.4 looks at the range of pointers only when buffer operations are switched on.
    buffers = not triton.__version__.startswith("3.4")
    assert ({"divisibility": 16, "pointer_range": 32} if buffers else {"divisibility": 16}) in hints
    assert kernel["launch"]["grid"]
    assert kernel["coverage"] == 1.0


def test_second_run_is_served_from_the_cache(kprof):
    """The same question again costs no compile."""
    document(kprof, *ATTENTION, "--config", SMALL)
    (again,) = document(kprof, *ATTENTION, "--config", SMALL)["kernels"]
    assert again["cached"] is True


def test_several_architectures_and_products(kprof):
    """One entry an architecture, in the order asked for, with the product that was named."""
    found = document(kprof, "analyze", "kernel", "softmax", "--arch", "gfx90a,MI300X,gfx1100")["kernels"]
    assert [(k["arch"], k.get("product")) for k in found] == [
        ("gfx90a", None),
        ("gfx942", "MI300X"),
        ("gfx1100", None),
    ]
    assert found[2]["resources"]["wavefront_size"] == 32


def test_fail_on_turns_findings_into_exit_code_1(kprof):
    """For CI: a finding at or above the bar fails."""
    assert kprof(*ATTENTION, "--config", LARGE, "--fail-on", "error", "--quiet").code == 1
    ran = kprof(*ATTENTION, "--config", SMALL, "--fail-on", "error", "--quiet")
    assert (ran.code, ran.err) == (0, "")


def test_passes_say_who_changed_what(kprof, tmp_path):
    """Which pass placed the LDS and widened the loads; the modules themselves with --dump."""
    (kernel,) = document(
        kprof, "analyze", "kernel", "gemm", "--arch", "gfx942", "--passes", "--dump", tmp_path / "stages"
    )["kernels"]
    by_metric = {name: entry["pass"] for entry in kernel["passes"] for name in entry["changed"]}
    assert by_metric["shared"] in {"allocate-amdgpu-shared-memory", "allocate-shared-memory"}
    widened = next(entry for entry in kernel["passes"] if "vector_max" in entry["changed"])
    assert widened["pass"] == "tritongpu-coalesce"
    shared = kernel["passes"][-1]["changed"]["shared"]
    assert shared == [None, kernel["resources"]["lds_bytes"]]
    names = {path.name for path in (tmp_path / "stages").iterdir()}
    # Triton 3.4 links with ld.lld, which need not be there; later ones link by themselves.
    linked = () if kernel["triton"].startswith("3.4.") else ("hsaco",)
    assert {f"gemm.gfx942.{stage}" for stage in ("ttir", "ttgir", "llir", "amdgcn", "json", *linked)} <= names
    modules = sorted((tmp_path / "stages" / "gemm.gfx942.passes").iterdir())
    assert len(modules) > 30
    assert "tt.func" in modules[0].read_text()


def test_own_kernel_by_signature(kprof, tmp_path):
    """A file of one's own needs no specification, and is specialised as a launch through torch would."""
    path = tmp_path / "mine.py"
    path.write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef scale(x, y, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)\n"
    )
    arguments = (
        "analyze",
        "kernel",
        f"{path}::scale",
        "--signature",
        "*fp16,*fp16,i32:16",
        "--constexpr",
        "BLOCK=2048",
    )
    (kernel,) = document(kprof, *arguments)["kernels"]
    assert kernel["name"] == "scale"
    assert kernel["source"]["file"] == str(path)
    wide = {name: n for name, n in kernel["instructions"].items() if name.endswith("_load_dwordx4") and name[0] != "s"}
    assert sum(wide.values()) == 1


AUTOTUNED = """
import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": 256}, num_warps=2), triton.Config({"BLOCK": 512}, num_warps=8)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=EVEN or i < n), mask=EVEN or i < n)
"""


def test_own_autotuned_kernel(kprof, tmp_path):
    """The autotuner's configurations count: the first, all of them when asked, and what is given wins."""
    path = tmp_path / "mine.py"
    path.write_text(AUTOTUNED)
    arguments = ("analyze", "kernel", f"{path}::scale", "--signature", "*fp16,*fp16,i32:16", "--constexpr", "EVEN=0")

    def compiled(*more):
        kernels = document(kprof, *arguments, *more)["kernels"]
        known = [kernel["specialization"] for kernel in kernels]
        return [(each["constexprs"]["BLOCK"], each["options"]["num_warps"]) for each in known]

    assert compiled() == [(256, 2)]
    assert compiled("--all-configs") == [(256, 2), (512, 8)]
    assert compiled("--all-configs", "--config", "num_warps=4") == [(256, 4), (512, 4)]


def test_own_kernel_with_its_launch(kprof, tmp_path):
    """Values and a grid make a launch: there is a time, and the checks of the grid are made."""
    path = tmp_path / "mine.py"
    path.write_text(AUTOTUNED)
    arguments = ("analyze", "kernel", str(path), "--signature", "*fp16,*fp16,1048576", "--constexpr", "EVEN=0")
    (kernel,) = document(kprof, *arguments, "--arch", "MI300X", "--grid", "4096")["kernels"]
    assert kernel["launch"]["grid"] == [4096]
    assert kernel["model"]["time_us"] > 0
    assert not any("grid" in note for note in kernel["notes"])
    counted = (*arguments, "--arch", "MI300X", "--grid", "cdiv(n,BLOCK);2")
    (kernel,) = document(kprof, *counted, "--shape", "n=1048576")["kernels"]
    block = kernel["specialization"]["constexprs"]["BLOCK"]
    assert kernel["launch"]["grid"] == [1048576 // block, 2]
    ran = kprof(*arguments, "--grid", "cdiv(rows,BLOCK)")
    assert "the grid uses rows, which is neither a knob nor a size that was given" in ran.err
    assert "give it: --shape rows=..." in ran.err
    short = kprof("analyze", *arguments[2:], "--arch", "MI300X", "--grid", "4096", "--quiet")
    assert short.out == kprof(*arguments, "--arch", "MI300X", "--grid", "4096", "--quiet").out


@pytest.mark.parametrize("grid", ["0", "1,2,3,4", "", "64;;2"])
def test_grids_that_cannot_be(kprof, grid):
    """One to three positive numbers or formulas."""
    ran = kprof("analyze", "kernel", "my.py::fn", "--signature", "i32", "--grid", grid)
    assert ran.code == 2
    assert "--grid takes one to three numbers" in ran.err


def test_own_kernel_without_signature(kprof, tmp_path):
    """The message is the option to copy: what the autotuner and the defaults give is not asked for."""
    path = tmp_path / "mine.py"
    path.write_text(AUTOTUNED)
    ran = kprof("analyze", "kernel", str(path))
    assert ran.code == 2
    assert "--signature 'x=...,y=...,n=...' --constexpr EVEN=..." in ran.err


def test_compiled_files_say_the_same_as_their_source(kprof, tmp_path):
    """Assembly with Triton's metadata beside it, as in a cache directory."""
    from kprof.compiler.compile import compile_kernel
    from kprof.targets.library import load
    from kprof.targets.specialize import from_launch

    kernel = load("softmax")
    shape = kernel.problem("gfx942")
    config = kernel.configure("gfx942", None, shape)
    options = {name: config[name] for name in ("num_warps", "num_stages", "waves_per_eu")}
    compiled = compile_kernel(from_launch(kernel.entry, kernel.launch(shape, config), "gfx942", options))
    (tmp_path / "softmax_kernel.amdgcn").write_text(compiled.amdgcn)
    (tmp_path / "softmax_kernel.ttgir").write_text(compiled.ttgir)
    (tmp_path / "softmax_kernel.json").write_text(json.dumps(dict(compiled.metadata)))
    (from_source,) = document(kprof, "analyze", "kernel", "softmax", "--arch", "gfx942")["kernels"]
    (from_directory,) = document(kprof, "analyze", "kernel", tmp_path)["kernels"]
    for key in ("resources", "occupancy", "loops", "instructions"):
        assert from_directory[key] == from_source[key]


def test_assembly_alone_does_not_invent_the_lds(kprof, tmp_path):
    """Triton's LDS is not in the assembly: occupancy is null, with the reason."""
    from kprof.compiler.compile import compile_kernel
    from kprof.targets.library import load
    from kprof.targets.specialize import from_launch

    kernel = load("gemm")
    shape = kernel.problem("gfx942")
    config = kernel.configure("gfx942", None, shape)
    compiled = compile_kernel(from_launch(kernel.entry, kernel.launch(shape, config), "gfx942", {"num_warps": 8}))
    assert compiled.lds_bytes
    path = tmp_path / "gemm.amdgcn"
    path.write_text(compiled.amdgcn)
    (found,) = document(kprof, "analyze", "kernel", path)["kernels"]
    assert found["resources"]["lds_bytes"] is None
    assert found["occupancy"] is None
    assert any("LDS" in note for note in found["notes"])


def test_a_warm_cache_needs_no_triton(kprof):
    """The second time neither the kernel's file nor Triton is imported."""
    import os
    import subprocess
    import sys

    first = kprof("analyze", "kernel", "softmax", "--arch", "gfx942", "--quiet")
    assert first.code == 0
    code = (
        "import sys\nsys.argv = ['kprof', 'analyze', 'kernel', 'softmax', '--arch', 'gfx942', '--quiet']\n"
        "from kprof.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('triton imported:', 'triton' in sys.modules)\n"
    )
    paths = os.pathsep.join([str(ROOT), str(ROOT / "analyzers")])
    environment = {**os.environ, "PYTHONPATH": paths}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout.splitlines()[-1] == "triton imported: False"


def test_a_changed_file_is_compiled_again(kprof, tmp_path):
    """No stale answer: the file's content decides."""
    path = tmp_path / "mine.py"
    text = (
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef scale(x, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(x + i, {}, mask=i < n)\n"
    )
    found = []
    for value in ("tl.load(x + i, mask=i < n) + 1.0", "1.0"):
        path.write_text(text.format(value))
        arguments = ("analyze", "kernel", f"{path}::scale", "--signature", "*fp32,i32:16", "--constexpr", "BLOCK=1024")
        (kernel,) = document(kprof, *arguments)["kernels"]
        found.append(any("_load_dword" in name and "s_load" not in name for name in kernel["instructions"]))
    assert found == [True, False]


def test_the_model_is_in_the_document_and_on_the_terminal(kprof):
    """Time with its range, causes that add up to the whole, turns from the launch."""
    (kernel,) = document(kprof, *ATTENTION, "--config", SMALL)["kernels"]
    model = kernel["model"]
    assert model["low_us"] < model["time_us"] < model["high_us"]
    assert sum(model["shares"].values()) == pytest.approx(1.0, abs=0.01)
    assert model["bound"] == next(iter(model["shares"]))
    assert all(loop["trips_known"] for loop in model["loops"])
    assert model["time_us"] >= model["speed_of_light_us"]
    ran = kprof(*ATTENTION, "--config", SMALL, "--no-color")
    assert "of the GPU's limit" in ran.out
    assert "  Time  " in ran.out


def test_what_cannot_be_launched_has_no_time(kprof):
    """A workgroup that does not fit is an error, and no time is made up for it."""
    (kernel,) = document(kprof, "analyze", "kernel", "softmax", "--arch", "gfx942", "--config", "num_warps=32")[
        "kernels"
    ]
    assert [found["rule"] for found in kernel["findings"] if found["severity"] == "error"] == ["KP402"]
    assert "model" not in kernel
    assert "the time is not modelled: no workgroup fits on a CU" in kernel["notes"]


def test_a_gpu_of_unknown_size_gets_no_time(kprof):
    """Cycles and causes do not need the number of CUs, a launch's time does."""
    (kernel,) = document(kprof, "analyze", "kernel", "softmax", "--arch", "gfx1102")["kernels"]
    assert kernel["model"]["time_us"] is None
    assert kernel["model"]["bound"]


def test_the_timeline_is_written_for_each_kernel(kprof, tmp_path):
    """A trace that viewers open, with the wavefronts' steps."""
    target = tmp_path / "waves.json"
    assert kprof("analyze", "kernel", "softmax", "--arch", "MI300X,gfx950", "--timeline", target).code == 0
    events = json.loads(target.read_text())["traceEvents"]
    assert {e["pid"] for e in events} == {1, 2, 3, 4}
    assert any(e.get("cat") == "wait" for e in events)
