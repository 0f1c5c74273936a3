"""What other tools and libraries of ROCm write."""

from fuzz.target import Target, put
from kprof.inputs import results

TARGET = Target(
    lambda data, folder: results.read(put(folder, "results", data)),
    words=(
        "M,N,K,libtype,solidx,us,kernelName",
        "transA,transB,m,n,k,hipblaslt-Gflops,us",
        "size count type redop root time algbw busbw #wrong",
        "3-9-9-3x3-4-9-9-1-1x1-1x1-1x1-0-NCHW-FP32-F=",
        "miopenConvolutionFwdAlgoGEMM:S,0.5,0,",
        "- { rocblas_function: ",
        "- {MinimumRequiredVersion: 5.0.0}",
        "| LABEL | COUNT | DEPTH |",
        '{"timemory": {"wall_clock": {"ranks": [{"graph": [',
    ),
)
"""Benchmarks, tuned solutions, databases, logs and profiles."""
