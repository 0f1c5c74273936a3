"""Kernels that Inductor wrote: its own block sizes are tried, and the answer is an option of torch.compile."""

import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from kprof.hardware.machine import find_product
from kprof.recording.command import RecordOptions, prepare, run
from kprof.targets.recompile import recorded
from kprof.tuning.recorded import knobs
from kprof.tuning.recorded.advise import opened
from kprof.tuning.recorded.answer import answer
from kprof.tuning.recorded.relaunch import LaunchDescription, RelaunchedProgram

pytestmark = [pytest.mark.triton, pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")]

PROGRAM = """
import torch

@torch.compile
def rows(x):
    return torch.softmax(x * 2, -1)

rows(torch.zeros(1 << 16, 64, device="cuda", dtype=torch.bfloat16))
"""


def test_block_sizes_are_tried_with_the_grid_that_inductor_computes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "program.py"]
    settings = prepare(RecordOptions("MI300X", tmp_path / "capture", execute=False), command)
    assert run(settings, command, stdout=2).status == 0
    (each,), _ = recorded(str(tmp_path / "capture"))
    program = RelaunchedProgram(command, tmp_path, "MI300X")
    with opened(each, find_product("MI300X"), jobs=1, program=program) as (subject, how):
        assert how == "compiler options, and block sizes as Inductor generates the launch"
        ready = subject.program.ready
        assert ready.generated == "persistent_reduction"
        assert {config["XBLOCK"] for config in ready.configs} >= {1, 8}
        assert all({"num_warps", "num_stages"} <= config.keys() for config in ready.configs)
        (job,) = subject.jobs(subject.problems[0], {**subject.knobs, "XBLOCK": 32})
        assert job.grid == ((1 << 16) // 32, 1, 1)
        assert job.request.constexprs["XBLOCK"] == 32
        tried = {config["XBLOCK"] for config in knobs.listed(subject, ready)}
        assert tried >= {1, 8}
        near = next(iter(ready.configs))
        found = answer(subject, ready, {**subject.knobs, **near})
        assert found.after == 'torch.compile(..., options={"max_autotune_pointwise": True})'


def test_what_inductor_would_not_list_is_found_by_descent():
    subject = SimpleNamespace(knobs={"XBLOCK": 1, "num_warps": 4, "num_stages": 1})
    listed = [{"XBLOCK": 8, "num_warps": 4, "num_stages": 1}]
    ready = LaunchDescription(frozenset({"XBLOCK"}), frozenset(), frozenset(), listed, generated="reduction")
    found = answer(subject, ready, {"XBLOCK": 64, "num_warps": 4, "num_stages": 1, "waves_per_eu": 2})
    assert found.after == 'torch.compile(..., options={"coordinate_descent_tuning": True})'
    assert "it does not choose waves_per_eu=2" in found.note
    assert '"XBLOCK": 64' in found.note
