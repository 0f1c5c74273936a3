"""``kprof occupancy``."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

ASSEMBLY = """\
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl	pair
	.type	pair,@function
pair:
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel pair
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_next_free_vgpr 169
		.amdhsa_next_free_sgpr 96
		.amdhsa_accum_offset 128
	.end_amdhsa_kernel
	.text
.Lend:
	.size	pair, .Lend-pair
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name:           pair
    .symbol:         pair.kd
    .vgpr_count:     128
    .agpr_count:     0
    .sgpr_count:     46
    .wavefront_size: 64
    .group_segment_fixed_size: 0
    .max_flat_workgroup_size: 512
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
"""


def test_numbers_give_limiter_and_next_step(kprof):
    """The most important line is there, and the verdict is the last."""
    ran = kprof("occupancy", "--arch", "gfx942", "--vgpr", 128, "--lds", "32K", "--num-warps", 4)

    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].startswith("gfx942   128 VGPR, 32,768 B LDS, 4 waves of 64 lanes")
    assert "2 / 8 waves per SIMD" in lines[1]
    assert "limited by LDS" in lines[1]
    assert "3 waves need 11,264 B less LDS" in ran.out
    assert lines[-1] == "gfx942: 2 of 8 waves per SIMD, limited by LDS"


def test_each_architecture_has_a_row(kprof):
    """Several architectures and products, one row each, in the order given."""
    ran = kprof("occupancy", "--arch", "MI300X,gfx950,gfx1100,gfx1250", "--vgpr", 168, "--lds", 40000)

    assert ran.code == 0
    rows = [line.split()[0] for line in ran.out.splitlines()[1:5]]
    assert rows == ["gfx942", "gfx950", "gfx1100", "gfx1250"]
    assert "gfx942 · MI300X" in ran.out
    assert ran.out.splitlines()[-1].startswith("waves per SIMD: gfx942 · MI300X 1, gfx950 3, ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--arch", "gfx94", "--vgpr", 64], "did you mean 'gfx942'"),
        (["--arch", "sm_90", "--vgpr", 64], "no architecture or product 'sm_90'"),
        (["--arch", "gfx942", "--vgpr", -3], "-3 VGPRs"),
        (["--arch", "gfx942", "--vgpr", 99999], "can have 512"),
        (["--arch", "gfx1100", "--vgpr", 64, "--agpr", 8], "no AGPRs"),
        (["--arch", "gfx942", "--vgpr", 64, "--num-warps", 0], "at least one wavefront"),
        (["--arch", "gfx942", "--vgpr", 64, "--wavefront-size", 32], "only of 64"),
        (["--arch", "gfx942", "--vgpr", 64, "--mode", "wgp"], "no 'wgp' mode"),
        (["--arch", "gfx942", "--vgpr", 64, "--lds", "many"], "--lds takes bytes"),
        (["--arch", "gfx942", "--vgpr", 64, "--lds", "-5"], "--lds takes bytes"),
        (["--arch", "gfx942", "--vgpr", 64, "--lds", "²"], "--lds takes bytes"),
        (["--arch", "gfx942", "--vgpr", 64, "--curve", "time"], "--curve takes"),
        (["--arch", "gfx942", "--vgpr", 64, "--method", "magic"], "hardware, llvm, guide"),
        (["--arch", "gfx1100", "--vgpr", 64, "--method", "guide"], "the tuning guide's formula does not cover gfx1100"),
        (["--arch", "gfx942"], "--vgpr is missing"),
        (["nothing.s"], "nothing.s"),
        (["--arch", "gfx942", "--vgpr", "x"], "--vgpr"),
    ],
)
def test_bad_input_is_one_message_and_exit_2(kprof, arguments, words):
    """Unknown names, impossible and absurd numbers: words for the user, nothing on standard output."""
    ran = kprof("occupancy", *arguments)

    assert ran.code == 2
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--lds", "70000"], "70,000 B of LDS; a workgroup on gfx942 can have 65,536"),
        (["--num-warps", 32], "2,048 work-items"),
        (["--vgpr", 400, "--num-warps", 8], "400 VGPRs each are more than a CU"),
    ],
)
def test_what_cannot_be_launched_is_a_finding(kprof, arguments, words):
    """It is an answer, with exit code 1 and what to change."""
    ran = kprof("occupancy", "--arch", "gfx942", "--vgpr", 128, *arguments)

    assert ran.code == 1
    assert words in ran.out
    assert "Next step" in ran.out
    assert ran.out.splitlines()[-1].startswith("gfx942: cannot launch: ")


def test_curve_marks_the_kernel(kprof):
    """One bar a plateau, one of them marked, and no colour codes in a pipe."""
    ran = kprof("occupancy", "--arch", "gfx942", "--vgpr", 100, "--curve", "vgpr")

    marked = [line for line in ran.out.splitlines() if "here" in line]
    assert len(marked) == 1
    assert marked[0].split()[:2] == ["97-128", "4"]
    assert "\x1b" not in ran.out


@pytest.mark.parametrize("resource", ["lds", "num-warps"])
def test_other_curves(kprof, resource):
    """LDS ends with what cannot be launched; workgroup sizes are powers of two."""
    ran = kprof("occupancy", "--arch", "gfx1250", "--vgpr", 16, "--num-warps", 1, "--lds", 5000, "--curve", resource)

    assert ran.code == 0
    assert "here" in ran.out
    assert "327,681-329,728      0" in ran.out if resource == "lds" else " 32     16" in ran.out
    assert len(ran.out.splitlines()) < 40


def test_guide_says_where_it_is_wrong(kprof):
    """The formula's answer, the hardware's beside it, and the counts that differ."""
    ran = kprof("occupancy", "--arch", "gfx942", "--vgpr", 168, "--method", "guide")

    assert ran.code == 0
    assert "2 / 8 waves per SIMD" in ran.out
    assert "the hardware allows 3" in ran.out
    assert "65-72 VGPRs: 7 on the hardware, 6 by the guide; 161-168 VGPRs: 3 on the hardware" in ran.out


def test_llvm_method_takes_a_version(kprof):
    """Scalar registers count differently from LLVM 24 on."""
    old = kprof("occupancy", "--arch", "gfx942", "--vgpr", 16, "--sgpr", 87, "--method", "llvm", "--llvm", 22)
    new = kprof("occupancy", "--arch", "gfx942", "--vgpr", 16, "--sgpr", 87, "--method", "llvm")

    assert "8 of 8" in old.out
    assert "7 of 8" in new.out


def test_json_has_everything(kprof, tmp_path):
    """The document on standard output is alone there; in a file it comes beside the text."""
    arguments = ("occupancy", "--arch", "MI300X", "--vgpr", 168, "--lds", 21504, "--curve", "vgpr")
    document = json.loads(kprof(*arguments, "--json", "-").out)

    assert document["schema"] == "kprof.occupancy/1"
    kernel = document["kernels"][0]
    assert (kernel["arch"], kernel["product"]) == ("gfx942", "MI300X")
    assert kernel["occupancy"]["waves_per_simd"] == 3
    assert kernel["occupancy"]["next_step"] == {
        "resource": "vgpr",
        "reduce_by": 40,
        "waves_per_simd": 4,
        "also": {"lds": 5120},
    }
    assert kernel["resources"]["vgpr_allocated"] == 168
    assert kernel["curve"]["points"][0]["first"] == 1
    assert document["verdict"]["status"] == "ok"

    path = tmp_path / "out.json"
    ran = kprof(*arguments, "--json", path)
    assert json.loads(path.read_text()) == document
    assert "waves per SIMD" in ran.out


def test_quiet_is_only_the_verdict(kprof):
    """For scripts that look at the exit code."""
    assert kprof("occupancy", "--arch", "gfx942", "--vgpr", 128, "-q").out.count("\n") == 1


def test_assembly_file_with_its_padding(kprof, tmp_path):
    """The descriptor's padded registers decide; launch numbers come from the command line."""
    path = tmp_path / "pair.s"
    path.write_text(ASSEMBLY)
    ran = kprof("occupancy", path, "--lds", 0, "--num-warps", 8)

    assert ran.code == 0
    assert "2 / 8 waves per SIMD" in ran.out
    assert "limited by waves_per_eu" in ran.out
    assert "4 waves need 41 fewer VGPRs of padding (waves_per_eu)" in ran.out


