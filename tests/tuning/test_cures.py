"""Cheap cures: compiler options that are compiled for the causes that cost most."""

from pathlib import Path

import msgspec
import pytest

import kprof
from kprof.document import CureTrials
from kprof.findings import Advice, Cause, Cure, Finding, Gain, Severity
from kprof.reporters.answer import cause_text, cure_words
from kprof.tuning import cures
from kprof.tuning.cures import MAX_COMPILES, with_cures
from kprof.tuning.executors import local
from kprof.tuning.work import TaskResult

ATTENTION = {"arch": "gfx942", "case": "d256_s4096", "config": {"BLOCK_M": 128, "BLOCK_N": 64}}


@pytest.fixture(scope="module")
def attention():
    """The kernel that spills 443 registers, without cures, and its compile."""
    from kprof.hardware.machine import load_gpu
    from kprof.options.groups import CompileOptions
    from kprof.targets.jobs import plan

    options = CompileOptions(arch=("gfx942",), case=ATTENTION["case"], config=ATTENTION["config"])
    (job,) = plan("flash_attention", [load_gpu("gfx942")[0]], options)
    (report,) = kprof.analyze("flash_attention", **ATTENTION, try_cures=False).kernels
    return report, job


@pytest.mark.triton("3.9.")
def test_the_first_cause_carries_its_cure(monkeypatch):
    """The spills, what follows from them, and waves_per_eu=1 with the time that it brings."""
    monkeypatch.setenv("KPROF_TRY", "1")
    (kernel,) = kprof.analyze("flash_attention", **ATTENTION).kernels
    first = kernel.causes[0]
    assert [kernel.findings[n].rule for n in first.findings] == ["KP306", "KP301", "KP301", "KP403"]
    assert first.cure.change == {"waves_per_eu": (2, 1)}
    assert first.cure.before_us == kernel.model.time_us
    assert first.cure.speedup == pytest.approx(4.1, rel=0.05)
    assert first.cure.figures["vgpr_spills"] == (443, 0)
    assert "waves_per_eu 2 → 1: 3.82 ms → 934 µs (4.09x)" in cause_text(kernel, first).todo["fix"]
    again = kprof.analyze("flash_attention", arch="gfx942", case="d256_s4096", config={"BLOCK_M": 128, "BLOCK_N": 64,
                          "waves_per_eu": 1}, try_cures=False).kernels[0]  # fmt: skip
    assert again.model.time_us == pytest.approx(first.cure.after_us)


@pytest.mark.triton
def test_what_padding_and_hints_bring_is_compiled(monkeypatch):
    """Rows of 16,380 elements cost as much as those of 16,384 once their stride and the mask's bound are multiples."""
    monkeypatch.setenv("KPROF_TRY", "1")
    (kernel,) = kprof.analyze("layernorm", arch="MI300X", shape={"N": 16380}).kernels
    cause = kernel.causes[0]
    assert (kernel.findings[cause.findings[0]].rule, cause.cure.divisible) == ("KP101", ["stride", "N"])
    assert cause.cure.change == {}
    (padded,) = kprof.analyze("layernorm", arch="MI300X", shape={"N": 16384}, try_cures=False).kernels
    assert cause.cure.after_us == pytest.approx(padded.model.time_us, rel=0.01)
    fix = cause_text(kernel, cause).todo["fix"]
    assert fix.startswith("pad the rows to a multiple of 16 elements (stride 16,380 → 16,384)")
    assert fix.endswith(f"; together {cure_words(cause.cure)}")
    assert "compiled with multiples of 16 as stride and N; " in fix


TYPED = (
    ("    row = tl.program_id(0)\n", "    stride = tl.multiple_of(stride, 16)\n    row = tl.program_id(0)\n"),
    ("stride, N, eps,", "stride, N, N_PADDED, eps,"),
    ("        inside = columns < N\n",
     "        inside = columns < N\n        wide = columns < tl.multiple_of(N_PADDED, 8)\n"),
    ("x_row + columns, mask=inside", "x_row + columns, mask=wide"),
    ("weight + columns, mask=inside", "weight + columns, mask=wide"),
    ("bias + columns, mask=inside", "bias + columns, mask=wide"),
    ("y.dtype.element_ty), mask=inside)\n    else", "y.dtype.element_ty), mask=wide)\n    else"),
    ("        row_mean = tl.sum(value, axis=0) / N\n",
     "        value = tl.where(columns < N, value, 0.0)\n        row_mean = tl.sum(value, axis=0) / N\n"),
)  # fmt: skip


