"""The account of the GPU's memory: blocks as torch's allocator has them, given back when a storage dies."""

import sys
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kprof as kp
from kprof.recording.device_memory import BLOCK, DeviceMemory


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1 << 40), st.booleans())))
def test_the_account_is_the_sum_of_what_lives(steps):
    """Against sums over all blocks, made anew after each step."""
    memory, living, most = DeviceMemory(), [], {}
    for index, size, dies in steps:
        living.append((index, memory.take(index, size)))
        assert living[-1][1] % BLOCK == 0
        assert 0 <= living[-1][1] - size < BLOCK
        for device in range(4):
            most[device] = max(most.get(device, 0), sum(taken for at, taken in living if at == device))
        if dies:
            memory.give(*living.pop(0))
        for device in range(4):
            assert memory.now(device) == sum(taken for at, taken in living if at == device)
            assert memory.peak(device) == most[device]


def test_a_reset_begins_the_peak_anew_and_the_whole_stays():
    memory = DeviceMemory()
    memory.give(0, memory.take(0, 10 * BLOCK))
    memory.take(0, BLOCK)
    memory.reset(0)
    assert memory.peak(0) == BLOCK
    assert memory.totals() == {0: (10 * BLOCK, BLOCK)}


PROGRAM = """
import torch
a = torch.empty(1 << 20, device="cuda")
b = torch.zeros(1000, device="cuda")
assert torch.cuda.memory_allocated() == (4 << 20) + 4096
del a
assert torch.cuda.memory_allocated() == 4096
assert torch.cuda.max_memory_allocated("cuda:0") == (4 << 20) + 4096
torch.cuda.reset_peak_memory_stats()
assert torch.cuda.max_memory_allocated() == 4096
view = b.view(10, 100)[2:]
del b
assert torch.cuda.memory_allocated() == 4096
w = torch.randn(1024, 1024, device="cuda", requires_grad=True)
y = (w @ w).relu()      # The product is kept for the backward pass, the other for nothing.
torch.empty(SIZE, dtype=torch.uint8, device="cuda")
z = y.cpu()
"""


@pytest.mark.triton
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize(("size", "fits"), [(1 << 30, True), (200 << 30, False)])
def test_what_would_not_fit_is_said_first(tmp_path, size, fits):
    """A tensor larger than this machine's memory, too: it takes none."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("SIZE", str(size)), encoding="utf-8")
    found = kp.profile([sys.executable, str(program)], arch="MI300X")
    document = found.document
    assert not any("failed" in note for note in document.notes)
    # Parameters, and the relu's result; in between, the product itself, which its inputs outlive.
    assert size + 4096 + 2 * (4 << 20) <= document.peak_bytes <= size + 4096 + 3 * (4 << 20)
    assert document.memory_bytes == 192 << 30
    assert document.fits is fits
    assert found.summary.startswith("does not fit: 200 GiB of 192 GiB; ") is not fits
