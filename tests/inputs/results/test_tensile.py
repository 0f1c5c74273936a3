"""Tensile's library logic and benchmark tables."""

# ruff: noqa: E501 - lines are as the programs write them

import yaml
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import results

HEAD = """- {MinimumRequiredVersion: 5.0.0}
- gfx942
- {Architecture: gfx942, CUCount: 304}
- [Device 0049, Device 0050]
- Activation: true
  ComputeDataType: 0
  DataType: 7
  DestDataType: 7
  OperationType: GEMM
  TransposeA: true
  TransposeB: 0
- - 1LDSBuffer: 0
    KernelNameMin: Cijk_A
    SolutionIndex: 0
  - 1LDSBuffer: 1
    SolutionIndex: 1
    SolutionNameMin: Cijk_B
- [2, 3, 0, 1]
"""
TAIL = "- null\n- null\n- DeviceEfficiency\n- Equality\n"


def test_solutions_by_size(reading):
    """Sizes are M, N, batch, K and strides; names by index, whatever the order of keys."""
    found = reading(
        f"{HEAD}- - - [4096, 512, 1, 8192, 4096, 4096, 8192, 8192]\n    - [1, 608.28]\n  - - [64, 1, 2, 32]\n    - [0, 0.01]\n{TAIL}"
    )
    assert [
        (r["m"], r["n"], r["batch"], r["k"], r["solution"], r["performance"], r["solution_name"]) for r in found.rows
    ] == [
        (4096, 512, 1, 8192, 1, 608.28, "Cijk_B"),
        (64, 1, 2, 32, 0, 0.01, "Cijk_A"),
    ]
    assert {key: found.facts[key] for key in ("schedule", "DataType", "TransposeA", "TransposeB", "metric", "matching")} == {
        "schedule": "gfx942", "DataType": "bf16", "TransposeA": "true", "TransposeB": "0",
        "metric": "DeviceEfficiency", "matching": "Equality",
    }  # fmt: skip
    assert not found.issues


def test_damage_is_told(reading):
    """A file cut among the sizes, sizes without solution, a solution that is not there."""
    cut = reading(f"{HEAD}- - - [64, 64, 1, 64]\n    - [0, 1.5]\n  - - [64, 64, 1, 12")
    assert any("nothing follows the sizes" in issue for issue in cut.issues)
    odd = reading(f"{HEAD}- - - [64, 64, 1, 64]\n  - - [64, 32, 1, 64]\n    - [5, 1.0]\n{TAIL}")
    assert [issue.partition(":")[0] for issue in odd.issues] == ["line 19", "line 20"]
    assert "solution 5 is not in the file" in odd.issues[1]


@given(
    st.lists(
        st.tuples(st.lists(st.integers(1, 200_000), min_size=8, max_size=8), st.floats(0.01, 1e6)),
        min_size=1,
        max_size=20,
    )
)
def test_sizes_equal_those_of_a_yaml_reader(tmp_path_factory, entries):
    """As PyYAML writes and reads them, with lists that it breaks over lines."""
    path = tmp_path_factory.getbasetemp() / "logic.yaml"
    document = [
        {"MinimumRequiredVersion": "5.0.0"}, "gfx942", "gfx942", ["Device 0050"], {"DataType": 4, "TransposeA": False},
        [{"SolutionIndex": 0, "KernelNameMin": "Cijk_A"}], [2, 3, 0, 1],
        [[sizes, [0, round(rate, 2)]] for sizes, rate in entries], None, None, "DeviceEfficiency", "GridBased",
    ]  # fmt: skip
    path.write_text(yaml.dump(document, default_flow_style=None))
    found = results.read(path)
    read = yaml.safe_load(path.read_text())[7]
    assert [[row[name] for name in ("m", "n", "batch", "k")] for row in found.rows] == [sizes[:4] for sizes, _ in read]
    assert [row["performance"] for row in found.rows] == [choice[1] for _, choice in read]
    assert not found.issues


def test_winners(reading):
    """The winner, and how far ahead of the second; solutions that were not run have rates of 0 and -1."""
    heading = "GFlops, SizeI, SizeJ, SizeK, SizeL, LDD, LDC, LDA, LDB, TotalFlops, WinnerGFlops, WinnerTimeUS, WinnerIdx, WinnerName, A, B, C\n"
    found = reading(
        heading
        + "0, 4096, 4096, 1, 4096, 1, 1, 1, 1, 137438953472, 687194.8, 200.0, 1, B, 600000, 687194.8, -1\n"
        + "1, 64, 64, 1\n1, 64, x, 1, 64, 1, 1, 1, 1, 1, 1, 1, 0, A, 1, 1, 1\n"
    )
    row = found.rows[0]
    assert (row["m"], row["n"], row["k"], row["winner"], row["time_us"], row["solutions_run"]) == (
        4096, 4096, 4096, "B", 200.0, 2,
    )  # fmt: skip
    assert round(row["tflops"], 4) == 687.1948
    assert round(row["ahead_of_second"], 3) == 0.145
    assert [issue.partition(":")[0] for issue in found.issues] == ["line 3", "line 4"]
