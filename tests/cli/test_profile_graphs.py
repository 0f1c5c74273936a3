"""A captured graph and the same step run eagerly differ by launches only, which are the host's."""

import sys

import pytest

import kprof as kp

pytestmark = pytest.mark.triton

PROGRAM = """
import sys, torch, triton, triton.language as tl

@triton.jit
def scale(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 256)).cuda()
x = torch.empty(128, 256, device="cuda")

def step():
    y = model(x)
    scale[(triton.cdiv(y.numel(), 1024),)](y, y.numel(), 1024)
    return y

with torch.no_grad():
    if sys.argv[1] == "eager":
        for _ in range(int(sys.argv[2])):
            step()
    else:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        for _ in range(int(sys.argv[2])):
            graph.replay()
"""


def _profile(folder, how, steps):
    pytest.importorskip("torch")
    program = folder / "graph.py"
    program.write_text(PROGRAM)
    return kp.profile([sys.executable, str(program), how, str(steps)], arch="MI300X", by="shapes").document


def test_replays_take_what_the_steps_take(tmp_path):
    eager, graph = (_profile(tmp_path, how, 5) for how in ("eager", "graph"))
    assert graph.rows == eager.rows
    assert (graph.us, graph.low_us, graph.high_us) == (eager.us, eager.low_us, eager.high_us)
    assert [row.calls for row in graph.rows if row.kind == "triton"] == [5]
    assert any("once per replay" in note for note in graph.notes)
    assert not any("once per replay" in note for note in eager.notes)


def test_a_graph_that_is_only_captured_runs_nothing(tmp_path):
    """What is left is making the weights."""
    graph, without = _profile(tmp_path, "graph", 0), _profile(tmp_path, "eager", 0)
    assert graph.rows == without.rows
    assert any(f"{graph.calls:,} run" in note for note in graph.notes)
