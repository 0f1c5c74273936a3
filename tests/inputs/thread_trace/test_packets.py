"""Raw packets of CDNA GPUs: wavefronts, times, and what was issued found in the code."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import thread_trace
from kprof.inputs.thread_trace import raw
from kprof.inputs.thread_trace.packets import NAMES, RawWavefront, is_cdna, read_packets
from kprof.inputs.thread_trace.raw import Coded, follow, kernels_in

ENGINE, CU = 3, 5
HEADER = (0x11 | 4 << 13 | 15 << 16 | CU << 20 | ENGINE << 32).to_bytes(8, "little")
LISTING = """
Disassembly of section .text:
0000000000001000 <loop>:
\ts_load_dword s4, s[0:1], 0x0                               // 000000001000: C0020100 00000000
\ts_waitcnt lgkmcnt(0)                                       // 000000001008: BF8CC07F
\tv_add_f32_e32 v0, 0, v0                                    // 00000000100C: 02000080
\ts_nop 0                                                    // 000000001010: BF800000
\ts_cbranch_scc1 65533                                       // 000000001014: BF85FFFD <loop+0xc>
\ts_endpgm                                                   // 000000001018: BF810000
0000000000002000 <other>:
\tv_mov_b32_e32 v0, 0                                        // 000000002000: 7E000280
\ts_endpgm                                                   // 000000002004: BF810000
"""
# A turn more in the loop, then out of it.
ISSUED = (0, 5, 12, 5, 13, 15)
ADVANCES = (1, 100, 2, 4, 2, 3)


def start(cu: int, simd: int, slot: int) -> bytes:
    return (3 | cu << 6 | slot << 10 | simd << 14).to_bytes(4, "little")


def end(cu: int, simd: int, slot: int) -> bytes:
    return (6 | cu << 6 | slot << 10 | simd << 14).to_bytes(2, "little")


def wait(ticks: int) -> bytes:
    return (ticks << 4).to_bytes(2, "little")


def issue(simd: int, slot: int, kind: int, tick: int = 0) -> bytes:
    return (10 | tick << 4 | slot << 5 | simd << 9 | kind << 11).to_bytes(2, "little")


def traced(kinds=ISSUED, cu: int = CU) -> bytes:
    """A wavefront on a traced CU, and one beside it of which only its life is told."""
    parts = [HEADER, start(cu, 1, 2), start(7, 0, 0)]
    for ticks, kind in zip(ADVANCES, kinds, strict=True):
        parts += [wait(ticks), issue(1, 2, kind)]
    return b"".join((*parts, end(cu, 1, 2), wait(9), end(7, 0, 0)))


def test_wavefronts_have_place_life_and_what_they_issued():
    trace = read_packets(traced())
    first, second = trace.wavefronts
    assert (trace.engine, trace.unknown, trace.left) == (ENGINE, 0, 0)
    assert (first.cu, first.simd, first.slot, first.start, first.end) == (CU, 1, 2, 0, 4 * 112)
    assert first.issued == [(4, 0), (404, 5), (412, 12), (428, 5), (436, 13), (448, 15)]
    assert (second.cu, second.end, second.issued) == (7, 4 * 121, [])


def test_bit_four_is_a_tick_and_timestamps_jump_over_idle_time():
    stamp = [(1 | cycles << 16).to_bytes(8, "little") for cycles in (1000, 1000, 5000, 5004)]
    data = HEADER + stamp[0] + start(CU, 0, 0) + issue(0, 0, 5, tick=1) + stamp[2] + issue(0, 0, 5) + end(CU, 0, 0)
    (one,) = read_packets(data).wavefronts
    assert (one.start, one.issued, one.end) == (0, [(4, 5), (4000, 5)], 4000)


def test_a_radeon_s_first_packet_is_no_header_of_a_cdna_gpu():
    assert is_cdna(HEADER)
    assert not is_cdna((0x11 | 3 << 7).to_bytes(8, "little"))
    assert not is_cdna(HEADER[:7])


def test_what_was_issued_is_followed_through_the_code():
    """Branches are taken and not, what has no packet gets the time before the next one."""
    kernels = kernels_in(LISTING)
    found = follow(kernels["loop"], [w for w in read_packets(traced()).wavefronts if w.issued])
    assert [found.hits[at] for at in range(6)] == [1, 1, 2, 2, 2, 1]
    assert [found.cycles[at] for at in range(6)] == [0, 396, 4 + 16, 4 + 4, 4 + 4, 12]
    assert (found.wavefronts, found.lost) == (1, 0)
    assert follow(kernels["other"], read_packets(traced()).wavefronts[:1]).lost == 1


def coded(*rows: tuple[int, str, frozenset[int], int | None]) -> list[Coded]:
    return [Coded(text, address, kinds, target) for address, text, kinds, target in rows]


def wavefront(*issued: tuple[int, int]) -> RawWavefront:
    return RawWavefront(CU, 0, 0, 0, issued[-1][0], list(issued))


def test_preloaded_arguments_are_not_loaded_again():
    """Wavefronts enter behind the loads, 256 bytes from the kernel's first instruction."""
    silent = frozenset[int]()
    code = coded(
        (0x1000, "s_load_dwordx2 s[2:3], s[0:1], 0x0", frozenset({0}), None),
        (0x1008, "s_branch 61", frozenset({12, 13}), 0x1100),
        (0x100C, "s_nop 0", silent, None),
        (0x1100, "v_mov_b32_e32 v0, 0", frozenset({5}), None),
        (0x1104, "s_endpgm", frozenset({15}), None),
    )
    entered = follow(code, [wavefront((0, 5), (4, 15))])
    assert (entered.lost, dict(entered.hits)) == (0, {3: 1, 4: 1})
    from_the_first = follow(code, [wavefront((0, 0), (4, 12), (8, 5), (12, 15))])
    assert (from_the_first.lost, dict(from_the_first.hits)) == (0, {0: 1, 1: 1, 3: 1, 4: 1})


