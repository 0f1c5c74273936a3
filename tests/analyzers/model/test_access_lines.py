"""Loads and stores of the TTGIR and of the assembly, told by the source line that both are of."""

import pytest

from kprof.inputs import mlir
from kprof_analyzers.model.access_lines import accesses_of, at_instructions
from tests.rules.literate import assembly, facts_of

MODULE = """\
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %o = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b> loc(#at7)
    %v = amdg.buffer_load %x[%o] : !tt.ptr<f32> -> tensor<64xf32, #b> loc(#at7)
    %buf = ttg.local_alloc %v : (tensor<64xf32, #b>) -> !ttg.memdesc<64xf32, #shared, #smem> loc(#at7)
    %u = amdg.buffer_load %x[%o] : !tt.ptr<f32> -> tensor<64xf32, #b>
    amdg.buffer_store %v, %x[%o] : tensor<64xf32, #b> loc(#at8)
    amdg.buffer_store %u, %x[%o] : tensor<64xf32, #b>
    tt.return
  }
}
#at7 = loc("/user/k.py":7:1)
#at8 = loc("/user/k.py":8:1)
"""
FILE = "/user/k.py"


def test_loads_and_stores_that_have_a_line():
    """Neither arithmetic nor LDS, nor what has no line."""
    found = [(op.name, line) for op, line in accesses_of(mlir.parse(MODULE))]
    assert found == [("amdg.buffer_load", (False, (FILE, 7))), ("amdg.buffer_store", (True, (FILE, 8)))]


BODY = """\
	.loc	1 7 1 ; k.py:7:1
	global_load_dword v1, v[2:3], off
	v_add_f32_e32 v1, v1, v2
	ds_read_b32 v3, v4
	s_load_dwordx2 s[0:1], s[2:3], 0x0
	buffer_load_dword v5, v6, s[4:7], 0 offen
	global_store_dword v[2:3], v1, off
	global_atomic_add_f32 v7, v1, s[4:5]
	.loc	1 8 1 ; k.py:8:1
	global_store_dword v[2:3], v1, off
	global_load_dword v1, v[2:3], off
	.loc	1 0 0
	global_load_dword v1, v[2:3], off"""
PROGRAM = facts_of(assembly(BODY)).program
LOADED, STORED = (False, (FILE, 7)), (True, (FILE, 8))


@pytest.mark.parametrize(
    ("known", "found"),
    [
        ({}, {}),
        ({LOADED: 0.25}, {0: 0.25, 4: 0.25}),
        ({STORED: 0.5}, {7: 0.5}),
        ({LOADED: 0.0, STORED: 3.0}, {0: 0.0, 4: 0.0, 7: 3.0}),
        ({(True, (FILE, 7)): 2.0}, {5: 2.0}),
        ({(False, ("/user/other.py", 7)): 2.0}, {}),
    ],
)
def test_instructions_of_a_line_get_what_is_known_of_its_loads_or_of_its_stores(known, found):
    """Only those between lanes and memory: no LDS, no scalar loads, no atomics, no scratch of other lines."""
    assert at_instructions(PROGRAM, known) == found
