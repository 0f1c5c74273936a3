"""What other tools and libraries of ROCm write down: every format, which is found by content."""

from pathlib import Path

from kprof.api.read_results import LibraryResults
from kprof.inputs.results import read
from validation.fuzz.target import Target, put, sometimes

_FRAMES = 16


def rows_of(data: bytes, folder: Path) -> None:
    """The rows, in words; and of some inputs as a frame."""
    found = LibraryResults(read(put(folder, "results", data)))
    assert found.results.rows
    assert "\n" not in found.summary
    if sometimes(data, _FRAMES):
        assert len(found.to_frame()) == len(found.results.rows)


TARGET = Target(
    rows_of,
    words=(
        "[0]:transA,transB,", "hipblaslt-Gflops", "rocblas-Gflops", ",us", "libtype", "kernelName", "algbw", "busbw",
        "miopenConvolutionFwdAlgo", "-NCHW-FP32-F=", "ConvAsm1x1U:", "rocblas_function", "call_count",
        "- {MinimumRequiredVersion: ", "- DataType: 4", "- Equality", "| LABEL | COUNT | DEPTH |", "|0>>> ",
        '"timemory": {', '"ranks": [', '"graph": [', "WinnerGFlops",
    ),
    runs=150,
)  # fmt: skip
