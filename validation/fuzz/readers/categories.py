"""A user's categories of kernels in TOML, and what they say of some names."""

from pathlib import Path

from kprof_analyzers.profiles.timeline.categories import load_categories
from validation.fuzz.target import Target, put

_NAMES = (
    "Cijk_Ailk_Bljk_HHS_BH",
    "ncclDevKernel_AllReduce",
    "triton_poi_fused_add",
    "void at::native::elementwise_kernel<4>",
)


def read(data: bytes, folder: Path) -> None:
    """The rules, each tried."""
    categories = load_categories(put(folder, "c.toml", data))
    known = categories.names()
    assert all(categories.of_name(name) in known for name in _NAMES)


TARGET = Target(
    read, words=("[[category]]", "name = ", "kernel = [", "operator = ", "module = ", "[patterns]", '"@gemm"')
)
