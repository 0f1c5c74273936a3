"""Integer operations of the TTGIR, evaluated in Python."""

import operator
from collections.abc import Callable, Mapping

from kprof_analyzers.model.values import quotient, remainder

BINARY: Mapping[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.divsi": quotient,
    "arith.divui": quotient,
    "arith.remsi": remainder,
    "arith.remui": remainder,
    "arith.floordivsi": lambda a, b: a // b if b else 0,
    "arith.ceildivsi": lambda a, b: -(-a // b) if b else 0,
    "arith.ceildivui": lambda a, b: -(-a // b) if b else 0,
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "arith.xori": operator.xor,
    "arith.shli": lambda a, b: a << min(max(b, 0), 64),
    "arith.shrsi": lambda a, b: a >> min(max(b, 0), 64),
    "arith.shrui": lambda a, b: a >> min(max(b, 0), 64),
    "arith.minsi": min,
    "arith.minui": min,
    "arith.maxsi": max,
    "arith.maxui": max,
    "tt.addptr": operator.add,
}
COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "slt": operator.lt,
    "ult": operator.lt,
    "sle": operator.le,
    "ule": operator.le,
    "sgt": operator.gt,
    "ugt": operator.gt,
    "sge": operator.ge,
    "uge": operator.ge,
}
SAME = {
    *("tt.splat", "tt.unsplat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.bitcast"),
    *("ttg.convert_layout", "arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "amdg.masked_load"),
}
AXES = {"x": 0, "y": 1, "z": 2}
PURE: Mapping[str, int] = {
    **dict.fromkeys(("arith.constant", "tt.make_range", "tt.get_program_id", "tt.get_num_programs"), 0),
    **dict.fromkeys(SAME - {"amdg.masked_load"}, 1),
    **dict.fromkeys((*BINARY, "arith.cmpi"), 2),
    "arith.select": 3,
    # A number above any operand count means that the operation reads all of its operands.
    "scf.if": 1000,
}
"""Map from each operation without side effects to the number of operands that it reads."""
