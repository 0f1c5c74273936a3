"""A regression comes with the change of knobs that undoes it, or with the word that none was found."""

import json
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET

from kprof.document import KernelReport, Occupancy, Resources, Specialization
from kprof.findings import Finding, Location, Severity
from kprof.gate.config import KernelEntry
from kprof.gate.cures import cured, cures, failing, with_no_cure
from kprof.gate.subject import CheckSubject
from kprof_analyzers.model.certainty import certainty

KERNEL = """
import triton
import triton.language as tl
from kprof.kernel_spec import Kernel, Launch, Tensor


@triton.jit
def total(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        sums += tl.load(x_ptr + start + offsets)
    tl.store(out_ptr + offsets, sums)


def launch(shape, config):
    block = config["BLOCK"]
    tensors = {"out_ptr": Tensor("fp32", (block,)), "x_ptr": Tensor("fp32", (shape["N"],))}
    return Launch(args={**tensors, "n": shape["N"], "BLOCK": block}, grid=(1,))


KERNEL = Kernel(
    name="total", entry=total, summary="Sum blocks", launch=launch, shapes={"large": {"N": 1 << 20}},
    config={"BLOCK": 32768, "num_warps": 4, "waves_per_eu": 8},
    space={"BLOCK": (4096, 32768), "num_warps": (4,), "waves_per_eu": (8,)},
)
"""


def state(spills=0, waves=8.0, findings=(), block=64, lds=0, unseen=UNSET):
    """A kernel with so many spills and wavefronts."""
    report = KernelReport(
        name="add",
        arch="gfx942",
        specialization=Specialization(constexprs={"BLOCK": block}),
        resources=Resources(vgpr_spills=spills, lds_bytes=lds),
        unseen=unseen,
        occupancy=Occupancy(waves, 8, 2, "vgpr", {}),
        findings=list(findings),
    )
    return CheckSubject(KernelEntry(target="k.py"), report)


def failure(rule="KP011", severity=Severity.ERROR, gate="fails", **evidence):
    """What the gate fails for."""
    place = Location(file="k.py", line=1)
    return Finding(
        rule=rule, name="n", severity=severity, message="m", location=place, evidence={"gate": gate, **evidence}
    )


SPILLS = failure(metric="vgpr_spills", value=9, budget=2)
WAVES = failure("KP012", metric="waves_per_simd", value=1, baseline=2)
NARROW = failure("KP101")
LAUNCH = failure("KP014", value=131_072, limit=65_536)


@pytest.mark.parametrize(
    ("harm", "after", "gone"),
    [
        ([SPILLS], state(spills=2), True),
        ([SPILLS], state(spills=3), False),
        ([SPILLS], state(spills=None), False),
        ([WAVES], state(waves=2), True),
        ([WAVES], state(waves=1.5), False),
        ([NARROW], state(), True),
        ([NARROW], state(findings=[NARROW]), False),
        ([SPILLS, WAVES], state(spills=0, waves=1), False),
        ([SPILLS], state(findings=[failure("KP401")]), False),
        ([LAUNCH], state(lds=65_536), True),
        ([LAUNCH], state(lds=65_537), False),
        ([SPILLS], state(unseen="2 of its 9 instructions could not be decoded"), False),
    ],
)
def test_cure_undoes_all_and_brings_nothing_bad(harm, after, gone):
    """Every failure must be gone, unknown is not gone, and no new error may come."""
    assert cures(harm, state(spills=9, waves=1), after) is gone


def test_advice_has_old_and_new_values():
    """Knobs with both values, and the metrics that the compile showed."""
    before, after = state(spills=9), state(spills=0, block=32)
    report = state(findings=[SPILLS]).report
    (finding,) = cured(report, {"BLOCK": 32}, before, after).findings
    (advice,) = finding.advice
    assert (advice.knob, advice.from_, advice.to) == ("BLOCK", 64, 32)
    assert advice.verified == {"vgpr_spills": (9, 0)}
    assert with_no_cure(report, "nothing helps").findings[0].message == "m; nothing helps"


