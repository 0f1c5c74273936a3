"""The history of passes answers which pass did what."""

import pytest

from kprof.compiler import versions as triton_versions
from kprof.compiler.passes import METRICS, PassHistory
from kprof.errors import KprofError


def module(*lines: str) -> str:
    """A TTGIR module with these lines in its function."""
    body = "\n".join(f"    {line} loc(#loc1)" for line in lines)
    rest = "threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]"
    return f"""#blocked = #ttg.blocked<{{sizePerThread = [1, 8], {rest}}}>
#narrow = #ttg.blocked<{{sizePerThread = [1, 2], {rest}}}>
#shared = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#loc1 = loc("user.py":7:3)
module attributes {{"ttg.num-warps" = 4 : i32}} {{
  tt.func @f() {{
{body}
  }} loc(#loc1)
}} loc(#loc1)
"""


WIDE = "%0 = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>"
NARROW = "%0 = tt.load %p : tensor<64x64x!tt.ptr<f16>, #narrow>"
CONVERT = "%1 = ttg.convert_layout %0 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #narrow>"
BUFFER = "%2 = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #ttg.shared_memory, mutable>"


def dump(*steps: tuple[str, str]) -> str:
    """What MLIR prints: each pass with the module before it."""
    return "".join(f"// -----// IR Dump Before {head} //----- //\n{text}\n" for head, text in steps)


DUMP = "// kprof stage ttgir\n" + dump(
    ("Coalesce (tritongpu-coalesce) ('builtin.module' operation)", module(WIDE)),
    ("Pipeline: pipeline{num_stages=3} ('builtin.module' operation)", module(WIDE)),
    ("Narrower (narrower) ('tt.func' operation: @f(0, 1)x)", module(WIDE, BUFFER)),
    ("Convert (convert) ('builtin.module' operation)", module(NARROW, BUFFER)),
    ("Last (last) ('builtin.module' operation)", module(NARROW, BUFFER, CONVERT)),
)


def test_passes_with_names_options_and_texts():
    """Old and new headers; what came after is what stood before the next."""
    records = PassHistory(DUMP).records
    assert [r.name for r in records] == ["tritongpu-coalesce", "pipeline", "narrower", "convert", "last"]
    assert [r.changed for r in records] == [False, True, True, True, None]
    assert records[1].options == "{num_stages=3}"
    assert (records[2].scope, records[2].symbol) == ("tt.func", "@f(0, 1)x")
    assert {r.stage for r in records} == {"ttgir"}
    assert records[1].after == records[2].before


def test_which_pass():
    """LDS, pipelining, a layout conversion and a lost vector width each lead to their pass."""
    history = PassHistory(DUMP)
    allocated = history.first_change("allocated")
    assert (allocated.record.name, allocated.before, allocated.after) == ("pipeline", 0, 3 * 64 * 64 * 2)
    assert str(history.first_change("buffers")) == "pipeline (pass 1): 0 -> 3"
    assert [c.record.name for c in history.introduced("ttg.convert_layout", line=7)] == ["convert"]
    assert history.introduced("ttg.convert_layout", line=8) == []
    assert [(c.record.name, c.before, c.after) for c in history.narrowed()] == [("narrower", 16, 4)]
    assert history.first_change("dots") is None


def test_table_has_a_row_a_change():
    """Only passes that changed one of the metrics."""
    rows = PassHistory(DUMP).table(["allocated", "vector_min"])
    assert [(r["pass"], r["allocated"], r["vector_min"]) for r in rows] == [
        ("pipeline", 24576, 16),
        ("narrower", 24576, 4),
    ]


def test_unknown_metric():
    """Near matches are named."""
    with pytest.raises(KprofError) as caught:
        PassHistory(DUMP).first_change("share")
    assert "'shared'" in caught.value.hint


@pytest.mark.parametrize(
    "text", ["", "nothing at all", "// -----// IR Dump Before X (x) //----- //", DUMP[: len(DUMP) // 2]]
)
def test_dump_that_is_no_dump(text):
    """Cut off or empty, there is simply less of it."""
    history = PassHistory(text)
    for metric in METRICS:
        history.changes(metric)
    assert history.table() == [] or len(history.records) > 1


def test_failing_pass_is_marked():
    """MLIR prints the module after a pass that failed."""
    text = DUMP + "// -----// IR Dump After Last Failed ('builtin.module' operation) //----- //\n" + module(NARROW)
    record = PassHistory(text).records[-1]
    assert record.failed
    assert record.changed


@pytest.mark.triton
def test_real_compile(matmul_request, pool):
    """A software pipeline is added by the pipeliner, LDS is placed by the allocator, and both agree."""
    from kprof.compiler.compile import compile_many

    request = matmul_request(passes=True, M=128, N=128, BLOCK_K=64, num_stages=3)
    (outcome,) = compile_many([request], pool=pool)
    compiled = outcome.result()
    history = compiled.passes
    assert len(history.records) > 30
    assert {r.stage for r in history.records} >= {"ttir", "ttgir", "llir"}
    placed, declared = history.first_change("shared"), history.first_change("allocated")
    assert "shared-memory" in placed.record.name
    assert placed.after == compiled.lds_bytes
    assert "pipeline" in declared.record.name
    assert declared.after == 2 * 2 * 128 * 64 * 2
    assert history.first_change("buffers").after == 2
    assert "coalesce" in history.changes("vector_max")[1].record.name
    if triton_versions.installed().numbers >= (3, 6):
        assert "buffer-ops" in history.first_change("buffer_ops").record.name
    assert compiled.diagnostics == ""
