"""A kernel beside a thread trace of it."""

import json
from dataclasses import replace

import pytest

from kprof.document import KernelReport, LoopPrediction, Prediction
from kprof.errors import InputError
from kprof.inputs import amdgcn, thread_trace
from kprof.inputs.thread_trace import DecodedThreadTrace, TracedInstruction
from kprof.reporters.measured_text import match_words
from kprof_analyzers.profiles.measured.reading import read
from kprof_analyzers.profiles.measured.traced import align, in_thread_trace, loop_comparisons

SAMPLE = "samples/att/rocprofv3_triton_gemm_afp4"
ASSEMBLY = """\
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
\t.globl k
k:
\t.file 1 "/home" "k.py"
\t.loc 1 3 0
\ts_mov_b32 s4, 0
.LBB0_1:
\t.loc 1 5 0
\tds_read_b128 v[0:3], v8
\ts_waitcnt lgkmcnt(0)
\t.loc 1 6 0
\tv_add_f32_e32 v0, v0, v1
\ts_add_u32 s4, s4, 1
\ts_cmp_lt_u32 s4, 9
\ts_cbranch_scc1 .LBB0_1
\t.loc 1 7 0
\ts_endpgm
.Lfunc_end0:
\t.size k, .Lfunc_end0-k
"""
LISTING = ["; k", "s_mov_b32 s4, 0", "s_nop 0", "ds_read_b128 v[0:3], v8", "s_waitcnt lgkmcnt(0)",
           "v_add_f32_e32 v0, v0, v1", "s_add_u32 s4, s4, 1", "s_cmp_lt_u32 s4, 9", "s_cbranch_scc1 65530", "s_endpgm",
           "s_nop 0", "s_code_end"]  # fmt: skip
UNISSUED = (";", "s_nop", "s_code_end")
# Of two wavefronts that do nine iterations each.
LATENCY = {3: 18 * 4, 4: 18 * 90, 5: 18 * 5, 6: 18 * 4, 7: 18 * 4, 8: 18 * 16}


@pytest.fixture
def program():
    """One loop of six instructions on lines 5 and 6."""
    return amdgcn.parse(ASSEMBLY).functions[0]


