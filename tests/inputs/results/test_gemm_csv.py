"""Tuned GEMMs of gradlib, vLLM and AITER."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs import results

AITER = (
    "gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName,err_ratio,tflops,bw\n"
)
GRADLIB = "M,N,K,bias,dtype,outdtype,scaleAB,cu_num,libtype,solidx,splitK,soltimes,kernelName,err_ratio,tflops,bw\n"


def test_aiter(reading):
    """Times in microseconds; the rate follows from them."""
    found = reading(
        f"{AITER}gfx950,256,64,256,5120,False,torch.bfloat16,torch.float32,False,False,asm,5,13,7.9191,k,0.0,21.19,417\n"
    )
    row = found.rows[0]
    assert (row["m"], row["n"], row["k"], row["libtype"], row["solidx"], row["kernel"]) == (
        64,
        256,
        5120,
        "asm",
        5,
        "k",
    )
    assert (row["time_us"], row["tflops"]) == (7.9191, pytest.approx(21.19, rel=1e-3))
    assert (found.facts["GPU"], found.issues) == ("gfx950", ())


def test_the_unit_of_soltimes_is_told_by_the_rate(reading):
    """The same product in microseconds and in milliseconds; without a rate it is gradlib's unit, and said."""
    rest = "False,bf16,bf16,False,304,hipblaslt,9,0,{},kernel,0.0,{:.2f},1\n"
    rate = 2 * 1024 * 2048 * 4096 / 50e-6 / 1e12
    found = reading(GRADLIB + "1024,2048,4096," + rest.format(50.0, rate) + "1024,2048,4096," + rest.format(0.05, rate))
    assert [row["time_us"] for row in found.rows] == pytest.approx([50.0, 50.0])
    assert not found.issues
    old = reading("M,N,K,libtype,solidx,soltimes\n1024,2048,4096,rocblas,3,0.05\n")
    assert old.rows[0]["time_us"] == pytest.approx(50.0)
    assert ["milliseconds are assumed" in issue for issue in old.issues] == [True]


def test_batches_count(reading):
    """AITER's batched tables have a column B."""
    found = reading(
        "gfx,cu_num,B,M,N,K,kernelId,splitK,us,kernelName,tflops,bw,errRatio\ngfx942,304,16,1,1280,8192,78,0,111.9323,k,3.0,3000,0.0\n"
    )
    assert found.rows[0]["tflops"] == pytest.approx(3.0, rel=1e-3)
    assert not found.issues


def test_what_is_wrong_is_told_with_its_line(reading):
    """Sizes that are none, too few values, no time, a rate of another time."""
    rest = "False,bf16,bf16,False,False,asm,5,1,{},k,0.0,{},1\n"
    found = reading(
        AITER
        + "gfx942,304,x,1,1,"
        + rest.format(1.0, 1.0)
        + "gfx942,304,64,64\n"
        + "gfx942,304,512,512,512,"
        + rest.format("nan", 1.0)
        + "gfx942,304,4096,4096,4096,"
        + rest.format(200.0, 900.0)
    )
    assert [issue.partition(":")[0] for issue in found.issues] == ["line 2", "line 3", "line 4", "line 5"]
    assert [row["time_us"] for row in found.rows] == [None, 200.0]


@given(st.lists(st.tuples(*[st.integers(1, 1 << 17)] * 3, st.floats(0.5, 1e5)), min_size=1, max_size=30))
def test_numbers_equal_those_of_the_csv_module(tmp_path_factory, problems):
    """Sizes and times row by row."""
    path = tmp_path_factory.getbasetemp() / "tuned.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(AITER.strip().split(","))
        for m, n, k, us in problems:
            rate = f"{2 * m * n * k / us / 1e6:.2f}"
            writer.writerow(["gfx942", 304, m, n, k, *["False"] * 5, "ck", 1, 0, us, 'a,"b"', 0.0, rate, 1.0])
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    read = results.read(path).rows
    assert [(row["m"], row["n"], row["k"], row["time_us"], row["kernel"]) for row in read] == [
        (int(row["M"]), int(row["N"]), int(row["K"]), float(row["us"]), row["kernelName"]) for row in rows
    ]


def test_a_quote_before_the_heading_is_refused(tmp_path):
    """The file is recognised by its names and read with others: it ended in an error."""
    path = tmp_path / "tuned.csv"
    path.write_text(f'"{AITER}'.replace("\n", '"\n', 1))
    with pytest.raises(KprofError, match="the heading is damaged"):
        results.read(path)
