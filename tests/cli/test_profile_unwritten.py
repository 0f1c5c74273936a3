"""kprof profile names what hangs on memory that a kernel, which did not run, would have written."""

import sys

import pytest

import kprof as kp

pytestmark = pytest.mark.triton

PROGRAM = """import torch
import triton
import triton.language as tl


@triton.jit
def fill(out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, at % 3, mask=at < n)


def chosen(count):
    found = torch.empty(1024, dtype=torch.int32, device="cuda")
    fill[(1,)](found, 1024, B=1024)
    return found


data, experts = torch.randn(1024, 64, device="cuda"), chosen(1024)
torch.where(experts > 0)
data[experts > 0]
torch.bincount(experts)
torch.repeat_interleave(data, experts, dim=0)
torch.unique_consecutive(experts)
data[experts]
"""


def test_operators_whose_shape_hangs_on_it(tmp_path):
    pytest.importorskip("torch")
    place = tmp_path / "mixture.py"
    place.write_text(PROGRAM, encoding="utf-8")
    found = kp.profile([sys.executable, str(place)], arch="MI300X")
    notes = found.document.notes
    (note,) = (note for note in notes if "kernels that did not run" in note)
    lines = PROGRAM.splitlines()
    first = lines.index("torch.where(experts > 0)") + 1
    assert f"nonzero at mixture.py:{first}, index by a mask at mixture.py:{first + 1}, bincount at" in note.replace(
        f"{tmp_path}/", ""
    )
    assert note.endswith("and 2 more places; work that depends on these values is not included in the time")
    assert len(found.document.unwritten) == 5
    assert "not in it: work that depends on values that no kernel wrote, nonzero at " in found.summary
    assert "2 more places" in found.summary


def test_nothing_is_said_of_values_that_the_program_made_itself(tmp_path):
    pytest.importorskip("torch")
    place = tmp_path / "own.py"
    place.write_text("import torch\ndata = torch.ones(64, device='cuda')\ndata[data > 0]\n", encoding="utf-8")
    notes = kp.profile([sys.executable, str(place)], arch="MI300X").document.notes
    assert not any("kernels that did not run" in note for note in notes)
