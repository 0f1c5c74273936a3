"""Modules of MLIR alone, and logs with the dumps of all passes."""

from pathlib import Path

from kprof.compiler.dumped import modules_of
from kprof.errors import InputError
from kprof.reporters.mlir_text import verdict
from kprof_analyzers.memory.lds_walk import walk_lds
from validation.fuzz.target import Target


def read(data: bytes, folder: Path) -> None:
    """Every module with its passes, in words."""
    del folder
    modules = tuple(modules_of(data.decode(errors="replace"), "dump.log"))
    if not modules:
        raise InputError("no module of MLIR can be read", path="dump.log")
    walks = tuple(walk_lds(one.module) for one in modules)
    for one in walks:
        assert all(each.earlier is None or each.earlier < len(one.passes) for each in one.passes)
        assert all(len(chain) > 1 for chain in one.chains)
    assert verdict(modules, walks)


TARGET = Target(
    read,
    ("mlir/*.ttgir", "mlir/*.ttir"),
    words=(
        "// -----// IR Dump Before ", "// -----// IR Dump After ", " ('builtin.module' operation) //----- //",
        "tritonamdgpu-pipeline", "module attributes {", '"ttg.num-warps" = 4 : i32', '"ttg.target" = "hip:gfx942"',
        "tt.func public @", "#ttg.blocked<{", "ttg.convert_layout", "ttg.local_alloc", "ttg.local_load",
        "ttg.local_store", "triton_gpu.convert_layout", "tensor<64x64xf16, #shared>", "tt.dot", "scf.for", "loc(",
    ),
    runs=30,
)  # fmt: skip
