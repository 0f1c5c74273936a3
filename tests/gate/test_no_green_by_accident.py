"""What a stranger does to a gate by accident: never ok, and the reason stands in the verdict."""

import json
import os
import shutil
from pathlib import Path

import msgspec
import pytest

from kprof.document import KernelReport
from kprof.gate.config import KernelEntry
from kprof.gate.subject import CheckSubject
from kprof.gate.subjects import require_launchable
from tests.gate.accepted import ARTIFACTS, EXP, MATMUL, allowance


def test_a_kernel_that_vanished(gate):
    """Nobody looked at it; accepted, it is gone for good."""
    (gate.folder / "exp.amdgcn").unlink()
    verdict = gate.reason(2)
    assert verdict.startswith("cannot tell: 1 of 2 checks could not be judged: compiled::scaled_exp on gfx942: ")
    assert "the baseline has this kernel, but it no longer exists" in verdict
    assert gate("--update-baseline").code == 0
    assert gate().code == 0


def test_a_target_that_the_configuration_no_longer_names(gate):
    """The same: the difference of the baseline shows that it was meant."""
    shutil.copy(EXP, gate.root / "alone.amdgcn")
    (gate.root / "kprof.toml").write_text(
        'arch = ["gfx942"]\nbaseline = "b.json"\n[[kernel]]\ntarget = "alone.amdgcn"\n'
    )
    assert "cannot tell: 3 of 3 checks" in gate.reason(2)


@pytest.mark.parametrize("bytes_kept", [0, 1, 900, 9_000, -700])
def test_a_listing_cut_short(gate, bytes_kept):
    """At any place, from nothing left to the last lines missing."""
    path = gate.folder / "matmul.amdgcn"
    path.write_bytes(path.read_bytes()[:bytes_kept])
    verdict = gate.reason(2)
    words = ("ends too early", "cut off", "is empty", "not AMDGCN", "no longer exists")
    assert any(word in verdict for word in words), verdict


def test_an_empty_folder(gate):
    """No kernel is no good news."""
    for file in gate.folder.iterdir():
        file.unlink()
    assert "compiled on gfx942: compiled: no compiled kernel in this directory" in gate.reason(2)


def test_an_architecture_that_nothing_was_compiled_for(gate):
    """Each one that is asked for has to be there."""
    gate.config(arch='["gfx942", "gfx950"]')
    assert "compiled on gfx950: contains no kernel for gfx950, only for gfx942" in gate.reason(2)
    gate.config(arch='["gfx950"]')
    assert "this was compiled for gfx942, not for gfx950" in gate.reason(2)


def test_kernels_for_another_architecture_are_named(gate):
    """They are nobody's business, and the verdict says that they are there."""
    shutil.copy(ARTIFACTS / "gfx950" / MATMUL.name, gate.folder / "other.amdgcn")
    assert gate.reason(0).endswith("compiled also has 1 for gfx950")


def test_a_baseline_of_another_triton(gate):
    """Two compilers' programs are not compared."""
    path = gate.root / "b.json"
    path.write_text(path.read_text().replace('"triton"', '"Triton 3.4.0"'))
    assert "cannot tell: 2 of 2 checks could not be judged" in gate.reason(2)


def _states(accepted):
    """What the baseline has of the product, by compiler."""
    return next(iter(accepted["kernels"]["compiled::matmul"].values()))["gfx942"]


def test_entries_of_another_triton_are_named(gate):
    """Another job may look at them, or none: the kernel that it compiled is no longer in the configuration."""
    path = gate.root / "b.json"
    accepted = json.loads(path.read_text())
    state = _states(accepted)["triton"]
    accepted["kernels"]["train::step"] = {"as found": {"gfx942": {"Triton 3.4.0": state}}}
    path.write_text(json.dumps(accepted))
    assert gate.reason(0).endswith("; the baseline also has Triton 3.4.0, not checked")


def test_what_arch_leaves_out_is_named(gate):
    """Without a baseline nothing else would say it, nor for an entry with an architecture of its own."""
    shutil.copy(ARTIFACTS / "gfx950" / MATMUL.name, gate.folder / "other.amdgcn")
    path = gate.root / "kprof.toml"
    path.write_text('fail_on = "never"\narch = ["gfx942", "gfx950"]\n[[kernel]]\ntarget = "compiled"\n')
    assert "gfx950 of the configuration not checked" in gate.reason(0, "--arch", "gfx942")
    assert "of the configuration" not in gate.reason(0)


