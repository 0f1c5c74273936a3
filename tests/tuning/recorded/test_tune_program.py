"""A search for a launch of a program, which is recorded first."""

from pathlib import Path

import pytest

import kprof
from kprof.errors import TargetError

pytestmark = pytest.mark.triton

# Without torch, whose import takes longer than all the rest; line 16 launches the kernel that is tuned.
PROGRAM = """
import sys
import triton, triton.language as tl

@triton.jit
def add(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

@triton.jit
def other(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1)

def run(n, dtype):
    x = Zeros(n, dtype)
    add[lambda META: (triton.cdiv(n, META["BLOCK"]),)](x, Zeros(n, dtype), n, BLOCK=64)
    other[(1,)](x, BLOCK=64)

class Zeros:
    def __init__(self, n, dtype):
        self.shape, self.dtype = (n,), dtype

    def data_ptr(self):
        return 4096

    def ptr_range(self):
        return 4 * self.shape[0]

    def stride(self):
        return (1,)

for size in sys.argv[1:]:
    n, _, name = size.partition(":")
    run(int(n), "fp16" if name == "float16" else "fp32")
"""
HELD = {"num_stages": 1, "waves_per_eu": 0, "kpack": 1, "matrix_instr_nonkdim": 0, "num_warps": 4}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program that launches two functions, one of them with the sizes that it is given."""
    pytest.importorskip("torch")
    (tmp_path / "adds.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return "adds.py"


def test_a_launch_is_tuned_and_the_search_goes_on(program: str) -> None:
    """Tiles, with the grid that follows them; a second search knows the first's answers."""
    told: list[str] = []
    found = kprof.tune(f"{program}::add", program=["100000"], config=HELD, budget=0, jobs=2, tell=told.append)
    (problem,) = found.problems
    tiles = {config["BLOCK"] for one in problem.ranking for config in (one.config, *one.alike)}
    assert {64, 128, 256} <= tiles
    assert found.best is not None
    assert found.best.config["BLOCK"] > 64
    assert problem.own is not None
    assert problem.own.time_us > found.best.time_us
    assert found.answer is not None
    assert "adds.py:16" in found.answer.place
    assert any("adds.py 100000 again" in line for line in told)

    again = kprof.tune(f"{program}::add", program=["100000"], config=HELD, budget=0, jobs=2)
    assert again.best is not None
    assert again.best.config == found.best.config
    assert again.document.search.compiled == 0
    assert again.document.search.resumed > 0


def test_one_kernel_at_a_time(program: str) -> None:
    """Functions are told by their names, programs of one function by their own."""
    with pytest.raises(TargetError, match="it launches 2 Triton functions: add, other") as several:
        kprof.tune(program, program=["4096"])
    assert several.value.hint == "Tune one of them: kprof tune FILE.py::FUNCTION -- ARGS"
    with pytest.raises(TargetError, match=r"add is launched as 2 programs: (\S+) \(1 launch, grid 64x1x1\)") as types:
        kprof.tune(f"{program}::add", program=["4096", "8192:float16"])
    name = str(types.value).partition("programs: ")[2].partition(" ")[0]
    found = kprof.tune(f"{program}::{name}", program=["4096", "8192:float16"], config={**HELD, "BLOCK": 64}, budget=0)
    assert [one.config["BLOCK"] for one in found.problems[0].ranking] == [64]
    with pytest.raises(TargetError, match="did not launch a Triton function 'ad'"):
        kprof.tune(f"{program}::ad", program=["4096"])


def test_launches_with_other_grids_are_said(program: str) -> None:
    """Which launch the times are of is in a note."""
    held = {**HELD, "BLOCK": 64}
    found = kprof.tune(f"{program}::add", program=["4096", "8192", "8192"], config=held, budget=0)
    assert "ranked for the grid 128x1x1 (2 launches); other launches: 1 of 64x1x1" in found.document.space.notes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shape": {"n": 4}}, "what adds.py::add launches is a capture and does not use --shape"),
        ({"grid": "n"}, "what adds.py::add launches is a capture and does not use --grid"),
        ({"verify": True}, "--verify cannot measure the kernels that a program launches"),
        ({"arch": "MI300X,MI355X"}, "accepts one --arch"),
    ],
)
def test_what_cannot_be_used_is_refused_before_it_runs(program: str, options: dict[str, object], words: str) -> None:
    """The program would fail, and its failure would be what is said."""
    with pytest.raises(kprof.KprofError, match=words):
        kprof.tune(f"{program}::add", program=["not a number"], **options)  # type: ignore[arg-type]
