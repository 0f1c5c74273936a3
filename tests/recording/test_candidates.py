"""What an autotuner lists, with the grid and the arguments that each configuration would be launched with."""

import sys
from importlib.util import find_spec

import pytest

from kprof.captures.reader import launches, read
from kprof.recording.command import RecordOptions, prepare, run

pytestmark = [pytest.mark.triton, pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")]

PROGRAM = """
import torch, triton, triton.language as tl

def small(configs, named, **meta):
    return [one for one in configs if one.kwargs["BLOCK"] <= named["most"]]

@triton.autotune(
    [triton.Config({"BLOCK": block}) for block in (BLOCKS)],
    key=["most"], prune_configs_by={"early_config_prune": small},
)
@triton.heuristics({"EVEN": lambda values: values["n"] % values["BLOCK"] == 0})
@triton.jit
def double(x, n, most, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at >= 0 if EVEN else at < n
    tl.store(x + at, tl.load(x + at, mask=mask) * 2, mask=mask)

for n in SIZES:
    x = torch.empty(n, device="cuda")
    double[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, n, 2048)
"""

INDUCTOR = """
import torch

@torch.compile(options={"max_autotune_pointwise": True})
def rows(x):
    return torch.nn.functional.layer_norm(x, (2048,))

rows(torch.zeros(512, 2048, device="cuda"))
"""


def recorded(folder, text, seconds=None):
    program = folder / "tuned.py"
    program.write_text(text)
    options = RecordOptions(
        "MI300X", folder / "capture", jobs=1, execute=False, candidate_seconds=seconds, use_cache=False
    )
    command = [sys.executable, str(program)]
    assert run(prepare(options, command), command, stdout=2, time_limit=600).status == 0
    return read(folder / "capture")


def with_blocks(blocks, sizes="(4096, 4096)"):
    return PROGRAM.replace("BLOCKS", blocks).replace("SIZES", sizes)


def candidates(kernel):
    return {
        (one.request.constexprs["BLOCK"], one.request.constexprs["EVEN"]): next(iter(one.grids))
        for one in kernel.candidates.values()
    }


def test_each_has_its_own_grid(tmp_path):
    """The grid's function and the heuristic see the configuration; what pruning leaves out is none."""
    capture = recorded(tmp_path, with_blocks("256, 512, 2048, 4096"))
    (launched,) = (kernel for kernel in capture.kernels if kernel.launches)
    assert launched.launches == 2
    assert candidates(launched) == {(256, True): (16, 1, 1), (512, True): (8, 1, 1), (2048, True): (2, 1, 1)}
    assert {one.arguments["n"] for one in launched.candidates.values()} == {4096}


def test_another_size_of_the_same_key_has_its_own_launches(tmp_path):
    """Triton chooses once for a key; the grids of the others follow the size of each launch."""
    capture = recorded(tmp_path, with_blocks("256, 512", "(4096, 1000, 4096)"))
    first, second, third = launches(capture.path)
    assert [first.grid, second.grid, third.grid] == [(16, 1, 1), (4, 1, 1), (16, 1, 1)]
    assert {one.grid for one in second.tuning.launches.values()} == {(4, 1, 1), (2, 1, 1)}
    assert second.tuning.choosing is first.tuning
    assert third.tuning is first.tuning
    assert len(capture.tunings) == 1


def test_without_time_for_more_only_the_first_is_compiled(tmp_path):
    capture = recorded(tmp_path, with_blocks("16, 32, 64, 128, 256, 512, 1024, 2048"), seconds=0.0)
    (launched,) = (kernel for kernel in capture.kernels if kernel.launches)
    assert launched.ok
    assert len(launched.candidates) == 8
    assert not all(one.ok for one in launched.candidates.values())


def test_what_cannot_be_compiled_is_passed_over(tmp_path):
    """Blocks are powers of two: the first configuration does not compile."""
    capture = recorded(tmp_path, with_blocks("300, 512, 1024"))
    assert {one.grid for one in launches(capture.path)} == {(8, 1, 1)}
    assert {one.request.constexprs["BLOCK"] for one in capture.kernels if one.ok} == {512, 1024}


def test_inductors_configurations_are_candidates(tmp_path):
    capture = recorded(tmp_path, INDUCTOR)
    (launched,) = (kernel for kernel in capture.kernels if kernel.launches)
    assert len(launched.candidates) > 1
    assert len({next(iter(one.grids)) for one in launched.candidates.values()}) > 1
