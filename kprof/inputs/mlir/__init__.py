r"""Triton's intermediate representation (TTIR, TTGIR), read without MLIR.

>>> module = parse('module attributes {"ttg.num-warps" = 4 : i32} {\n}')
>>> module.num_warps
4
"""

from kprof.inputs.mlir.model import Frame, MemDesc, Module, Operation, Pointer, RawType, Scalar, Tensor, Type
from kprof.inputs.mlir.reader import parse

__all__ = [
    "Frame",
    "MemDesc",
    "Module",
    "Operation",
    "Pointer",
    "RawType",
    "Scalar",
    "Tensor",
    "Type",
    "parse",
]
