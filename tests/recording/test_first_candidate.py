"""Autotuners of which only the first configuration that can be launched is compiled."""

import sys
from importlib.util import find_spec

import pytest

from kprof.captures.reader import launches, read
from kprof.recording.command import RecordOptions, prepare, run

pytestmark = [pytest.mark.triton, pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")]

PROGRAM = """
import torch, triton, triton.language as tl

@triton.autotune([triton.Config({"BLOCK": block}) for block in (BLOCKS)], key=["n"])
@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

x = torch.empty(4096, device="cuda")
for _ in range(2):
    double[lambda meta: (triton.cdiv(4096, meta["BLOCK"]),)](x, 4096)
double[lambda meta: (triton.cdiv(4096, meta["BLOCK"]),)](x, 4000)
"""


def recorded(folder, blocks, *, first):
    program = folder / "tuned.py"
    program.write_text(PROGRAM.replace("BLOCKS", blocks))
    options = RecordOptions("MI300X", folder / "capture", execute=False, first_candidate=first)
    command = [sys.executable, str(program)]
    settings = prepare(options, command)
    assert run(settings, command, stdout=2, time_limit=600).status == 0
    return read(folder / "capture")


@pytest.mark.parametrize(("first", "compiled"), [(True, {256}), (False, {256, 512, 1024})])
def test_the_others_are_not_compiled(tmp_path, first, compiled):
    capture = recorded(tmp_path, "256, 512, 1024", first=first)
    assert {one.request.constexprs["BLOCK"] for one in capture.kernels} == compiled
    made = list(launches(capture.path))
    assert [one.grid for one in made] == [(16, 1, 1)] * 3
    assert all(one.choice_unknown for one in made)


def test_what_cannot_be_launched_is_passed_over(tmp_path):
    """Blocks are powers of two: the first configuration does not compile."""
    capture = recorded(tmp_path, "300, 512, 1024", first=True)
    assert {one.request.constexprs["BLOCK"] for one in capture.kernels if one.ok} == {512}
    assert {one.grid for one in launches(capture.path)} == {(8, 1, 1)}