@pytest.mark.parametrize(("times", "speedup"), [((50.0, 100.0), 2.0), ((30.0, 100.0), 3.333)])
def test_advice_says_how_sure_it_is_that_it_is_faster(times, speedup):
    """From predicted times: the gain and the published pairs' share, both as three digits."""
    before, after = state(spills=9), state(spills=0, block=32)
    (finding,) = cured(state(findings=[SPILLS]).report, {"BLOCK": 32}, before, after, times=times).findings
    (advice,) = finding.advice
    share = certainty(speedup, "gfx942")
    assert (advice.speedup, advice.certainty) == (speedup, round(share, 3))
    assert advice.note == (f"predicted {speedup:.2f} times as fast, {100 * share:.0f} % sure that it is faster")


def test_without_a_predicted_time_there_is_no_number():
    """Which is faster has to be measured."""
    before, after = state(spills=9), state(spills=0, block=32)
    (finding,) = cured(state(findings=[SPILLS]).report, {"BLOCK": 32}, before, after, times=(None, 9.0)).findings
    (advice,) = finding.advice
    assert (advice.speedup, advice.certainty) == (UNSET, UNSET)
    assert advice.note == "it is not known which one is faster (no predicted time); measure both on the GPU"


def test_advice_for_an_architecture_without_published_times():
    """The gain is predicted, and how sure that is stays open; a kernel without a specialization has no old values."""
    before, after = (
        replace(one, report=msgspec.structs.replace(one.report, arch="gfx1100", specialization=UNSET))
        for one in (state(spills=9), state())
    )
    report = msgspec.structs.replace(state(findings=[SPILLS]).report, arch="gfx1100")
    (finding,) = cured(report, {"BLOCK": 32}, before, after, times=(50.0, 60.0)).findings
    (advice,) = finding.advice
    assert (advice.speedup, advice.certainty, advice.from_) == (1.2, UNSET, None)
    assert advice.note == ("predicted 1.20 times as fast, certainty not known: no published times of this architecture")


def test_only_what_fails_is_cured():
    """Findings that do not fail keep their message and get no advice."""
    passing = failure("KP101", gate="passes")
    report = state(findings=[passing, SPILLS]).report
    assert failing(report) == [SPILLS]
    kept, changed = with_no_cure(report, "nothing helps").findings
    assert kept == passing
    assert changed.message == "m; nothing helps"
    kept, changed = cured(report, {"BLOCK": 32}, state(), state()).findings
    assert (kept, [advice.knob for advice in changed.advice]) == (passing, ["BLOCK"])


def _settings(repository):
    """The file ``kprof.toml``, in place of the table in the other one."""
    repository.config.unlink()
    return repository.root / "kprof.toml"


@pytest.mark.triton
@pytest.mark.slow
def test_cure_is_found_by_compiling(repository, kprof, tmp_path):
    """A block that does not fit the registers of eight wavefronts: the smaller one is named, and the verdict stays."""
    (repository.root / "total.py").write_text(KERNEL)
    table = '[[kernel]]\ntarget = "total.py"\nbudget = {max_vgpr_spills = 0}\n'
    _settings(repository).write_text(f'arch = ["gfx942"]\nfail_on = "never"\n{table}')
    files = {name: tmp_path / f"out.{name}" for name in ("json", "markdown", "sarif")}
    ran = kprof("check", "--advise", 30, *(text for name, path in files.items() for text in (f"--{name}", path)))
    assert ran.code == 1
    (kernel,) = json.loads((tmp_path / "out.json").read_text())["kernels"]
    (finding,) = [f for f in kernel["findings"] if f["rule"] == "KP011"]
    assert finding["advice"]
    assert all(advice["verified"]["vgpr_spills"][1] == 0 for advice in finding["advice"])
    assert re.search(r"Fix: .+ \(compiled: vgpr_spills \d+ → 0, ", ran.out)
    # What SARIF has as a fix is applied as its readers would: then the gate is content.
    results = json.loads(files["sarif"].read_text())["runs"][0]["results"]
    ((fix,),) = [result["fixes"] for result in results if result["ruleId"] == "KP011"]
    source = repository.root / "total.py"
    lines = source.read_text().splitlines()
    for change in fix["artifactChanges"]:
        assert change["artifactLocation"]["uri"] == "total.py"
        ((replacement),) = change["replacements"]
        number = replacement["deletedRegion"]["startLine"]
        assert replacement["deletedRegion"]["endColumn"] == len(lines[number - 1]) + 1
        lines[number - 1] = replacement["insertedContent"]["text"]
        assert f"```suggestion\n{lines[number - 1]}\n```\n" in files["markdown"].read_text()
    assert sum(old != new for old, new in zip(lines, source.read_text().splitlines(), strict=True)) == 1
    source.write_text("\n".join(lines) + "\n")
    assert kprof("check").code == 0


