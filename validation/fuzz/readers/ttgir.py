"""TTIR and TTGIR: every operation with all its parts, and the rules that read layouts."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from kprof.inputs import mlir
from kprof.targets.artefacts import from_assembly
from kprof.targets.loaded import LoadedKernel
from validation.fuzz.readers._kernels import judge
from validation.fuzz.target import ARTEFACTS, Target, sometimes

# The rules take ten times as long as reading.
_JUDGED = 8


@cache
def _kernel() -> LoadedKernel:
    path = ARTEFACTS / "gfx942" / "scaled_exp.triton-3.9.0.amdgcn"
    return next(iter(from_assembly(path, path.read_text(), None)))


def read(data: bytes, folder: Path) -> None:
    """The module; and of some inputs, what is found in a kernel that has it."""
    del folder
    module = mlir.parse(data.decode(errors="replace"), "k")
    for op in module.operations:
        assert isinstance(op.attributes, dict)
        assert isinstance(op.operands, tuple)
        assert isinstance(op.modifiers, dict)
        assert isinstance(op.location, tuple)
        for kind in (*op.operand_types, *op.result_types):
            str(kind)
    if sometimes(data, _JUDGED):
        judge([replace(_kernel(), ttgir=module)], model=False)


TARGET = Target(
    read,
    ("mlir/*.ttgir", "mlir/*.ttir", "capture/kernels/*/*.tt*ir"),
    words=(
        "#ttg.blocked<{",
        "sizePerThread",
        "threadsPerWarp",
        "warpsPerCTA",
        "order",
        "#ttg.amd_mfma<{",
        "instrShape",
        "#ttg.swizzled_shared<{",
        "#ttg.padded_shared<",
        "#ttg.linear<{",
        "#ttg.slice<{",
        "#ttg.dot_op<{",
        "kWidth",
        "tensor<",
        "!tt.ptr<",
        "!ttg.memdesc<",
        "tt.load",
        "tt.store",
        "tt.dot",
        "scf.for",
        "scf.yield",
        "scf.if",
        "ttg.convert_layout",
        "ttg.local_load",
        "ttg.local_alloc",
        "amdg.buffer_load",
        "arith.constant",
        "dense<",
        "loc(",
        "xf16",
        "iter_args(",
    ),
    runs=20,
)  # fmt: skip