def test_a_barrier_has_what_is_waited_after_its_packet_and_a_nop_no_more_than_it_asks_for():
    silent = frozenset[int]()
    code = coded(
        (0, "s_barrier", frozenset({15}), None),
        (4, "s_waitcnt lgkmcnt(0)", silent, None),
        (8, "v_mov_b32_e32 v0, 0", frozenset({5}), None),
        (12, "s_nop 1", silent, None),
        (16, "buffer_load_dword v0, off, s[0:3], 0", frozenset({2}), None),
        (20, "s_endpgm", frozenset({15}), None),
    )
    found = follow(code, [wavefront((0, 15), (100, 5), (200, 2), (204, 15))])
    assert [found.cycles[at] for at in range(6)] == [96, 0, 4, 8, 92, 4]
    assert sum(found.cycles.values()) == 204


def test_without_code_the_kinds_are_told(tmp_path: Path):
    file = tmp_path / "1_2_shader_engine_3_7.att"
    file.write_bytes(traced())
    trace = thread_trace.read(file)
    assert {one.text: one.hits for one in trace.instructions} == {
        "smem_read": 1, "valu_32": 2, "branch_taken": 1, "branch_not_taken": 1, "message": 1,
    }  # fmt: skip
    assert (trace.kernel, trace.wavefronts, trace.lifetimes) == (None, 2, (448, 484))
    assert any("no code object" in issue for issue in trace.issues)
    assert "from the previous issue" in trace.issues[0]


def test_the_kernel_is_the_one_whose_code_fits(tmp_path: Path, monkeypatch):
    """Of the code objects beside it; engines of one dispatch are read together, all dispatches are listed."""
    monkeypatch.setattr(raw, "_code", lambda files: (kernels_in(LISTING), []))
    for name in ("1_2_shader_engine_0_7", "1_2_shader_engine_1_7"):
        (tmp_path / f"{name}.att").write_bytes(traced())
    (tmp_path / "1_2_shader_engine_0_6.att").write_bytes(traced(cu=4))
    trace = thread_trace.read(tmp_path)
    assert trace.kernel == "loop"
    assert [(one.text.split()[0], one.hits) for one in trace.instructions][:3] == [
        ("s_load_dword", 2), ("s_waitcnt", 2), ("v_add_f32_e32", 4),
    ]  # fmt: skip
    assert [(one.dispatch, one.kernel, one.hits) for one in trace.dispatches] == [(7, "loop", 18), (6, None, 0)]


def test_what_fits_no_kernel_is_told_by_kind(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(raw, "_code", lambda files: (kernels_in(LISTING), []))
    file = tmp_path / "1_2_shader_engine_0_7.att"
    file.write_bytes(traced(kinds=(28, 28, 28, 28, 28, 28)))
    trace = thread_trace.read(file)
    assert (trace.kernel, [(one.text, one.hits) for one in trace.instructions]) == (None, [("mfma", 6)])
    assert any("match none or several" in issue for issue in trace.issues)


@given(st.binary(max_size=400))
def test_any_bytes_are_read(data):
    """What is odd is counted; nothing is made up: each issue is of a wavefront that runs."""
    trace = read_packets(HEADER + data)
    assert 0 <= trace.left < 8
    for one in trace.wavefronts:
        assert one.end is None or one.end >= one.start
        times = [one.start, *(time for time, _ in one.issued)]
        assert times == sorted(times)
        assert not one.issued or one.cu == CU
        assert all(kind in range(32) for _, kind in one.issued)
    assert set(NAMES) <= set(range(32))
