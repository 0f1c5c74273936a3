"""Triton's metadata of a kernel."""

from kprof.inputs.triton_metadata import decoded
from validation.fuzz.target import Target

TARGET = Target(
    lambda data, _folder: decoded(data, "kernel.json"),
    ("capture/kernels/*/kernel.json",),
    words=("num_warps", "shared", "num_stages", "waves_per_eu", "triton_version", "target", "warp_size"),
)
