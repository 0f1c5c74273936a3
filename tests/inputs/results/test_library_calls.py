"""Logs of rocBLAS and hipBLASLt calls."""

# ruff: noqa: E501 - lines are as the programs write them

import yaml
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import results


def test_profile_of_rocblas(reading):
    """Counts by kind of call, with and without the dash of a list; the same kind twice adds up."""
    found = reading(
        '- { rocblas_function: "rocblas_gemm_ex", a_type: "bf16_r", transA: \'T\', M: 12288, N: 4547, K: 4608, alpha: 1.0, call_count: 136 }\n'
        '{ rocblas_function: "rocblas_dgemv", transA: "C", M: 1, N: 1, lda: 0, incx: -1, call_count: 4 }\n'
        '{ rocblas_function: "rocblas_dgemv", transA: "C", M: 1, N: 1, lda: 0, incx: -1, call_count: 5 }\n'
    )
    assert [(row["function"], row["m"], row["n"], row["trans_a"], row["call_count"]) for row in found.rows] == [
        ("gemm_ex", 12288, 4547, "T", 136),
        ("dgemv", 1, 1, "C", 9),
    ]
    assert (found.facts["calls"], found.tool) == ("145", "log of rocBLAS")


def test_command_lines_are_counted(reading):
    """Both libraries; a negative value is no option, and an option may have no value."""
    line = (
        "./rocblas-bench -f gemm_ex --transposeA T --transposeB N -m 17408 -n 2048 -k 5120 --alpha -1 --a_type f16_r\n"
    )
    other = "hipblaslt-bench --api_method c -m 1024 -n 512 -k 1024 --transA N --bias_vector --a_type f16_r\n"
    found = reading(line + other + line)
    assert [(row["m"], row["k"], row["call_count"]) for row in found.rows] == [(17408, 5120, 2), (1024, 1024, 1)]
    assert (found.rows[0]["alpha"], found.rows[0]["trans_a"], found.rows[1]["bias_vector"]) == (-1, "T", True)


def test_damage_is_told(reading):
    """A record cut off, and a count that is none."""
    good = '- { rocblas_function: "rocblas_sgemm", M: 8, call_count: 2 }\n'
    found = reading(good + good[:40] + "\n" + good.replace("2 }", "x }"))
    assert [issue.partition(":")[0] for issue in found.issues] == ["line 2", "line 3"]
    assert len(found.rows) == 1


@given(
    st.lists(
        st.tuples(st.integers(1, 9999), st.integers(1, 9999), st.integers(1, 99)),
        min_size=1,
        max_size=20,
        unique_by=lambda each: each[:2],
    )
)
def test_calls_equal_those_of_a_yaml_reader(tmp_path_factory, calls):
    """Each line is YAML of its own."""
    path = tmp_path_factory.getbasetemp() / "profile"
    path.write_text(
        "".join(
            f'- {{ rocblas_function: "rocblas_hgemm", transA: "N", M: {m}, N: {n}, alpha: 0.5, call_count: {c} }}\n'
            for m, n, c in calls
        )
    )
    read = yaml.safe_load(path.read_text())
    expected = sorted(((one["M"], one["N"], one["alpha"], one["call_count"]) for one in read), key=str)
    rows = results.read(path).rows
    assert sorted(((row["m"], row["n"], row["alpha"], row["call_count"]) for row in rows), key=str) == expected