@pytest.mark.triton
def test_launch_that_fails_is_cannot_tell(repository, kprof):
    """Code of the kernel's file that raises ends neither the run nor in a traceback."""
    (repository.root / "total.py").write_text(KERNEL.replace('config["BLOCK"]', 'config["BLOCKS"]'))
    repository.config.write_text(repository.config.read_text() + '\n[[tool.kprof.kernel]]\ntarget = "total.py"\n')
    ran = kprof("check", "--arch", "gfx942")
    assert ran.code == 2
    assert "the launch of total fails: KeyError: 'BLOCKS'" in ran.out


SCALE_CONFIG = """arch = ["gfx942"]
fail_on = "never"
budget = {max_vgpr_allocated = 100}

[[kernel]]
target = "kernels/scale.py::scale"
signature = "*fp32:16,*fp32:16,i32:16,i32:16"
"""


def applied(repository, out):
    """The suggestions of a document, done; the number of lines that they change."""
    edits = {
        (edit["file"], edit["line"]): edit
        for kernel in json.loads(out.read_text())["kernels"]
        for finding in kernel["findings"]
        for advice in finding.get("advice", ())
        if (edit := advice.get("edit"))
    }
    for (file, line), edit in edits.items():
        path = repository.root / file
        lines = path.read_text().split("\n")
        assert lines[line - 1] == edit["before"]
        lines[line - 1] = edit["after"]
        path.write_text("\n".join(lines))
    return len(edits)


@pytest.mark.triton
def test_a_kernel_with_a_signature_is_cured(repository, kprof, tmp_path):
    """Its constexprs stand in the configuration: the line there is the cure, verified."""
    gate = _settings(repository)
    gate.write_text(f"{SCALE_CONFIG}constexpr = {{BLOCK = 32768}}\nconfig = {{num_warps = 4}}\n")
    out = tmp_path / "out.json"
    ran = kprof("check", "--advise", 60, "--json", out)
    assert ran.code == 1
    assert re.search(r"Fix: .+ \(compiled: vgpr_allocated \d+ → \d+", ran.out)
    assert applied(repository, out) == 1
    assert kprof("check").code == 0


@pytest.mark.triton
@pytest.mark.slow
def test_a_configuration_of_several_is_cured(repository, kprof, tmp_path, at_most):
    """With ``all_configs`` the one that fails is taken as it is, the others are left alone."""
    at_most(12)
    small, large = (f'{{"BLOCK": {block}, "num_warps": 4}}' for block in (4096, 32768))
    text = KERNEL.replace("space=", f"configs=({small}, {large}), space=")
    text = text.replace(', "waves_per_eu": 8', "").replace(', "waves_per_eu": (8,)', "")
    (repository.root / "total.py").write_text(text)
    table = '[[kernel]]\ntarget = "total.py"\nall_configs = true\nbudget = {max_vgpr_allocated = 100}\n'
    _settings(repository).write_text(f'arch = ["gfx942"]\nfail_on = "never"\n{table}')
    out = tmp_path / "out.json"
    ran = kprof("check", "--advise", 60, "--json", out)
    assert ran.code == 1
    first, second = json.loads(out.read_text())["kernels"]
    assert not any("gate" in finding["evidence"] for finding in first["findings"])
    (finding,) = [f for f in second["findings"] if f["rule"] == "KP011"]
    assert finding["advice"]
    assert all(advice["verified"]["vgpr_allocated"][1] <= 100 for advice in finding["advice"])


@pytest.mark.triton
def test_what_was_compiled_elsewhere_says_why_nothing_was_tried(repository, kprof):
    """A listing has no knobs."""
    listing = Path(__file__).parents[1] / "artifacts" / "gfx942" / "matmul.triton-3.9.0.amdgcn"
    (repository.root / "k.amdgcn").write_bytes(listing.read_bytes())
    _settings(repository).write_text('arch = ["gfx942"]\nbudget.max_sgpr = 1\n[[kernel]]\ntarget = "k.amdgcn"\n')
    ran = kprof("check", "--advise", 5)
    assert ran.code == 1
    assert "other knobs were not tried: the kernel is already compiled" in ran.out