def test_an_allowance_of_one_rule_is_none_of_another(gate):
    """More than the budget is allowed for; that it gets worse from there is not."""
    plain = gate.folder / "matmul.amdgcn"
    gate.config("budget.max_vgpr_spills = 0\n" + allowance(what="over-budget"))
    plain.write_text(spilling())
    gate("--update-baseline")
    assert gate.reason(0).endswith("; 1 is worse and allowed")
    plain.write_text(plain.read_text().replace(".vgpr_spill_count: 9", ".vgpr_spill_count: 90"))
    assert "90 VGPRs spilled, the baseline has 9" in gate.reason(1)
    gate.config("budget.max_vgpr_spills = 0\n" + allowance(what="vgpr_spills"))
    assert gate.reason(0).endswith("; 2 are worse and allowed")


def test_a_count_below_zero_is_not_known(gate):
    """It is below any budget."""
    plain = gate.folder / "matmul.amdgcn"
    plain.write_text(plain.read_text().replace(".vgpr_spill_count: 0", ".vgpr_spill_count: -5"))
    assert "vgpr_spills is not known now" in gate.reason(2)


@pytest.mark.parametrize("value", [-1, 1e300, 2**60, 10**400])
def test_a_baseline_with_a_value_that_no_kernel_has(gate, value):
    """Edited by hand or by a merge: nothing would be worse than it."""
    path = gate.root / "b.json"
    accepted = json.loads(path.read_text())
    _states(accepted)["triton"]["metrics"]["waves_per_simd"] = value
    path.write_text(json.dumps(accepted))
    ran = gate()
    assert ran.code == 2
    assert "b.json: is not a baseline: compiled::matmul on gfx942: waves_per_simd has an impossible value" in ran.err


def test_a_folder_that_cannot_be_listed(gate, monkeypatch):
    """Who runs the tests may list all of them."""
    locked = gate.folder / "locked"
    locked.mkdir()
    plain = os.scandir

    def scandir(path):
        if Path(path) == locked:
            raise PermissionError(13, "Permission denied", str(path))
        return plain(path)

    monkeypatch.setattr(os, "scandir", scandir)
    verdict = gate.reason(2)
    assert verdict.startswith("cannot tell: ")
    assert "locked: cannot be listed: Permission denied" in verdict


def test_no_kernel_matches(gate):
    """A filter that leaves nothing, and a baseline that is not there."""
    assert gate.reason(2, "--arch", "gfx90a") == "cannot tell: 0 of 0 checks could not be judged"
    assert "the baseline does not have this kernel" in gate.reason(2, "--baseline", "nowhere.json")


def spilling():
    """The product, with spills and under the same name."""
    text = MATMUL.read_text()
    changed = text.replace(".vgpr_spill_count: 0", ".vgpr_spill_count: 9")
    assert text != changed
    return changed


def test_two_kernels_of_one_name_that_change_places(gate):
    """As many are good and bad as before: each is compared with what was in its own file."""
    plain, other = gate.folder / "matmul.amdgcn", gate.folder / "larger.amdgcn"
    other.write_text(spilling())
    gate("--update-baseline")
    assert "distinguished only by" not in gate.reason(0)
    good = plain.read_text()
    plain.write_text(spilling())
    other.write_text(good)
    assert "9 VGPRs spilled, the baseline has 0" in gate.reason(1)
    # Under another name nobody knows what it was.
    plain.write_text(good)
    other.unlink()
    (gate.folder / "new.amdgcn").write_text(spilling())
    assert "in new.amdgcn" in gate.reason(2)


def test_one_kernel_does_not_hide_behind_another_of_its_name(gate):
    """In a cache, whose folders are named by hashes of what is in them: the best one is compared with the best one."""
    files = [gate.folder / (letter * 52) / "matmul.amdgcn" for letter in "AB"]
    (gate.folder / "matmul.amdgcn").unlink()
    for file, text in zip(files, (MATMUL.read_text(), spilling()), strict=True):
        file.parent.mkdir()
        file.write_text(text)
    gate("--update-baseline")
    assert gate.reason(0).endswith("; 2 compiled::matmul on gfx942 are distinguished only by their metrics")
    files[1].parent.rename(gate.folder / ("2" * 52))
    assert gate().code == 0
    files[0].write_text(spilling())
    assert "9 VGPRs spilled, the baseline has 0" in gate.reason(1)


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("KP604", "there is no TTGIR"),
        ("loop-not-pipelined", "there is no TTGIR"),
        ("KP742", "it is not a rule for compiled kernels"),
    ],
)
def test_a_required_rule_that_could_not_run(gate, rule, why):
    """By identifier or name, configuration files' rules too."""
    gate.config(f'require = ["{rule}"]')
    assert f"{rule} is required and could not run: {why}" in gate.reason(2)


