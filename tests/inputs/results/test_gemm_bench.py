"""hipblaslt-bench, rocblas-bench and hipBLASLt's tuning files."""

# ruff: noqa: E501 - lines are as the programs write them

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import results

NAMES = (
    "transA,transB,grouped_gemm,batch_count,m,n,k,alpha,lda,stride_a,beta,ldb,stride_b,ldc,stride_c,ldd,stride_d,a_type,"
    "b_type,c_type,d_type,compute_type,activation_type,bias_vector,rotating_buffer,hipblaslt-Gflops,hipblaslt-GB/s,us"
)
VALUES = "T,N,0,{b},{m},{n},{k},1,64,64,0,64,64,64,64,64,64,f16_r,f16_r,f16_r,f16_r,f32_r,none,0,512,{rate},10.5,{us}"


def line(m: int, n: int, k: int, us: float, b: int = 1) -> str:
    """A measured GEMM with the rate that its time gives."""
    return VALUES.format(m=m, n=n, k=k, b=b, us=us, rate=2 * m * n * k * b / us / 1e3)


def test_output_of_the_program(reading):
    """Names behind an index, the values below, and what follows them of the kernel."""
    found = reading(
        "hipBLASLt version: 100200\nDevice ID 0 : AMD Instinct MI300X gfx942:sramecc+:xnack-\n"
        f"Is supported 1 / Total solutions: 1\n[0]:{NAMES}\n    {line(512, 1024, 2048, 10.25)}\n"
        "    --Solution index: 4711\n    --Solution name:  Cijk_A\n"
    )
    row = found.rows[0]
    assert (found.tool, found.facts["GPU"]) == ("hipblaslt-bench", "AMD Instinct MI300X gfx942:sramecc+:xnack-")
    assert (row["m"], row["n"], row["k"], row["trans_a"], row["a_type"]) == (512, 1024, 2048, "T", "f16_r")
    assert (row["time_us"], row["solution_index"], row["solution_name"]) == (10.25, 4711, "Cijk_A")
    assert row["tflops"] == pytest.approx(2 * 512 * 1024 * 2048 / 10.25e-6 / 1e12)
    assert not found.issues


def test_the_winner_of_a_tuning_run_is_marked(reading):
    """All solutions, then the best once more; the programs misspell its column."""
    text = f"[0]:{NAMES}\n{line(64, 64, 64, 9.0)}\n[1]:{NAMES}\n{line(64, 64, 64, 8.0)}\n"
    found = reading(f"{text}Winner:\n{NAMES},soulution_index\n{line(64, 64, 64, 8.0)},77\n")
    assert [row["winner"] for row in found.rows] == [False, False, True]
    assert found.rows[-1]["solution_index"] == 77


def test_a_tuning_file_has_a_version_and_may_have_no_times(reading):
    """What ``HIPBLASLT_TUNING_OVERRIDE_FILE`` names, old and new."""
    names = "transA,transB,batch_count,m,n,k,a_type,b_type,c_type,compute_type,solution_index"
    old = reading(f"Git Version: 3b3d59eb-dirty\n    {names}\n    N,N,1,1024,512,256,f16_r,f16_r,f16_r,f32_r,56537\n")
    assert (old.tool, old.facts["git version"]) == ("hipBLASLt tuning file", "3b3d59eb-dirty")
    assert (old.rows[0]["solution_index"], old.rows[0].get("time_us")) == (56537, None)
    new = reading(f"{names},solution_name\nN,N,1,1024,512,256,f16_r,f16_r,f16_r,f32_r,7,Cijk_Ailk\n")
    assert new.rows[0]["solution_name"] == "Cijk_Ailk"


def test_rocblas_bench(reading):
    """Sizes in capitals, blanks behind commas, and other functions than GEMM."""
    found = reading(
        "transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,rocblas-Gflops,us\nN,T,4000,4000,4000,1,4000,0,4000,4000, 97190.6, 1317\n"
        "N,incx,uplo,transA,diag,rocblas-Gflops,us\n4096,1,L,N,N,12.5,33\n"
    )
    assert found.tool == "rocblas-bench"
    assert (found.rows[0]["m"], found.rows[0]["time_us"], found.rows[0]["tflops"]) == (4000, 1317, 97.1906)
    assert (found.rows[1]["n"], found.rows[1]["time_us"]) == (4096, 33)


def test_what_is_wrong_is_told_with_its_line(reading):
    """A row cut off, a time that is none, a rate of another time; the last line without an end."""
    good = line(512, 512, 512, 8.0)
    found = reading(f"{NAMES}\n{good}\n{good[:-20]}\n{good[:-3]}abc\n{good[:-3]}0.1\n{good}")
    assert len(found.rows) == 4
    assert found.rows[1]["time_us"] is None
    told = " | ".join(found.issues)
    assert "no line end" in told
    assert "line 3: 25 values under 28 names" in told
    assert "line 4: 'abc' is not a time" in told
    assert "line 5: the printed rate" in told


SIZES = st.integers(64, 1 << 16)


@given(st.lists(st.tuples(SIZES, SIZES, SIZES, st.floats(1.0, 1e6)), min_size=1, max_size=20))
def test_numbers_equal_those_of_the_csv_module(tmp_path_factory, problems):
    """Each row as the csv module reads it."""
    path = tmp_path_factory.getbasetemp() / "bench"
    lines = [line(m, n, k, float(f"{us:.6g}")) for m, n, k, us in problems]
    path.write_text("".join(f"[{at}]:{NAMES}\n    {text}\n" for at, text in enumerate(lines)))
    rows = list(csv.DictReader([NAMES, *lines]))
    read = results.read(path).rows
    assert [(row["m"], row["n"], row["k"], row["time_us"]) for row in read] == [
        (int(row["m"]), int(row["n"]), int(row["k"]), float(row["us"])) for row in rows
    ]
    assert [row["tflops"] for row in read] == pytest.approx([float(row["hipblaslt-Gflops"]) / 1e3 for row in rows])
