"""TunableOp result files."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs import tunableop

TEXT = """Validator,PT_VERSION,2.11.0
Validator,GCN_ARCH_NAME,gfx942:sramecc+:xnack-
GemmAndBiasTunableOp_float_TN,tn_1024_1000_512_ld_512_512_1024,Default,4.0
GemmAndBiasTunableOp_float_TN,tn_1024_1008_512_ld_512_512_1024,Gemm_Hipblaslt_12,1.0
GemmStridedBatchedTunableOp_Half_NN,nn_64_64_64_B_12_ld_64_64_64,Gemm_Rocblas_-11,0.5
GemmStridedBatchedTunableOp_Half_NN,nn_64_64_64_B_12_ld_64_64_64,Default,0.75
"""


@pytest.fixture
def results(tmp_path):
    """The file above."""
    path = tmp_path / "r.csv"
    path.write_text(TEXT)
    return tunableop.read(path)


def test_16_solutions_and_validators(results):
    """Three-field lines, then four-field lines; problems taken apart."""
    assert results.arch == "gfx942"
    one = results.solutions[2]
    assert (one.operator, one.dtype, one.m, one.n, one.k, one.batch, one.library) == (
        "GemmStridedBatched",
        "Half",
        64,
        64,
        64,
        12,
        "Rocblas",
    )
    assert one.tflops == pytest.approx(2 * 64**3 * 12 / 0.5e-3 / 1e12)


def test_best_and_lost_time(results):
    """0.75 ms by default, 0.5 ms tuned: a quarter of a millisecond lost."""
    assert len(results.best()) == 3
    gain = tunableop.gains(results)[0]
    assert gain.lost_milliseconds == pytest.approx(0.25)


def test_lost_time_against_an_untuned_file(results, tmp_path):
    """Default times from a second file."""
    path = tmp_path / "u.csv"
    path.write_text("GemmAndBiasTunableOp_float_TN,tn_1024_1008_512_ld_512_512_1024,Default,3.5\n")
    gains = tunableop.gains(results, tunableop.read(path))
    assert [gain.lost_milliseconds for gain in gains] == [2.5]


def test_a_default_much_slower_than_its_neighbour_is_suspect(results):
    """4 ms where the next size takes 1 ms."""
    suspects = tunableop.suspects(results)
    assert len(suspects) == 1
    assert suspects[0].expected_milliseconds == pytest.approx(1.0 * 1000 / 1008)


def test_bad_lines_are_reported(tmp_path):
    """Times that are none, unknown problems, other lines."""
    path = tmp_path / "r.csv"
    path.write_text(
        TEXT + "GemmTunableOp_float_TN,what,Default,abc\na,b\nGemmTunableOp_float_TN,tn_1_2_3,Default,nan\n"
    )
    results = tunableop.read(path)
    assert len(results.issues) == 4
    assert results.solutions[-1].milliseconds is None


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_or_read(tmp_path_factory, content):
    """Nothing but a result or a KprofError."""
    path = tmp_path_factory.getbasetemp() / "tunable"
    path.write_bytes(content)
    try:
        results = tunableop.read(path)
    except KprofError as error:
        results, message = None, error.message
    assert results is not None or message


def test_published_file_equals_the_csv_module(shared):
    """2,076 solutions of 2,062 problems; the two defaults are told, one of them as suspect."""
    path = shared / "samples/tunableop_gfx1151/tunableop_results0.csv"
    with path.open(newline="") as file:
        rows = [row for row in csv.reader(file) if len(row) == 4]
    results = tunableop.read(path)
    assert len(results.solutions) == len(rows)
    assert sum(one.milliseconds or 0 for one in results.solutions) == pytest.approx(sum(float(row[3]) for row in rows))
    assert len(results.best()) == len({(row[0], row[1]) for row in rows})
    assert len(results.defaults()) == len({(row[0], row[1]) for row in rows if row[2] == "Default"})
    assert [suspect.solution.m for suspect in tunableop.suspects(results)][:1] == [1024]