def trace(texts=LISTING, **options) -> DecodedThreadTrace:
    """A listing with hits and latencies; stalls are a tenth of them."""
    instructions = tuple(
        TracedInstruction(n, text, 1, 4 * n, 18 if n in LATENCY else 0 if text.startswith(UNISSUED) else 2,
                    LATENCY.get(n, 0), LATENCY.get(n, 0) // 10)
        for n, text in enumerate(texts)
    )  # fmt: skip
    return DecodedThreadTrace("code.json", "made", "k", instructions, **options)


def changed(place: int, text: str) -> list[str]:
    """The listing with another instruction."""
    return [*LISTING[:place], text, *LISTING[place + 1 :]]


def test_padding_and_jumps_are_no_difference(program):
    """What the assembler fills up with, and a jump's distance for its label."""
    match, found = in_thread_trace("k", program, trace())
    assert (match.source, match.confidence) == ("thread trace", "sure")
    assert [(key.name, key.computed) for key in match.keys] == [("name", "k"), ("instructions", 8)]
    assert all(key.agrees for key in match.keys)
    assert [one.text for one in found.traced] == [LISTING[n] for n in (1, 3, 4, 5, 6, 7, 8, 9)]


@pytest.mark.parametrize(
    ("texts", "instruction"),
    [
        (changed(5, "v_add_f32_e32 v0, v0, v2"), "instruction 4"),
        (changed(4, "s_waitcnt lgkmcnt(1)"), "instruction 3"),
        (changed(8, "s_cbranch_scc0 65530"), "instruction 7"),
        (LISTING[:9], "instruction 8"),
        (changed(10, "s_endpgm"), "instruction 9"),
    ],
)
def test_one_other_instruction_is_another_kernel(program, texts, instruction):
    """Another register, another count, another jump, less and more; the first that differs is named."""
    match, _ = in_thread_trace("k", program, trace(texts))
    assert match.confidence == "doubtful"
    differing = [key for key in match.keys if not key.agrees]
    assert differing[0].name == instruction
    assert all(key.name.startswith("count of ") and key.computed != key.measured for key in differing[1:])


def test_what_another_build_has_more_of_is_counted(program):
    """Two waits more and one addition fewer; padding and what is equal are not named."""
    texts = [*LISTING[:5], "s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(1)", *LISTING[6:]]
    match, _ = in_thread_trace("k", program, trace(texts))
    counts = {key.name: (key.computed, key.measured) for key in match.keys if key.name.startswith("count of ")}
    assert counts == {"count of s_waitcnt": (1, 3), "count of v_add_f32_e32": (1, 0)}
    assert "of the same kernel, another build" in match_words(match)


def test_another_kernel_s_trace_is_refused(program):
    """By its name."""
    with pytest.raises(InputError, match="is of other, not of k"):
        in_thread_trace("k", program, replace(trace(), kernel="other"))


def test_cycles_of_an_iteration_by_hand(program):
    """4 + 90 cycles on line 5, 5 + 4 + 4 + 16 on line 6, of 18 iterations; the model has 80 and 20."""
    by_line = {"k.py:5": 80.0, "k.py:6": 20.0}
    loop = LoopPrediction(".LBB0_1", 9, True, "counted", 100.0, {"k.py": (5, 6)}, by_line=by_line)
    model = Prediction(1.0, 0.5, 2.0, 900.0, "lds", {"lds": 1.0}, [loop])
    (one,) = loop_comparisons(KernelReport("k", "gfx942", model=model), program, align(program, trace()))
    assert (one.header, one.iterations, one.measured, one.modelled) == (".LBB0_1", 18, 123, 100)
    assert one.ratio == pytest.approx(100 / 123)
    lines = [(line.place, line.measured, line.modelled) for line in one.by_line]
    assert lines == [("k.py:5", 94, 80), ("k.py:6", 29, 20)]
    assert one.stalled == pytest.approx(sum(18 * n // 10 for n in (4, 90, 5, 4, 4, 16)) / 18)


def test_a_loop_without_a_prediction_and_a_trace_without_stalls(program):
    """Not told is not zero."""
    told = trace()
    silent = replace(told, instructions=tuple(replace(one, stall=None) for one in told.instructions))
    (one,) = loop_comparisons(KernelReport("k", "gfx942"), program, align(program, silent))
    assert (one.modelled, one.ratio, one.stalled) == (None, None, None)
    assert all(line.stalled is None and line.modelled is None for line in one.by_line)


def test_a_loop_that_was_not_traced_is_left_out(program):
    """No iteration, no cycles of one."""
    told = trace()
    still = replace(told, instructions=tuple(replace(one, hits=0, latency=0) for one in told.instructions))
    assert loop_comparisons(KernelReport("k", "gfx942"), program, align(program, still)) == []


@pytest.fixture
def listed(shared, tmp_path):
    """The kernel of the published trace as assembly, made of the trace's own listing."""
    found = thread_trace.read(shared / SAMPLE)
    at = {one.address: place for place, one in enumerate(found.instructions)}
    lines, targets = [], set()
    for one in found.instructions:
        name, _, offset = one.text.partition(" ")
        file, _, line = (one.source or "?:0").rpartition(":")
        text = one.text
        if name.startswith(("s_branch", "s_cbranch")):
            target = at[one.address + 4 + 4 * (int(offset) - (1 << 16 if int(offset) >= 1 << 15 else 0))]
            text = f"{name} .LBB0_{target}"
            targets.add(target)
        lines.append([f'\t.file {int(line) + 1} "/" "{file}"', f"\t.loc {int(line) + 1} {line} 0", f"\t{text}"])
    body = [each for place, made in enumerate(lines) if not made[-1].startswith("\t;")
            for each in ([f".LBB0_{place}:"] if place in targets else []) + made]  # fmt: skip
    name = found.kernel
    head = ['\t.amdgcn_target "amdgcn-amd-amdhsa--gfx950"', f"\t.globl {name}", f"{name}:"]
    tail = ['\t.section .rodata,"a",@progbits', f"\t.amdhsa_kernel {name}", "\t\t.amdhsa_next_free_vgpr 256",
            "\t\t.amdhsa_next_free_sgpr 96", "\t\t.amdhsa_accum_offset 256", "\t.end_amdhsa_kernel", "\t.text",
            ".Lfunc_end0:", f"\t.size {name}, .Lfunc_end0-{name}"]  # fmt: skip
    path = tmp_path / "traced.s"
    path.write_text("\n".join([*head, *body, *tail]) + "\n")
    return path


def test_a_published_trace_beside_its_kernel(kprof, shared, listed):
    """1,736 iterations of 3,195 cycles, as summed from the file; the model is within a quarter."""
    ran = kprof("analyze", "kernel", listed, "--arch", "MI355X", "--thread-trace", shared / SAMPLE, "--json", "-")
    (kernel,) = json.loads(ran.out)["kernels"]
    (loop,) = kernel["measured"]["loops"]
    (code,) = (shared / SAMPLE).rglob("code.json")
    rows = [row for row in json.loads(code.read_text())["code"] if row[6] == 1736]
    assert loop["iterations"] == 1736
    assert loop["measured"] == pytest.approx(sum(row[7] for row in rows) / 1736)
    assert loop["modelled"] == pytest.approx(loop["measured"], rel=0.25)
    assert sum(line["measured"] for line in loop["by_line"]) == pytest.approx(loop["measured"], rel=0.01)
    text = kprof("analyze", "kernel", listed, "--arch", "MI355X", "--thread-trace", shared / SAMPLE).out
    assert "thread trace: 1 run, of the same binary" in text
    assert "1,736" in text


def test_reading_keeps_what_is_odd_in_a_trace(shared):
    """The remarks of the reader are the measurement's."""
    found = read([], [], None, shared / SAMPLE)
    assert found.thread is not None
    assert found.gpu is None
    assert len(found.notes) == len(found.thread.issues)
