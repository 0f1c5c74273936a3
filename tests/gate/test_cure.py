"""A regression comes with the change of knobs that undoes it, or with the word that none was found."""

import json
import re

import pytest
from msgspec import UNSET

from kprof.document import KernelReport, Occupancy, Resources, Specialization
from kprof.findings import Finding, Location, Severity
from kprof.gate.config import KernelEntry
from kprof.gate.cure import cured, cures, incurable
from kprof.gate.subject import Subject

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
    config={"BLOCK": 131072, "num_warps": 4}, space={"BLOCK": (4096, 131072)},
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
    return Subject(KernelEntry(target="k.py"), report)


def failure(rule="KP011", severity=Severity.ERROR, **evidence):
    """What the gate fails for."""
    place = Location(file="k.py", line=1)
    return Finding(
        rule=rule, name="n", severity=severity, message="m", location=place, evidence={"gate": "fails", **evidence}
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
    assert incurable(report, "nothing helps").findings[0].message == "m; nothing helps"


@pytest.mark.triton
@pytest.mark.slow
def test_cure_is_found_by_compiling(repository, kprof, tmp_path):
    """A block that does not fit the registers: the smaller one is named, and the verdict stays."""
    (repository.root / "total.py").write_text(KERNEL)
    table = '[[kernel]]\ntarget = "total.py"\nbudget = {max_vgpr_spills = 0}\n'
    (repository.root / "kprof.toml").write_text(f'arch = ["gfx942"]\nfail_on = "never"\n{table}')
    files = {name: tmp_path / f"out.{name}" for name in ("json", "markdown", "sarif")}
    ran = kprof("check", "--advise", 30, *(text for name, path in files.items() for text in (f"--{name}", path)))
    assert ran.code == 1
    (kernel,) = json.loads((tmp_path / "out.json").read_text())["kernels"]
    (finding,) = [f for f in kernel["findings"] if f["rule"] == "KP011"]
    assert finding["advice"]
    assert all(advice["verified"]["vgpr_spills"][1] == 0 for advice in finding["advice"])
    assert re.search(r"Try .+ \(compiled: vgpr_spills \d+ -> 0, ", ran.out)
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


@pytest.mark.triton
def test_kernel_without_cases_says_why_nothing_was_tried(repository, kprof):
    """No launch can be derived for other knobs."""
    repository.config.write_text(
        repository.config.read_text().replace('baseline = "kprof-baseline.json"', "budget.max_sgpr = 1")
    )
    ran = kprof("check", "--advise", 5)
    assert ran.code == 1
    assert "other knobs were not tried" in ran.out
