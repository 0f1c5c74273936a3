"""The script that ranks the configurations of AITER's gated delta rule: its space, its sample and its figures."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "validation/flydsl_gdr_decode.py"


@pytest.fixture
def ranking(monkeypatch):
    """The script as a module."""
    monkeypatch.setattr("sys.path", [*sys.path])
    spec = importlib.util.spec_from_file_location("flydsl_gdr_decode", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def accepted(blocks, warps, lanes, per_lane):
    """Whether the kernel's assertions hold, written as they are in AITER's kernel."""
    tile, group = 128 // blocks, warps * 64 // lanes
    return 128 // (lanes * per_lane) >= 1 and 128 % (lanes * per_lane) == 0 and tile // group >= 1 and tile % group == 0


def test_space(ranking):
    """AITER's benchmark of a similar kernel counts 44 configurations for a float32 state."""
    for state, per_lane, count in (("float32", 4, 44), ("bfloat16", 8, 32)):
        found = ranking.configs(state)
        every = [(b, w, n) for b in (1, 2, 4, 8) for w in (1, 2, 4) for n in (4, 8, 16, 32)]
        assert sorted(found) == [one for one in every if accepted(*one, per_lane)]
        assert len(found) == count


def test_sample_and_its_figures(ranking, tmp_path):
    """Two of four shapes of a GPU are held out. Of two winners one is ranked first, the other behind 2 of 3."""
    columns = "arch,dtype,state_dtype,b,sq,num_k_heads,num_v_heads,head_k_dim,head_v_dim,NUM_BLOCKS_PER_V_DIM,NUM_WARPS"
    lines = [f"{columns},WARP_THREADS_K,duration"]
    lines += [f"{arch},t,torch.float32,{n},1,4,8,128,128,1,4,8,{n}.5" for arch in ranking.PRODUCTS for n in range(1, 6)]
    table = tmp_path / "rows.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")

    sample = ranking.shapes(table, 4, seed=0)
    assert [held_out for held_out, _ in sample] == [False, False, True, True] * 2
    assert sample == ranking.shapes(table, 4, seed=0)

    shape, other = sample[0][1], sample[1][1]
    winner = shape.winner
    assert winner == (1, 4, 8)
    first = {winner: 1.0, (1, 1, 8): 2.0, (1, 2, 8): 3.0, (2, 2, 8): 4.0}
    third = {winner: 3.0, (1, 1, 8): 2.0, (1, 2, 8): 1.0, (2, 2, 8): 4.0}
    cells = list(ranking.figures([(shape, first), (other, third)]))
    assert cells[:6] == ["2", "50%", "33.3%", "50%", "2.00", "100%"]
