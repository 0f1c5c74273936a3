"""Which format a file is, and what is refused."""

# ruff: noqa: E501 - lines are as the programs write them

import os
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs import results
from kprof.inputs.results.model import LARGEST, formats
from tests.inputs.results import (
    test_gemm_bench,
    test_gemm_csv,
    test_miopen,
    test_omnitrace,
    test_rccl_tests,
    test_rocr_debug_agent,
    test_tensile,
)

SAMPLES = {
    "hipblaslt-bench, rocblas-bench or a hipBLASLt tuning file": f"{test_gemm_bench.NAMES}\n{test_gemm_bench.line(64, 64, 64, 8.0)}\n",
    "tuned GEMMs of gradlib, vLLM or AITER": f"{test_gemm_csv.GRADLIB}1,2,3,False,a,b,False,304,rocblas,1,0,0.1,k,0.0,1,1\n",
    "rccl-tests": test_rccl_tests.HEAD + test_rccl_tests.ROW,
    "MIOpen find-db": f"{test_miopen.FORWARD}={test_miopen.ALGORITHM}Direct:A,1.0,0,x,y\n",
    "MIOpen perf-db in text": f"{test_miopen.FORWARD}=ConvAsm1x1U:1,8,2\n",
    "Tensile library logic": f"{test_tensile.HEAD}- - - [64, 64, 1, 64]\n    - [0, 1.5]\n{test_tensile.TAIL}",
    "Tensile benchmark": "GFlops, SizeI, SizeJ, SizeK, SizeL, WinnerGFlops, WinnerTimeUS, WinnerIdx, WinnerName, A\n0, 8, 8, 1, 8, 1, 1, 0, A, 1\n",
    "report of the ROCr Debug Agent": test_rocr_debug_agent.REPORT,
    "log of rocBLAS or hipBLASLt calls": '- { rocblas_function: "rocblas_sgemm", M: 8, call_count: 2 }\n',
    "table of Omnitrace or rocprof-sys": test_omnitrace.TABLE,
    "profile of Omnitrace or rocprof-sys in JSON": test_omnitrace.profile(
        ranks=[{"graph": [test_omnitrace.region("m", 0, 1, 1.0)]}]
    ),
}


def test_each_format_knows_its_own_files_only():
    """One format for each sample, none for another's; SQLite has its own test."""
    for name, text in SAMPLES.items():
        assert [each.name for each in formats() if each.recognise(text.encode())] == [name]
    assert {each.name for each in formats()} == {*SAMPLES, "MIOpen perf-db in SQLite"}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_cut_is_read_told_or_refused(tmp_path, name):
    """No traceback at any byte; a cut inside a line is told, as its last value may be too short."""
    path = tmp_path / "cut"
    data = SAMPLES[name].encode()
    whole = len(_read(path, data).rows)
    for at in range(0, len(data), 1 + len(data) // 80):
        try:
            found = _read(path, data[:at])
        except KprofError:
            continue
        assert found.issues or len(found.rows) == whole or data[at - 1 : at] == b"\n"


def _read(path, data):
    path.write_bytes(data)
    return results.read(path)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_of_two_formats_is_refused(tmp_path, name):
    """With both names and the line at which the second begins to show."""
    other = "rccl-tests" if name != "rccl-tests" else "MIOpen find-db"
    with pytest.raises(KprofError, match="in one file") as raised:
        _read(tmp_path / "mixed", (SAMPLES[name] + SAMPLES[other]).encode())
    own = SAMPLES[name].count("\n")
    assert raised.value.place in {f"line {own + line}" for line in range(1, SAMPLES[other].count("\n") + 2)}
    assert all(each in raised.value.message for each in (name, other))


def test_a_file_that_is_too_large_is_refused_unread(tmp_path):
    """By its size, which is in the message."""
    path = tmp_path / "huge.csv"
    path.write_text(test_gemm_csv.AITER)
    os.truncate(path, LARGEST + 1)
    with pytest.raises(KprofError, match="too large: 268,435,457 bytes") as raised:
        results.read(path)
    assert raised.value.path == str(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"\x1f\x8b\x08\x00", "the file is compressed"),
        (b"BZh91AY", "the file is compressed"),
        (b"anything else\n", "no known format"),
        (test_gemm_csv.AITER.encode(), "no record of tuned GEMMs"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(tmp_path, content, words):
    """Exit code 2 on the command line."""
    with pytest.raises(KprofError, match=words):
        _read(tmp_path / "given", content)


def test_a_folder_and_a_missing_file(tmp_path):
    """Both are named."""
    for path, words in ((tmp_path, "directory"), (tmp_path / "none", "no such file")):
        with pytest.raises(KprofError, match=words):
            results.read(path)


@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_damage_is_read_told_or_refused(tmp_path_factory, name, data):
    """Bytes of a sample replaced by any others."""
    content = bytearray(SAMPLES[name].encode())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(1, 8))] = data.draw(st.binary(max_size=8))
    with suppress(KprofError):
        assert _read(tmp_path_factory.getbasetemp() / "damaged", bytes(content)).rows