@pytest.mark.triton("3.9.")
def test_the_fix_as_it_is_typed_brings_what_was_compiled(monkeypatch, tmp_path):
    """The bundled layer norm with the lines that the fix names, against the compile with divisible arguments."""
    monkeypatch.setenv("KPROF_TRY", "1")
    (kernel,) = kprof.analyze("layernorm", arch="MI300X", shape={"N": 16380}).kernels
    text = (Path(__file__).parents[2] / "kernels" / "layernorm.py").read_text()
    text = (
        "import triton\nimport triton.language as tl\n\n\n" + text[text.index("@triton.jit") : text.index("def launch")]
    )
    for old, new in TYPED:
        assert text.count(old) == 1
        text = text.replace(old, new)
    (tmp_path / "typed.py").write_text(text)
    pointers = ",".join([*["*fp16:16"] * 4, *["*fp32:16"] * 2])
    (typed,) = kprof.analyze(
        f"{tmp_path}/typed.py::layernorm",
        arch="MI300X",
        signature=f"{pointers},16384,16380,16384,fp32",
        constexpr={"BLOCK_N": 16384, "ONE_TILE": True},
        config={"num_warps": 8},
        grid=[4096],
        try_cures=False,
    ).kernels
    assert typed.model.time_us == pytest.approx(kernel.causes[0].cure.after_us, rel=0.01)


USERS = """import triton
import triton.language as tl


@triton.jit
def scale(x, y, stride, N: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        tl.store(y + row * stride + columns, tl.load(x + row * stride + columns) * 2.0)
"""


@pytest.mark.triton("3.9.")
def test_a_hint_that_holds_is_compiled(monkeypatch, tmp_path):
    """An argument that nothing is known of, compiled as Triton compiles it for a value that it divides."""
    monkeypatch.setenv("KPROF_TRY", "1")
    (tmp_path / "k.py").write_text(USERS)
    launch = {"arch": "MI300X", "constexpr": {"N": 8192, "BLOCK": 2048}, "grid": [4096]}
    target, signature = f"{tmp_path}/k.py::scale", "*fp16:16,*fp16:16,i32"
    (kernel,) = kprof.analyze(target, signature=signature, **launch).kernels
    (cure,) = [cause.cure for cause in kernel.causes if cause.cure is not msgspec.UNSET and cause.cure.divisible]
    assert cure.divisible == ["stride"]
    (known,) = kprof.analyze(target, signature=f"{signature}:16", **launch, try_cures=False).kernels
    assert cure.after_us == pytest.approx(known.model.time_us, rel=0.01)
    assert known.model.time_us < kernel.model.time_us


