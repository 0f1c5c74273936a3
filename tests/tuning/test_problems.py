"""Sizes from files as other tuners take them, and problems of a kernel."""

from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.tuning.problems import problems, read_shapes


def test_sizes_as_tune_gemm_lists_them(tmp_path: Path) -> None:
    """Row-major flags become transposes, a configuration beside a size is passed over."""
    path = tmp_path / "sizes.yaml"
    path.write_text(
        "- {'M': 4864, 'N': 4096, 'K': 8256, 'rowMajorA': 'T', 'rowMajorB': 'N'}\n"
        "- {M: 16, N: 4096, K: 4096, rowMajorA: N, rowMajorB: T, BLOCK_SIZE_M: 16, num_warps: 4}\n"
    )

    assert read_shapes(str(path)) == [
        {"M": 4864, "N": 4096, "K": 8256, "trans_a": False, "trans_b": True},
        {"M": 16, "N": 4096, "K": 4096, "trans_a": True, "trans_b": False},
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("M: 1", "is not a list of sizes"),
        ("- 3", "is not a table of sizes"),
        ("- {M: 1, rowMajorA: Y}", "rowMajorA is T or N"),
        ("- {M: [1]}", "M is neither a number"),
        ("[]", "is not a list"),
        ("\n".join("- {M: 1}" for _ in range(300)), "lists 300 sizes"),
    ],
)
def test_files_that_are_no_sizes(tmp_path: Path, text: str, message: str) -> None:
    """One sentence."""
    path = tmp_path / "sizes.yaml"
    path.write_text(text)

    with pytest.raises(KprofError, match=message):
        read_shapes(str(path))


@pytest.mark.triton
def test_problems_of_gemm() -> None:
    """What is not given is the default case's and noted; the same problem twice is one; fp8 is the arch's own."""
    from kprof.targets.library import load

    gemm = load("gemm")
    shapes = [{"M": 64, "N": 128, "K": 256}, {"K": 256, "M": 64, "N": 128}, {"dtype": "fp8_e4m3", "out": "bf16"}]

    found = problems(gemm, "gfx942", shapes, ["biased"])

    assert [p.name for p in found] == ["biased", "M=64 N=128 K=256", "dtype=fp8_e4m3 out=bf16"]
    assert found[0].assumed == {}
    assert found[1].assumed == {n: v for n, v in gemm.shapes["square_8k"].items() if n not in "MNK"}
    assert found[2].values["dtype"] == "fp8e4b8"


@pytest.mark.triton
def test_a_size_may_be_written_with_an_exponent() -> None:
    """4e3 is 4000 where whole numbers are wanted."""
    from kprof.targets import library as kernel_library

    (found,) = problems(kernel_library.load("gemm"), "gfx942", [{"M": 4e3, "N": 64}])

    assert (found.name, found.values["M"]) == ("M=4000 N=64", 4000)


@pytest.mark.triton
@pytest.mark.parametrize(
    ("shape", "arch", "message"),
    [
        ({"M": 0}, "gfx942", "M=0: a size must be positive"),
        ({"M": -5}, "gfx942", "a size must be positive"),
        ({"M": 2**50}, "gfx942", "is out of range for a size"),
        ({"Q": 5}, "gfx942", "no shape parameter 'Q'"),
        ({"M": 0.5}, "gfx942", "M=0.5: expected a whole number"),
        ({"K": "many"}, "gfx942", "K=many: expected a whole number"),
        ({"dtype": "fp17"}, "gfx942", "no element type 'fp17'"),
        ({"dtype": "fp8_e4m3"}, "gfx90a", "gemm cannot run on gfx90a"),
    ],
)
def test_problems_that_are_none(shape: dict[str, object], arch: str, message: str) -> None:
    """Told before anything is compiled."""
    from kprof.targets.library import load

    with pytest.raises(KprofError, match=message):
        problems(load("gemm"), arch, [shape])
