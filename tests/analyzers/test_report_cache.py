"""Reports that are kept: the same as fresh ones, and gone as soon as anything has changed."""

import dataclasses
import os

import msgspec
import pytest
from msgspec import UNSET

from kprof.cache import location
from kprof.compiler.compile import compile_kernel
from kprof.document import KernelReport
from kprof.hardware.machine import load
from kprof.options.groups import CompileOptions
from kprof.targets.jobs import loaded, plan
from kprof.targets.resolver import load as load_target
from kprof_analyzers import report_cache
from kprof_analyzers.model.timed import with_time
from kprof_analyzers.pipeline import analyze

KERNEL = """import triton
import triton.language as tl


@triton.jit
def scale(out_ptr, x_ptr, n, stride, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + start + offsets * stride)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + offsets, total)
"""


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    """Plan two specialisations of a file, with a cache of their own."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "scale.py"
    path.write_text(KERNEL)

    def make():
        machine = load("gfx942")
        options = (
            CompileOptions(signature="*fp32:16,*fp32:16,i32:16,i32:16", constexpr={"BLOCK": block})
            for block in (2048, 4096)
        )
        return [plan(f"{path}::scale", [machine], option)[0] for option in options]

    make.path = path
    return make


def _plain(report):
    return msgspec.to_builtins(msgspec.structs.replace(report, compile_seconds=UNSET, cached=UNSET), enc_hook=str)


@pytest.mark.triton
def test_kept_reports_are_those_that_would_be_made(jobs, monkeypatch):
    """From workers, from the cache and in this process: one and the same; nothing is compiled the second time."""
    first = dict(report_cache.judged(jobs(), 2))
    assert all(isinstance(report, KernelReport) for report in first.values())
    monkeypatch.setattr("kprof.compiler.pool.Pool._start", lambda *_: pytest.fail("a worker was started"))
    second = dict(report_cache.judged(jobs()))
    monkeypatch.undo()
    for index, job in enumerate(jobs()):
        kernel = loaded(job, compile_kernel(job.request))
        fresh = _plain(with_time(analyze(kernel), kernel))
        assert msgspec.json.decode(msgspec.json.encode(fresh)) == msgspec.json.decode(
            msgspec.json.encode(_plain(first[index]))
        )
        assert _plain(first[index]) == _plain(second[index])
    assert second[0].findings


@pytest.mark.triton
def test_an_ignore_comment_is_seen_at_once(jobs):
    """A comment changes no instruction, but it does change the report."""
    finding = dict(report_cache.judged(jobs(), 1))[0].findings[0]
    text = jobs.path.read_text().splitlines()
    text[finding.location.line - 1] += f"  # kprof: ignore[{finding.rule}] on purpose"
    jobs.path.write_text("\n".join(text) + "\n")
    after = dict(report_cache.judged(jobs(), 1))[0]
    assert finding.rule not in {f.rule for f in after.findings}
    assert after.suppressed[0].reason == "on purpose"


@pytest.mark.triton
def test_another_kprof_judges_again(jobs, monkeypatch):
    """A changed rule or figure is another judge: nothing that was kept is served."""
    list(report_cache.judged(jobs(), 1))
    assert all(report_cache._recall(job) is not None for job in jobs())
    monkeypatch.setattr("kprof.cache.own.of_kprof", lambda: "another")
    assert all(report_cache._recall(job) is None for job in jobs())


@pytest.mark.triton
def test_damaged_and_crashed(jobs):
    """A damaged report is made again; a worker that dies is one kernel's outcome."""
    list(report_cache.judged(jobs(), 1))
    for path in (location.entries(report_cache.directory()) / "reports-1").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-3])
    assert all(report_cache._recall(job) is None for job in jobs())
    assert all(isinstance(report, KernelReport) for _, report in report_cache.judged(jobs(), 1))
    # Everywhere but in this process, which reads the file too.
    aborting = f"import os\nif os.getpid() != {os.getpid()}: os.abort()\n@triton.jit"
    jobs.path.write_text(KERNEL.replace("@triton.jit", aborting))
    outcomes = [outcome for _, outcome in report_cache.judged(jobs(), 1)]
    assert [outcome.status for outcome in outcomes] == ["crashed", "crashed"]


@pytest.mark.triton
def test_explained_reports_are_those_that_would_be_made(jobs, monkeypatch):
    """One a product, time and notes included; the second time nothing is compiled, read or judged."""
    target = f"{jobs.path}::scale"
    options = CompileOptions(
        arch=("MI300X", "MI325X"), signature="*fp32:16,*fp32:16,i32:16,i32:16", constexpr={"BLOCK": 2048},
        value={"n": 8192},
    )  # fmt: skip
    fresh = [_plain(analyze(kernel, model=True)) for kernel in load_target(target, options)]
    first = [report for _, report in report_cache.predicted_reports(target, options)]
    monkeypatch.setattr("kprof_analyzers.report_cache.compile_jobs", lambda jobs, _: iter(jobs))
    monkeypatch.setattr("kprof_analyzers.report_cache.loaded", lambda *_: pytest.fail("a kernel was read"))
    second = [report for _, report in report_cache.predicted_reports(target, options)]
    assert [report.product for report in second] == ["MI300X", "MI325X"]
    assert [_plain(report) for report in first] == fresh
    decode, encode = msgspec.json.decode, msgspec.json.encode
    assert decode(encode([_plain(report) for report in second])) == decode(encode(fresh))
    assert fresh[0]["model"] != fresh[1]["model"]
    other = dataclasses.replace(options, value={"n": 16384})
    with pytest.raises(pytest.fail.Exception, match="a kernel was read"):
        list(report_cache.predicted_reports(target, other))


@pytest.mark.triton
def test_what_an_analyzer_failed_at_is_not_kept(jobs, monkeypatch):
    """It may find next time what it lacked."""

    class Shaky:
        def analyze(self, facts):
            raise RuntimeError(facts.name)

    target = f"{jobs.path}::scale"
    options = CompileOptions(signature="*fp32:16,*fp32:16,i32:16,i32:16", constexpr={"BLOCK": 2048})
    with monkeypatch.context() as patched:
        patched.setattr("kprof_analyzers.pipeline.discover", lambda: [Shaky()])
        ((_, broken),) = report_cache.predicted_reports(target, options)
    ((_, sound),) = report_cache.predicted_reports(target, options)
    assert broken.rules.failed
    assert not sound.rules.failed
