"""What strangers' code showed to be counted wrongly, each with the smallest kernel that has it."""

import pytest

import kprof
from kprof_analyzers.model import predict

pytestmark = pytest.mark.triton

SOURCE = """import triton
import triton.language as tl


@triton.jit
def copy(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, i < n), i < n)


@triton.jit
def sine(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.sin(tl.load(x + i, i < n)), i < n)


@triton.jit
def cosines(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    sum = tl.zeros((B,), tl.float32)
    for at in range(0, n, B):
        sum += tl.cos(tl.load(x + at + i))
    tl.store(o + i, sum)


@triton.jit
def scalar_atomic(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o, tl.sum(tl.load(x + i, i < n, 0.0)))


@triton.jit
def scalar_store(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + tl.program_id(0), tl.sum(tl.load(x + i, i < n, 0.0)))


@triton.jit
def shifted(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    near = tl.load(x + i - 2, (i < n) & (i >= 2)) + tl.load(x + i - 1, (i < n) & (i >= 1))
    tl.store(o + i, near + tl.load(x + i, i < n), i < n)


@triton.jit
def rows(x, o, width, B: tl.constexpr, R: tl.constexpr):
    down, over = tl.program_id(0) * R + tl.arange(0, R), tl.arange(0, B)
    at = x + down[:, None] * width + over[None, :]
    tl.store(o + down[:, None] * width + over[None, :], tl.load(at) + tl.load(at + width) + tl.load(at + 2 * width))


@triton.jit
def sides(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if tl.load(o + 4 * n) > 0:
        held = tl.load(x + i, i < n)
    else:
        held = tl.load(x + i + 2 * n, i < n) * 2
    tl.store(o + i, held, i < n)
"""
N = 1 << 24


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    place = tmp_path_factory.mktemp("small") / "small.py"
    place.write_text(SOURCE, encoding="utf-8")

    def made(function, arch="MI350X", kind="fp32", n=N, grid=N // 1024, **more):
        constexprs, numbers = {"B": 1024} | more.pop("constexprs", {}), more.pop("shape", {"n": n})
        (kernel,) = kprof.analyze(
            f"{place}::{function}",
            arch=arch,
            signature=f"*{kind}:16,*{kind}:16,i32",
            grid=(grid,),
            constexpr=constexprs,
            shape=numbers,
        ).kernels
        return kernel.model

    return made


@pytest.mark.parametrize(("arch", "kind"), [("MI350X", "fp32"), ("MI300X", "fp64"), ("RX 7900 XTX", "fp32")])
def test_a_sine_of_small_angles_takes_its_quick_way(model, arch, kind):
    """Counted with its slow way it takes more than twice as long as a copy of the same bytes."""
    quick = model("sine", arch, kind)
    if kind == "fp32":
        assert quick.time_us == pytest.approx(model("copy", arch, kind).time_us, rel=0.1)
    said = [text for text in quick.assumptions if text.startswith("sin and cos")]
    assert len(said) == 1
    assert "large angles cost a wavefront up to" in said[0]


def test_the_quick_way_is_taken_in_a_loop_too(model):
    """The bits of 2/pi stand before the loop; leaving these out must not leave the loop out."""
    found = model("cosines", n=1 << 16, grid=256)
    assert [loop.trips for loop in found.loops if loop.trips_known] == [64]
    assert any(text.startswith("sin and cos") for text in found.assumptions)
    assert found.time_us is not None


def test_a_scalar_atomic_has_a_time(model):
    """LLVM goes through the active lanes in a loop; a scalar has one."""
    found = model("scalar_atomic")
    assert found.time_us is not None
    assert all((loop.trips, loop.trips_known) == (1, True) for loop in found.loops)
    # On a GPU of one die L2 takes them; on one of several each waits for the one before.
    one_die, plain = model("scalar_atomic", "RX 7900 XTX"), model("scalar_store", "RX 7900 XTX")
    assert plain.time_us < one_die.time_us < 2 * plain.time_us
    assert found.time_us == pytest.approx(N // 1024 * 0.218, rel=0.05)


def test_shifted_loads_of_an_array_come_from_memory_once(model):
    """Three loads, one and two elements apart: the same bytes and the same time as one."""
    one, three = model("copy", n=1 << 26, grid=1 << 16), model("shifted", n=1 << 26, grid=1 << 16)
    assert three.traffic["hbm"] == pytest.approx(one.traffic["hbm"], rel=0.01)
    assert three.time_us == pytest.approx(one.time_us, rel=0.05)


def test_rows_of_a_window_come_from_memory_once(model):
    """Tiles of 16 rows, moved by a row and by two, fetch 16 rows, 1 and 1; L2 alone does not hold all of them."""
    found = model("rows", "MI300X", shape={"width": 1024}, constexprs={"R": 16}, grid=1 << 12)
    tile = 4 << 26
    assert found.traffic["hbm"] == pytest.approx(tile + tile * 18 / 16, rel=0.01)
    assert found.traffic["mall"] > 1.2 * found.traffic["hbm"]


def test_of_two_sides_of_a_branch_one_is_loaded(model):
    """Which one hangs on what lies in memory; the launch moves what a copy does either way."""
    one, two = model("copy"), model("sides")
    assert two.traffic["hbm"] == pytest.approx(one.traffic["hbm"], rel=0.01)


def test_atomics_that_may_meet_are_said_not_to_wait(model):
    said = "atomics on one address are assumed not to wait for each other"
    assert said in model("scalar_atomic", "RX 7900 XTX").assumptions
    assert said not in model("scalar_store", "RX 7900 XTX").assumptions
    assert any("wait for each other, 218 ns each" in text for text in model("scalar_atomic").assumptions)


def test_a_loop_over_lanes_of_a_tensor_has_as_many_iterations_as_lanes(kernel):
    """As LLVM writes it; found by what it does, so that no TTGIR is needed to know its iterations."""
    facts = kernel(
        [
            "s_mov_b64 s[2:3], exec",
            ".LBB0_2:",
            "s_ff1_i32_b64 s6, s[2:3]",
            "v_readlane_b32 s8, v0, s6",
            "s_lshl_b64 s[6:7], 1, s6",
            "s_andn2_b64 s[2:3], s[2:3], s[6:7]",
            "v_add_f32_e32 v1, s8, v1",
            "s_cbranch_scc1 .LBB0_2",
            "global_atomic_add_f32 v0, v1, s[4:5]",
        ]
    )
    (loop,) = predict(facts).loops
    assert (loop.trips, loop.trips_known) == (64, True)
    assert "lanes" in loop.trips_from
