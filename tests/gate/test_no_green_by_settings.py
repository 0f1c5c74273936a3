"""Settings that would take something out of a verdict: an error, or said in the verdict's line."""

import json

import pytest

from kprof.errors import KprofError
from kprof.gate.config import load
from tests.gate.accepted import allowance


def test_a_product_stays_a_product(gate):
    """What depends on the number of CUs is judged for the GPU that is named; its budget holds."""
    gate.config("arch_budget.MI300X = {max_vgpr_allocated = 1}", arch='["MI300X"]')
    assert gate("--json", "out.json").code == 1
    kernels = json.loads((gate.root / "out.json").read_text())["kernels"]
    assert {(kernel["arch"], kernel["product"]) for kernel in kernels} == {("gfx942", "MI300X")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('arch = ["gfx9420"]', "no architecture or product 'gfx9420'"),
        ("arch_budget.gfx9420 = {max_sgpr = 1}", "no architecture or product 'gfx9420'"),
        ("arch_budget.gfx942 = {max_sgpr = 1}\narch_budget.MI300X = {max_sgpr = 2}", "are both for gfx942"),
    ],
)
def test_a_budget_for_no_gpu_is_an_error(tmp_path, text, message):
    """It would limit nothing; with its line."""
    path = tmp_path / "kprof.toml"
    path.write_text(f'\n{text}\n[[kernel]]\ntarget = "x.s"\n')
    with pytest.raises(KprofError, match=message) as caught:
        load(path)
    assert caught.value.place in {"line 2", "line 3"}


def test_two_products_of_one_architecture_are_an_error(gate):
    """Their checks would have the same name in the baseline."""
    gate.config(arch='["MI300X", "MI325X"]')
    ran = gate()
    assert ran.code == 2
    assert "arch names MI300X and MI325X, which run the same code (gfx942)" in ran.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('fail_on = "never"', '; findings do not count (fail_on = "never")'),
        (
            "watch = ['vgpr_spills', 'lds_bytes']",
            "; sgpr_spills, scratch_bytes, waves_per_simd, time_us not compared (watch)",
        ),
        ("budget.max_vgpr_allocated = 1\n" + allowance(kernel="compiled*"), "; 2 are worse and allowed"),
        (allowance(kernel="nowhere"), "; 1 allowance is not needed"),
    ],
)
def test_what_a_setting_takes_out_is_in_the_verdict(gate, text, words):
    """It is wanted, and whoever reads the line alone must know."""
    gate.config(text)
    verdict = gate.reason(0)
    assert verdict.startswith("ok: 2 checks")
    assert verdict.endswith(words)


@pytest.mark.parametrize(
    "other",
    ['[[program]]\nname = "train"\ncommand = ["python", "two.py"]', '[[kernel]]\ntarget = "train"'],
)
def test_two_programs_of_one_name_are_an_error(tmp_path, other):
    """The baseline would have one state for both: as bad as the other was no worse."""
    path = tmp_path / "kprof.toml"
    one = '[[program]]\nname = "train"\ncommand = ["python", "one.py"]\n'
    path.write_text(one + other)
    with pytest.raises(KprofError, match="another program or kernel is called 'train'") as caught:
        load(path)
    assert caught.value.place in {"line 2", "line 5"}
    path.write_text(one + "arch = ['gfx942']\n" + one + "arch = ['gfx950']")
    assert len(load(path).program) == 2


def test_an_architecture_that_nobody_named(gate):
    """It is assumed, and said."""
    gate.config()
    path = gate.root / "kprof.toml"
    path.write_text(path.read_text().replace('arch = ["gfx942"]', ""))
    assert gate.reason(0).endswith("; no arch is named, so MI300X was used")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budget.min_waves_per_simd = nan", "min_waves_per_simd: nan is not a valid limit"),
        ("budget.min_waves_per_simd = -inf", "min_waves_per_simd: -inf is not a valid limit"),
        ("arch_budget.gfx942.min_waves_per_simd = nan", "min_waves_per_simd: nan is not a valid limit"),
        ("budget.max_vgpr_spills = -1", "max_vgpr_spills: -1 is not a valid limit; it must be at least 0"),
        (allowance() + "limit = nan\n", "nan is not a valid limit"),
        (allowance() + "limit = inf\n", "inf is not a valid limit"),
        (allowance(what="vgpr_spils"), "there is no metric or rule 'vgpr_spils'; did you mean 'vgpr_spills'"),
    ],
)
def test_a_limit_that_limits_nothing_is_an_error(gate, text, message):
    """Nothing is below nan, and nothing has the name."""
    gate.config(text)
    ran = gate()
    assert ran.code == 2
    assert message in ran.err


@pytest.mark.parametrize(("old", "key"), [('"b.json"', "baseline"), ('"compiled"', "target")])
def test_an_empty_name_is_an_error(gate, old, key):
    """An empty baseline would be none, an empty target the whole folder."""
    path = gate.root / "kprof.toml"
    path.write_text(path.read_text().replace(old, '" "' if key == "target" else '""'))
    ran = gate()
    assert ran.code == 2
    assert f"{key} is empty" in ran.err


def test_two_configurations_in_one_folder_are_an_error(gate):
    """One of them would be ignored; another tool's pyproject.toml is none."""
    other = gate.root / "pyproject.toml"
    other.write_text("[tool.other]\nx = 'kprof'\n")
    assert gate().code == 0
    other.write_text("[tool.kprof]\n")
    ran = gate()
    assert ran.code == 2
    assert "kprof.toml and [tool.kprof] of pyproject.toml both configure this folder" in ran.err
    assert gate("--config-file", "kprof.toml").code == 0
