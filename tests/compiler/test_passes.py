"""The history of passes answers which pass did what."""

import pytest

from kprof.compiler import versions as triton_versions
from kprof.compiler.passes import METRICS, PassHistory


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


def steps(history: PassHistory, metric: str) -> list[tuple[str, int | None]]:
    """Passes that changed a metric, with the value after each; the value before the first pass counts as known."""
    known = METRICS[metric](history.records[0].module)
    found = []
    for row in history.table():
        if row[metric] != known:
            found.append((row["pass"], row[metric]))
            known = row[metric]
    return found


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
    """LDS, pipelining and a lost vector width each lead to their pass, with the values before and after it."""
    history = PassHistory(DUMP)
    assert steps(history, "allocated") == [("pipeline", 3 * 64 * 64 * 2)]
    assert steps(history, "buffers") == [("pipeline", 3)]
    assert steps(history, "vector_min") == [("narrower", 4)]
    assert steps(history, "dots") == []


def test_which_pass_made_the_operations_of_a_line():
    """The pass with the numbers before and after it."""
    history = PassHistory(DUMP)
    found = [(run.name, before, after) for run, before, after in history.counts("ttg.convert_layout", line=7)]
    assert found == [("convert", 0, 1)]
    assert history.counts("ttg.convert_layout", line=8) == []
    assert [run.name for run, _, _ in history.counts("ttg.local_*")] == ["pipeline"]


@pytest.mark.parametrize(
    "text", ["", "nothing at all", "// -----// IR Dump Before X (x) //----- //", DUMP[: len(DUMP) // 2]]
)
def test_dump_that_is_no_dump(text):
    """Cut off or empty, there is simply less of it."""
    history = PassHistory(text)
    assert len(history.counts("tt.load")) <= len(history.records)
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
    (placed, bytes_placed), (declared, bytes_declared) = steps(history, "shared")[0], steps(history, "allocated")[0]
    assert "shared-memory" in placed
    assert bytes_placed == compiled.lds_bytes
    assert "pipeline" in declared
    assert bytes_declared == 2 * 2 * 128 * 64 * 2
    assert steps(history, "buffers")[0][1] == 2
    assert "coalesce" in steps(history, "vector_max")[1][0]
    if triton_versions.installed().numbers >= (3, 6):
        assert "buffer-ops" in steps(history, "buffer_ops")[0][0]
    assert compiled.diagnostics == ""