@pytest.mark.parametrize("where", ["", "[[kernel]]"])
def test_a_forbidden_rule_that_could_not_run(gate, where):
    """It is a limit, and nobody knows whether it is kept; of all kernels or of one."""
    gate.config("" if where else 'forbid = ["loop-not-pipelined"]')
    if where:
        with (gate.root / "kprof.toml").open("a") as file:
            file.write('forbid = ["loop-not-pipelined"]\n')
    assert "loop-not-pipelined is forbidden and could not run: there is no TTGIR" in gate.reason(2)


def test_a_forbidden_rule_that_ran_or_does_not_apply(gate):
    """The quiet case: gfx942 has no stalls between VALU instructions of gfx12."""
    gate.config('forbid = ["KP301", "KP012", "KP013"]')
    assert gate().code == 0


def test_required_rules_that_ran(gate):
    """The quiet case: the gate's own rules always do."""
    gate.config('require = ["KP111", "KP012", "cannot-launch", "KP001"]')
    assert gate().code == 0


def test_a_required_comparison_without_a_baseline(gate):
    """Nothing was compared."""
    path = gate.root / "kprof.toml"
    path.write_text('arch = ["gfx942"]\nfail_on = "never"\nrequire = ["KP012"]\n[[kernel]]\ntarget = "compiled"\n')
    assert "KP012 is required and could not run: there is no baseline" in gate.reason(2)


def test_an_architecture_that_is_looked_at_no_more(gate):
    """The baseline still has it."""
    path = gate.root / "b.json"
    accepted = json.loads(path.read_text())
    for archs in accepted["kernels"]["compiled::matmul"].values():
        archs["gfx950"] = archs["gfx942"]
    path.write_text(json.dumps(accepted))
    assert gate.reason(0).endswith("; the baseline also has gfx950, not checked")


def test_links_in_a_folder_are_not_followed_and_named(gate):
    """What they lead to is not looked at; links to what is no kernel's file are nobody's concern."""
    (gate.root / "elsewhere").mkdir()
    shutil.copy(EXP, gate.root / "elsewhere" / "other.amdgcn")
    (gate.folder / "README").symlink_to("nowhere")
    assert "links" not in gate.reason(0)
    (gate.folder / "dangling.amdgcn").symlink_to("nowhere")
    (gate.folder / "more").symlink_to("../elsewhere")
    verdict = gate.reason(0)
    assert verdict.startswith("ok: 2 checks")
    assert "; links in compiled not followed: more, dangling.amdgcn" in verdict


def test_metrics_that_nobody_knows_are_named(gate):
    """Without its metadata a listing says nothing of spills, and the accepted state said nothing either."""
    for path in gate.folder.iterdir():
        lines = [line for line in path.read_text().splitlines(keepends=True) if "vgpr_spill_count" not in line]
        path.write_text("".join(lines))
    gate("--update-baseline")
    assert "; not known here or in the baseline: vgpr_spills" in gate.reason(0)


def test_configurations_none_of_which_can_be_launched():
    """An autotuner passes over one that cannot be launched, not over all of them."""
    entry = KernelEntry(target="k.py::mm")
    kernel = KernelReport(name="mm", arch="gfx942")

    def subject(*, refused, arch="gfx942"):
        return CheckSubject(
            entry, msgspec.structs.replace(kernel, arch=arch), optional=True, refused=refused, problem="no"
        )

    bad, good = subject(refused=True), subject(refused=False)
    assert [one.optional for one in require_launchable([bad, good])] == [True, True]
    assert [one.optional for one in require_launchable([bad, bad])] == [False, False]
    assert [one.optional for one in require_launchable([bad, subject(refused=False, arch="gfx950")])] == [False, True]
