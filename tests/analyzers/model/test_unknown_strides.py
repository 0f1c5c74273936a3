"""A stride that the launch does not tell is said where the time rests on it."""

import pytest

import kprof

pytestmark = pytest.mark.triton

SOURCE = """import triton
import triton.language as tl


@triton.jit
def doubled(a, out, sa, so, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at * so, tl.load(a + at * sa, at < n) * 2, at < n)


@triton.jit
def tile(a, out, row, column, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    down, over = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    held = tl.load(a + down[:, None] * row + over[None, :] * column)
    tl.store(out + down[:, None] * COLUMNS + over[None, :], held)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    place = tmp_path_factory.mktemp("strides") / "strided.py"
    place.write_text(SOURCE, encoding="utf-8")
    return place


def assumed(file, function, signature, constexprs, **shape):
    (kernel,) = kprof.analyze(
        f"{file}::{function}",
        arch="MI300X",
        signature=signature,
        grid=(4096,),
        constexpr=constexprs,
        shape=shape,
        condition="flushed",
    ).kernels
    return [said for said in kernel.model.assumptions if "stride" in said], kernel.model.time_us


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({}, ["the strides sa, so are not known: elements are assumed to be adjacent"]),
        ({"so": 1}, ["the stride sa is not known: elements are assumed to be adjacent"]),
        ({"sa": 1, "so": 1}, []),
        ({"sa": 64, "so": 1}, []),
    ],
)
def test_of_rows(file, shape, said):
    found, _ = assumed(file, "doubled", "*fp32:16,*fp32:16,i32,i32,i32", {"BLOCK": 1024}, n=4194304, **shape)
    assert found == said


def test_the_time_rests_on_it(file):
    """What is said moves the number: taken to be 1 it is the same time, as 64 it is many times longer."""
    times = [
        assumed(file, "doubled", "*fp32:16,*fp32:16,i32,i32,i32", {"BLOCK": 1024}, n=4194304, **known)[1]
        for known in ({}, {"sa": 1, "so": 1}, {"sa": 64, "so": 1})
    ]
    assert times[0] == pytest.approx(times[1], rel=0.05)
    assert times[2] > 3 * times[1]


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        (
            "*fp32:16,*fp32:16,i32,i32",
            ["the strides column, row are not known: elements are assumed to be adjacent"],
        ),
        ("*fp32:16,*fp32:16,i32,1", []),
    ],
)
def test_of_tiles_an_axis_that_is_contiguous_is_enough(file, signature, said):
    assert assumed(file, "tile", signature, {"ROWS": 32, "COLUMNS": 64})[0] == said
