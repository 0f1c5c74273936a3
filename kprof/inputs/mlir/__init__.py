r"""Read Triton's intermediate representations (TTIR, TTGIR) without MLIR.

>>> module = parse('module attributes {"ttg.num-warps" = 4 : i32} {\n}')
>>> module.num_warps
4
"""

from kprof.inputs.mlir.locations import MlirFrame
from kprof.inputs.mlir.model import Module, Operation
from kprof.inputs.mlir.reader import parse
from kprof.inputs.mlir.types import MemDesc, Pointer, RawType, Scalar, TensorType, Type

__all__ = [
    "MemDesc",
    "MlirFrame",
    "Module",
    "Operation",
    "Pointer",
    "RawType",
    "Scalar",
    "TensorType",
    "Type",
    "parse",
]