def test_numbers_take_the_place_of_the_targets(kprof, tmp_path):
    """What if it used fewer registers: the padding of this compile no longer counts."""
    path = tmp_path / "pair.s"
    path.write_text(ASSEMBLY)
    ran = kprof("occupancy", path, "--lds", 0, "--num-warps", 4, "--vgpr", 64)

    assert "8 / 8 waves per SIMD" in ran.out


@pytest.mark.triton
def test_bundled_kernel(kprof):
    """A kernel of the collection, compiled for two architectures, with its real LDS."""
    ran = kprof("occupancy", "softmax", "--arch", "gfx942,gfx1100", "--json", "-")

    assert ran.code == 0
    kernels = json.loads(ran.out)["kernels"]
    assert {k["arch"] for k in kernels} == {"gfx942", "gfx1100"}
    assert all(k["occupancy"]["waves_per_simd"] > 0 for k in kernels)


def test_nothing_heavy_is_imported():
    """Numbers alone cost neither rich nor pandas nor an analysis framework."""
    code = (
        "import sys; sys.argv = ['kprof', 'occupancy', '--arch', 'gfx942', '--vgpr', '64', '--curve', 'vgpr'];"
        "from kprof.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'rich', 'pandas', 'numpy', 'yaml', 'elftools', 'torch', 'triton', 'jinja2'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'analyzers'}", "PATH": ""},
    )
    assert ran.stderr.strip() == "[]"


def test_plain_characters_where_the_terminal_has_no_others():
    """An ASCII stream gets ASCII, not an encoding error."""
    ran = subprocess.run(
        [sys.executable, "-m", "kprof", "occupancy", "--arch", "MI300X,gfx950", "--vgpr", "100", "--curve", "vgpr"],
        capture_output=True,
        check=False,
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'analyzers'}", "PATH": "", "PYTHONIOENCODING": "ascii"},
    )
    assert ran.returncode == 0, ran.stderr.decode()
    assert "####" in ran.stdout.decode("ascii")


@pytest.mark.triton
@pytest.mark.parametrize("command", ["occupancy", "draw flow"])
def test_a_function_of_one_s_own_is_given_as_to_analyze(kprof, tmp_path, command):
    """With the types of its arguments, whichever command it is."""
    pytest.importorskip("triton")
    path = tmp_path / "mine.py"
    path.write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef double(x, n, BLOCK: tl.constexpr):\n"
        "    i = tl.arange(0, BLOCK)\n    tl.store(x + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)\n"
    )
    ran = kprof(*command.split(), str(path), "--arch", "gfx942", "--signature", "*fp16,i32", "--constexpr", "BLOCK=256")
    assert ran.code == 0, ran.err
    assert "double" in ran.out