@pytest.mark.triton
def test_a_slow_machine_tries_what_the_costliest_finding_proposes(attention, monkeypatch, tmp_path):
    """Its answer has the same first cure as that of a fast one, which keeps its own in the cache."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))
    report, job = attention
    found = with_cures(report, job, seconds=0.0)
    assert found.causes[0].cure.change == {"waves_per_eu": (2, 1)}
    assert found.cure_trials.compiled == 1
    assert found.cure_trials.remaining > 0


@pytest.mark.triton
def test_cures_can_be_switched_off(monkeypatch):
    """By the caller, and by the environment."""
    for value, wanted in (("0", True), ("1", False)):
        monkeypatch.setenv("KPROF_TRY", value)
        (kernel,) = kprof.analyze("flash_attention", **ATTENTION, try_cures=wanted).kernels
        assert kernel.cure_trials is msgspec.UNSET
        assert all(cause.cure is msgspec.UNSET for cause in kernel.causes)


def answers(times):
    """Stands for the workers: each change has a time, or cannot be launched."""

    def run(_self, tasks):
        for task in tasks:
            ((name, value),) = task.config.items()
            time = times.get((name, value))
            status = "ok" if time is not None else "unlaunchable"
            yield TaskResult(task.key, status, time_us=time, resources={"vgpr_spills": 0})

    return run


@pytest.mark.triton
def test_of_cures_that_the_model_cannot_tell_apart_the_findings_own_is_shown(attention, monkeypatch):
    """num_warps=8 is 1 % faster; waves_per_eu=1 is what the finding proposes."""
    report, job = attention
    times = {("num_warps", 8): 900.0, ("waves_per_eu", 1): 910.0}
    monkeypatch.setattr(local.LocalExecutor, "run", answers(times))
    monkeypatch.setattr(cures._KEPT.__class__, "read", lambda *_: None)
    cured = with_cures(report, job)
    assert cured.causes[0].cure.change == {"waves_per_eu": (2, 1)}
    assert 0 < cured.cure_trials.compiled <= MAX_COMPILES
    times["num_warps", 8] = 300.0
    assert with_cures(report, job).causes[0].cure.change == {"num_warps": (4, 8)}


@pytest.mark.triton
def test_what_is_not_faster_is_no_cure(attention, monkeypatch):
    """Slower, equal within the model's error, and not launchable."""
    report, job = attention
    now = report.model.time_us
    times = {("waves_per_eu", 1): now * 1.5, ("num_warps", 8): now * 0.999}
    monkeypatch.setattr(local.LocalExecutor, "run", answers(times))
    monkeypatch.setattr(cures._KEPT.__class__, "read", lambda *_: None)
    cured = with_cures(report, job)
    assert all(cause.cure is msgspec.UNSET for cause in cured.causes)
    assert isinstance(cured.cure_trials, CureTrials)


@pytest.mark.triton
def test_nothing_is_compiled_for_what_costs_little(attention, monkeypatch):
    """Below 5 % of the time, and where no cost is known."""
    report, job = attention
    monkeypatch.setattr(local.LocalExecutor, "run", lambda *_: pytest.fail("compiled"))
    cheap = [msgspec.structs.replace(cause, gain=None) for cause in report.causes]
    small = Gain(us=1.0, low_us=1.0, high_us=1.0, share=0.04)
    for causes in (cheap, [msgspec.structs.replace(cause, gain=small) for cause in report.causes], []):
        entry = msgspec.structs.replace(report, causes=causes)
        assert with_cures(entry, job) is entry


def test_a_cure_in_words():
    """The change as one types it, the times, the speed-up and the resources that differ."""
    cure = Cure({"num_stages": (None, 2)}, 320.0, 234.0, figures={"waves_per_simd": (1.0, 2.0)})
    assert cure_words(cure) == "num_stages not set → 2: 320 µs → 234 µs (1.37x), waves per SIMD 1 → 2 (compiled)"
    sure = msgspec.structs.replace(cure, certainty=0.953)
    assert cure_words(sure).endswith(" 1 → 2 (compiled; 95 % sure that it is faster)")


def test_proposals_stand_where_nothing_was_compiled():
    """Each knob once; with a compiled cure they are left out."""
    advice = [Advice("BLOCK_M", 128, 64), Advice("BLOCK_M", 128, 64), Advice("num_warps", 4, 8)]
    found = Finding("KP301", "spill-in-loop", Severity.ERROR, "spills", advice=advice)
    kernel = kprof_report([found])
    assert cause_text(kernel, Cause([0])).todo == {"try": "BLOCK_M 128 → 64, num_warps 4 → 8"}
    cured = Cause([0], cure=Cure({"num_warps": (4, 8)}, 2.0, 1.0))
    assert cause_text(kernel, cured).todo == {"fix": "num_warps 4 → 8: 2.00 µs → 1.00 µs (2x) (compiled)"}


def kprof_report(findings):
    """A kernel with these findings and nothing else."""
    from kprof.document import KernelReport

    return KernelReport(name="k", arch="gfx942", findings=findings)
