"""Operations that the simulator steps through, for a CU of round numbers: each is worked out by hand."""

from dataclasses import replace

import pytest

from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.machine import machine_of
from kprof_analyzers.model.program import (
    BARRIER,
    BRANCH,
    BUSY,
    DELAY,
    FOLLOWED,
    IDLE,
    KIND,
    LDS,
    LOAD,
    MATRIX,
    PARTS,
    SCALAR,
    SCRATCH,
    SMEM,
    STORE,
    STREAMED,
    VALU,
    VMEM,
    WAIT,
    WAITS,
    WHICH,
    Translator,
)

ADD = "v_add_f32_e32 v90, v91, v92"
MFMA = "v_mfma_f32_32x32x8_f16 v[0:15], v[100:101], v[102:103], v[0:15]"
OTHER = "v_mfma_f32_32x32x8_f16 v[16:31], v[100:101], v[102:103], v[16:31]"
STORE16 = "global_store_dwordx4 v[80:81], v[0:3], off"


@pytest.fixture
def translate(kernel):
    """``translate(body, simds=4, effects..., MACHINE=...)``: operations of some instructions, and their code."""

    def made(body, *, product="MI300X", simds=4, conflicts=None, effects=None, rates=None, read64=None, **other):
        facts = kernel(body, product=product)
        found = machine_of(facts.arch, facts.product, facts.arch.wavefront_size)
        tables = {name: other.pop(name, {}) for name in ("fetched", "followed", "addressed")}
        arch = replace(
            facts.arch,
            rates={"transcendental": 32, "valu_fp64": 64} if rates is None else rates,
            lds=replace(facts.arch.lds, read64_cycles=read64 or {}),
        )
        settings = {
            "issue": 5,
            "valu": 4,
            "lds_bytes": 128,
            "lds_access": 3,
            "lds_latency": 100,
            "l1_bytes": 64,
            "latency": {"l1": 90.0},
            "matrix_unit": False,
            **other,
        }
        figures = {**found.figures, "lane_addresses": 16, "lds_store": 0.5, "lds_store_narrow": 0.25}
        machine = replace(found, arch=arch, figures=figures, **settings)
        translator = Translator(machine, effects or Effects(), simds, conflicts or {}, **tables)
        return translator.translate(facts.program.instructions)

    return made


@pytest.fixture
def one(translate):
    """``one(line, ...)``: the operation of one instruction."""
    return lambda line, **given: translate([line], **given).ops[0]


@pytest.mark.parametrize(
    ("line", "given", "cycles"),
    [
        (ADD, {}, 4),
        # 64 lanes of 4 SIMDs at 32 a cycle of the CU; at 1,024 a cycle the SIMD's own 4 cycles remain.
        ("v_exp_f32_e32 v0, v1", {}, 8),
        ("v_exp_f32_e32 v0, v1", {"rates": {"transcendental": 1024}}, 4),
        # 16 a cycle where nothing is said; wavefronts of half as many lanes take half the time.
        ("v_exp_f32_e32 v0, v1", {"rates": {}}, 16),
        ("v_exp_f32_e32 v0, v1", {"rates": {}, "lanes": 32}, 8),
        # The result goes to scalar registers: twice the time.
        ("v_readlane_b32 s0, v1, 0", {}, 8),
        ("v_readfirstlane_b32 s0, v1", {}, 8),
        # An operation on fp64 is two of the rate in FLOP: 2 * 64 * 4 / 64; of 128 a cycle where nothing is said.
        ("v_add_f64 v[0:1], v[2:3], v[4:5]", {}, 8),
        ("v_add_f64 v[0:1], v[2:3], v[4:5]", {"rates": {}}, 4),
        ("v_add_f64 v[0:1], v[2:3], v[4:5]", {"rates": {}, "valu": 2}, 4),
        ("v_add_f64 v[0:1], v[2:3], v[4:5]", {"rates": {"valu_fp64": 16}}, 32),
    ],
)
def test_vector_instructions_keep_their_unit(one, line, given, cycles):
    assert one(line, **given) == (VALU, cycles, (), 0.0, 0, 0)


@pytest.mark.parametrize("line", ["v_exp_f32_e32 v0, v1", "v_add_f64 v[0:1], v[2:3], v[4:5]"])
def test_a_wgp_has_the_rates_of_two_cus(kernel, line):
    """As many lanes of 8 SIMDs on twice the units: as long as on one CU."""
    facts = kernel([line])
    machine = machine_of(facts.arch, facts.product, 64)
    rates = {"transcendental": 8, "valu_fp64": 32}
    machine = replace(machine, arch=replace(machine.arch, rates=rates))
    wide = replace(machine, simds=8)
    first, second = (
        Translator(m, Effects(), 4, {}).translate(facts.program.instructions).ops[0] for m in (machine, wide)
    )
    assert first[1] == second[1] > machine.valu


def test_matrix_instructions_are_numbered_and_their_results_come_later(translate):
    """32 cycles as the instruction set's table has it, and three wait states of four cycles until it may be read."""
    code = translate([MFMA, OTHER, ADD])
    assert code.ops[:2] == [(MATRIX, 32.0, (), 44.0, 0, 0), (MATRIX, 32.0, (), 44.0, 1, 0)]
    assert code.results == 2


def test_operands_with_scales_are_marked(one):
    """On gfx950: 16 x 16 x 128 products of 8 bits."""
    line = "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21 op_sel_hi:[0,0,0]"
    found = one(line, product="MI355X")
    assert (found[0], found[5]) == (MATRIX, 1)
    plain = one("v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]", product="MI355X")
    assert (plain[0], plain[5]) == (MATRIX, 0)


def test_a_matrix_instruction_without_numbers_takes_32_cycles(one):
    """One of gfx950's, on gfx942; where it is known it takes 16."""
    line = "v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]"
    assert one(line)[:2] == (MATRIX, 32.0)
    assert one(line, product="MI355X")[:2] == (MATRIX, 16.0)


def waits(code):
    """Matrix results that each vector or matrix instruction waits for."""
    return [op[2] for op in code.ops if op[0] in {VALU, MATRIX}]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # Read, as a first or a later operand's part, or not at all.
        (["v_add_f32_e32 v90, v15, v91"], [(0,)]),
        (["v_add_f32_e32 v90, v91, v31"], [(1,)]),
        (["v_add_f32_e32 v90, v0, v16"], [(0, 1)]),
        (["v_add_f32_e32 v90, v16, v0"], [(0, 1)]),
        (["v_add_f32_e32 v90, v32, v91"], [()]),
        (["v_lshlrev_b64 v[90:91], 1, v[14:15]"], [(0,)]),
        # Each reader waits anew; what is overwritten waits once and is then another value.
        (["v_add_f32_e32 v90, v0, v91", "v_add_f32_e32 v90, v0, v91"], [(0,), (0,)]),
        (["v_mov_b32_e32 v0, v91", "v_mov_b32_e32 v90, v0", "v_mov_b32_e32 v90, v1"], [(0,), (), (0,)]),
        (["v_lshlrev_b64 v[0:1], 1, v[90:91]", "v_mov_b32_e32 v90, v1", "v_mov_b32_e32 v90, v2"], [(0,), (), (0,)]),
        # A comparison writes none of the registers that it names.
        (["v_cmpx_lt_f32_e32 v0, v91", "v_mov_b32_e32 v90, v0"], [(0,), (0,)]),
        (["v_cmp_lt_f32_e32 vcc, v0, v91", "v_mov_b32_e32 v90, v0"], [(0,), (0,)]),
        # Both operands of an exchange are read and written; so are those that packed instructions name.
        (["v_swap_b32 v90, v0", "v_mov_b32_e32 v91, v0"], [(0,), ()]),
        (["v_swap_b32 v90, v91", "v_mov_b32_e32 v91, v0"], [(), (0,)]),
        (["v_pk_add_f32 v[90:91], v[0:1], v[92:93]", "v_mov_b32_e32 v91, v0"], [(0,), (0,)]),
        (["v_pk_add_f32 v[0:1], v[16:17], v[92:93]", "v_mov_b32_e32 v91, v1"], [(0, 1), ()]),
    ],
)
def test_what_names_a_matrix_result_waits_for_it(translate, lines, expected):
    """Of two matrix instructions: registers 0 to 15 are the first one's, 16 to 31 the second one's."""
    code = translate([MFMA, OTHER, *lines])
    assert waits(code) == [(), (), *expected]
    # They take as long as others.
    assert {(op[1], *op[3:]) for op in code.ops if op[0] == VALU} == {(4, 0.0, 0, 0)}


def test_an_accumulation_register_is_a_result_too(translate):
    """Names of LLVM's, and the older ones of the assembler's."""
    product = "v_mfma_f32_32x32x8_f16 a[0:15], v[100:101], v[102:103], a[0:15]"
    for name in ("a0", "acc0"):
        assert waits(translate([product, f"v_accvgpr_read_b32 v90, {name}"])) == [(), (0,)]


def test_a_register_written_in_a_dual_instruction_waits(translate):
    """Either half's, with ``::`` between them."""
    product = "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]"
    dual = "v_dual_mul_f32 v50, v51, v52 :: v_dual_add_f32 v55, v0, v57"
    assert waits(translate([product, dual], product="RX7900XTX")) == [(), (0,)]
    assert waits(translate([product, dual.replace("v0", "v33")], product="RX7900XTX")) == [(), ()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # An operand is waited for, an accumulator is forwarded, unless it is an operand as well.
        ("v_mfma_f32_32x32x8_f16 v[32:47], v[0:1], v[102:103], v[32:47]", (0,)),
        ("v_mfma_f32_32x32x8_f16 v[32:47], v[102:103], v[16:17], v[32:47]", (1,)),
        ("v_mfma_f32_32x32x8_f16 v[32:47], v[16:17], v[0:1], v[32:47]", (0, 1)),
        ("v_mfma_f32_32x32x8_f16 v[0:15], v[102:103], v[104:105], v[0:15]", ()),
        ("v_mfma_f32_32x32x8_f16 v[32:47], v[102:103], v[104:105], v[0:15]", ()),
        ("v_mfma_f32_32x32x8_f16 v[32:47], v[102:103], v[16:17], v[0:15]", (1,)),
        ("v_mfma_f32_32x32x8_f16 v[32:47], v[102:103], v[104:105], 0", ()),
        ("v_mfma_f32_32x32x8_f16 v[32:47], v[0:1], v[104:105], 0", (0,)),
        ("v_mfma_f32_32x32x8_f16 v[0:15], v[0:1], v[16:17], v[0:15]", (1,)),
        ("v_mfma_f32_32x32x8_f16 v[0:15], v[102:103], v[104:105], v[32:47]", ()),
        ("v_mfma_f32_32x32x8_f16 a[0:15], v[102:103], v[16:17], a[0:15]", (1,)),
    ],
)
def test_a_matrix_instruction_waits_for_its_operands(translate, line, expected):
    """``v_mfma D, A, B, C``: D is written, A and B are read, C is added to."""
    assert waits(translate([MFMA, OTHER, line])) == [(), (), expected]


def test_a_written_result_is_the_last_one_s(translate):
    assert waits(translate([MFMA, MFMA, "v_mov_b32_e32 v90, v0"])) == [(), (), (1,)]
    other = MFMA.replace("v[0:15]", "v[32:47]", 1)
    assert waits(translate([MFMA, other, "v_mov_b32_e32 v90, v0", "v_mov_b32_e32 v90, v32"])) == [(), (), (0,), (1,)]


@pytest.mark.parametrize(("between", "expected"), [(31, (0,)), (32, ())])
def test_after_32_instructions_every_result_is_there(translate, between, expected):
    """Counted from the last matrix instruction; scalar ones count as well."""
    body = [MFMA, *["s_mov_b32 s0, s1"] * between, "v_mov_b32_e32 v90, v0"]
    assert waits(translate(body)) == [(), expected]


def test_results_that_were_given_up_are_not_waited_for_again(translate):
    body = [MFMA, *["s_mov_b32 s0, s1"] * 40, ADD, OTHER, "v_mov_b32_e32 v90, v0", "v_mov_b32_e32 v90, v16"]
    assert waits(translate(body)) == [(), (), (), (), (1,)]


@pytest.mark.parametrize(
    ("line", "given", "busy"),
    [
        # 16 bytes of 64 lanes at 128 a cycle, for each of four SIMDs.
        ("ds_read_b128 v[0:3], v40", {}, 4 * 8),
        ("ds_read_b64 v[0:1], v40", {}, 4 * 4),
        # Four bytes at least, and the cycles of an access at least.
        ("ds_read_u8 v0, v40", {"lds_access": 1}, 4 * 2),
        ("ds_read_b32 v0, v40", {}, 4 * 3),
        # What moves no bytes of LDS is taken to be of four a lane.
        ("ds_bpermute_b32 v0, v1, v2", {"lds_access": 1}, 4 * 2),
        # One cycle of conflicts for each without any: twice the time. The place is the instruction's.
        ("ds_read_b128 v[0:3], v40", {"conflicts": {0: 1.0}}, 4 * 16),
        ("ds_read_b128 v[0:3], v40", {"conflicts": {1: 1.0}}, 4 * 8),
        ("ds_read_b128 v[0:3], v40", {"conflicts": {0: 1.0}, "effects": Effects(lds_conflicts=False)}, 4 * 8),
        # Two SIMDs share a port of 64 bytes a cycle, to which stores go more slowly: narrow ones at a quarter.
        ("ds_write_b64 v40, v[0:1]", {"matrix_unit": True}, 2 * 8 / 0.5),
        ("ds_write_b32 v40, v0", {"matrix_unit": True}, 2 * 4 / 0.25),
        ("ds_write_b64 v40, v[0:1]", {}, 4 * 4),
        ("ds_read_b64 v[0:1], v40", {"matrix_unit": True, "simds": 3}, 2 * 8),
        ("ds_read_b64 v[0:1], v40", {"matrix_unit": True, "simds": 2}, 2 * 4),
        # Measured cycles of 64 reads that depend on each other, where they are longer; of reads alone.
        ("ds_read_b64 v[0:1], v40", {"read64": {64: 64 * 20}}, 20),
        ("ds_read_b64 v[0:1], v40", {"read64": {128: 64 * 20}}, 16),
        ("ds_write_b64 v40, v[0:1]", {"read64": {64: 64 * 20}}, 16),
    ],
)
def test_accesses_to_lds_keep_its_pipe(one, line, given, busy):
    assert one(line, **given) == (LDS, busy, (0,), 100, 0, 0)


@pytest.mark.parametrize(
    ("line", "given", "busy", "port"),
    [
        ("ds_read_b128 v[0:3], v40", {}, 8, 8),
        ("ds_read_b128 v[0:3], v40", {"matrix_unit": True}, 8, 16),
        ("ds_write_b64 v40, v[0:1]", {"matrix_unit": True}, 4, 16),
        ("ds_read_b32 v0, v40", {}, 3, 2),
        ("ds_read_b64 v[0:1], v40", {"read64": {64: 64 * 20}}, 4, 20),
    ],
)
def test_one_simd_has_its_port_beside_the_pipe(one, line, given, busy, port):
    """Where every SIMD is simulated, the pipe counts once and the SIMD's own half of the port beside it."""
    assert one(line, simds=1, **given) == (LDS, busy, (0,), 100, port, 0)


def test_without_lds_an_access_takes_no_time(one):
    """It is still counted, and is there with the next instruction."""
    assert one("ds_read_b128 v[0:3], v40", effects=Effects(lds=False)) == (LDS, 0.0, (0,), 5, 0, 0)


LOAD16 = "global_load_dwordx4 v[0:3], v[80:81], off"


@pytest.mark.parametrize(
    ("line", "given", "expected"),
    [
        # 16 bytes of 64 lanes at 64 a cycle, four SIMDs' bytes.
        (LOAD16, {}, (4 * 16, 4096.0, LOAD)),
        ("global_load_dword v0, v[80:81], off", {}, (4 * 4, 1024.0, LOAD)),
        (STORE16, {}, (4 * 16, 4096.0, STORE)),
        (LOAD16, {"simds": 1}, (16, 1024.0, LOAD)),
        # What has no bytes of its own is taken to have four a lane.
        ("image_load v0, v1, s[0:7]", {}, (4 * 4, 1024.0, LOAD)),
        # Addresses of 16 lanes a cycle, of scattered ones ten times as many cycles.
        ("global_load_ubyte v0, v[80:81], off", {}, (4 * 4, 256.0, LOAD)),
        (LOAD16, {"addressed": {0: 10.0}}, (4 * 40, 4096.0, LOAD)),
        (LOAD16, {"addressed": {1: 10.0}}, (4 * 16, 4096.0, LOAD)),
        # Shares of the bytes that are moved to or from L2.
        (LOAD16, {"fetched": {0: 2.5}}, (4 * 16, 10240.0, LOAD)),
        (STORE16, {"fetched": {0: 0.5}}, (4 * 16, 2048.0, STORE)),
        (LOAD16, {"fetched": {1: 2.5}}, (4 * 16, 4096.0, LOAD)),
        # A quarter of its iterations miss L2: two of eight parts.
        (LOAD16, {"followed": {0: 1 / 4}}, (4 * 16, 4096.0, FOLLOWED + 2)),
        (LOAD16, {"followed": {0: 0.0}}, (4 * 16, 4096.0, FOLLOWED)),
        (LOAD16, {"followed": {1: 1 / 4}}, (4 * 16, 4096.0, LOAD)),
        (f"{LOAD16} nt", {}, (4 * 16, 4096.0, STREAMED)),
        (f"{LOAD16} nt", {"effects": Effects(cache_modifiers=False)}, (4 * 16, 4096.0, LOAD)),
        # Spilled registers move all of their bytes.
        ("scratch_load_dword v0, off, s0", {"fetched": {0: 2.5}}, (4 * 4, 1024.0, SCRATCH)),
        ("scratch_store_dword off, v0, s0", {}, (4 * 4, 1024.0, SCRATCH)),
    ],
)
def test_accesses_to_memory_have_their_cycles_bytes_and_path(one, line, given, expected):
    cycles, moved, path = expected
    assert one(line, **given) == (VMEM, cycles, (0,), moved, path, 0)


def test_fields_have_their_places(one):
    """In the order in which the module's table has them."""
    op = one(MFMA)
    assert (op[KIND], op[BUSY], op[WAITS], op[DELAY], op[WHICH]) == (MATRIX, 32.0, (), 44.0, 0)
    assert sorted((KIND, BUSY, WAITS, DELAY, WHICH)) == list(range(len(op) - 1))


def test_paths_are_numbered_apart():
    """Loads that miss up to half of their iterations have a path each, and streaming loads one behind them."""
    assert (LOAD, STORE, SCRATCH, FOLLOWED) == (0, 1, 2, 3)
    assert [FOLLOWED + part for part in range(PARTS // 2 + 1)] + [STREAMED] == list(range(FOLLOWED, STREAMED + 1))


def test_spills_cost_an_issue_slot_where_they_are_left_out(one):
    none = Effects(scratch=False)
    assert one("scratch_load_dword v0, off, s0", effects=none) == (SCALAR, 5, (), 0.0, 0, 0)
    assert one(LOAD16, effects=none)[0] == VMEM


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("s_load_dwordx2 s[0:1], s[2:3], 0x0", (SMEM, 5, (0,), 90.0, 0, 0)),
        ("s_barrier", (BARRIER, 0.0, (), 0.0, 0, 0)),
        ("s_branch .LBB0_9", (BRANCH, 5, (), 0.0, 0, 0)),
        ("s_mov_b32 s0, s1", (SCALAR, 5, (), 0.0, 0, 0)),
        # One more wait state than it says; sleeps of 64 cycles, 127 of them at most.
        ("s_nop 0", (IDLE, 5, (), 0.0, 0, 0)),
        ("s_nop 0x7", (IDLE, 8 * 5, (), 0.0, 0, 0)),
        ("s_nop elsewhere", (IDLE, 5, (), 0.0, 0, 0)),
        ("s_nop", (IDLE, 5, (), 0.0, 0, 0)),
        ("s_sleep 2", (IDLE, 5 + 2 * 64, (), 0.0, 0, 0)),
        ("s_sleep 127", (IDLE, 5 + 127 * 64, (), 0.0, 0, 0)),
        ("s_sleep 0xffff", (IDLE, 5 + 127 * 64, (), 0.0, 0, 0)),
    ],
)
def test_other_instructions_take_an_issue_slot_or_what_they_say(one, line, expected):
    found = one(line)
    assert found == expected
    assert isinstance(found[2], tuple)


def test_a_split_barrier_holds_where_it_waits(translate):
    """On gfx1201 the signal passes, the wait is the barrier."""
    code = translate(["s_barrier_signal -1", "s_barrier_wait 0xffff"], product="RX9070XT")
    assert code.ops[:2] == [(SCALAR, 5, (), 0.0, 0, 0), (BARRIER, 0.0, (), 0.0, 0, 0)]


def test_scalar_loads_are_there_at_once_where_latency_is_left_out(one):
    assert one("s_load_dwordx2 s[0:1], s[2:3], 0x0", effects=Effects(memory_latency=False))[3] == 0.0


def test_waits_name_counters_by_number(translate):
    """In the order in which they come up; those that nothing is simulated for are left out."""
    lines = [LOAD16, "s_waitcnt vmcnt(1) lgkmcnt(0)", "s_waitcnt expcnt(0)", "s_waitcnt lgkmcnt(3)"]
    code = translate([*lines, "ds_read_b32 v0, v40", STORE16])
    assert code.counters == ("vmcnt", "lgkmcnt")
    assert code.ops[1:4] == [
        (WAIT, 0.0, ((0, 1), (1, 0)), 0.0, 0, 0),
        (WAIT, 0.0, (), 0.0, 0, 0),
        (WAIT, 0.0, ((1, 3),), 0.0, 0, 0),
    ]
    assert [code.ops[at][2] for at in (0, 4, 5)] == [(0,), (1,), (0,)]


def test_an_atomic_counts_by_whether_it_returns(translate):
    """gfx1100's ISA: ``vmcnt`` for what returns, ``vscnt`` for what does not; ``glc`` asks for the old value."""
    plain, returning = "global_atomic_add_u32 v0, v1, s[2:3]", "global_atomic_add_u32 v2, v0, v1, s[2:3] glc"
    for lines, names in (([plain, returning], ["vscnt", "vmcnt"]), ([returning, plain], ["vmcnt", "vscnt"])):
        code = translate(lines, product="RX7900XTX")
        assert [[code.counters[c] for c in op[2]] for op in code.ops[:2]] == [[name] for name in names]


def test_an_access_to_global_data_share_counts_twice(translate):
    """``gds``: ``lgkmcnt`` and ``expcnt``, whatever an instruction of its name was before."""
    for lines in (["ds_add_u32 v0, v1", "ds_add_u32 v0, v1 gds"], ["ds_write_b32 v0, v1", "ds_write_b32 v0, v1 gds"]):
        code = translate(lines)
        assert [[code.counters[c] for c in op[2]] for op in code.ops[:2]] == [["lgkmcnt"], ["lgkmcnt", "expcnt"]]


def test_instructions_that_look_alike_are_told_apart_by_what_they_do(translate):
    """One mnemonic each, with other conflicts, bytes, addresses, parts and waits."""
    read = "ds_read_b128 v[0:3], v40"
    assert [op[1] for op in translate([read] * 3, conflicts={1: 1.0}).ops[:3]] == [32, 64, 32]
    assert [op[3] for op in translate([LOAD16] * 3, fetched={1: 2.0}).ops[:3]] == [4096, 8192, 4096]
    assert [op[1] for op in translate([LOAD16] * 3, addressed={1: 10.0}).ops[:3]] == [64, 160, 64]
    assert [op[4] for op in translate([LOAD16] * 3, followed={1: 0.25}).ops[:3]] == [LOAD, FOLLOWED + 2, LOAD]
    assert [op[4] for op in translate([LOAD16, f"{LOAD16} nt", LOAD16]).ops[:3]] == [LOAD, STREAMED, LOAD]
    assert [op[1] for op in translate(["s_nop 0", "s_nop 1", "s_sleep 1", "s_sleep 2"]).ops[:4]] == [5, 10, 69, 133]
    lines = ["s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"]
    assert [op[2] for op in translate(lines).ops[:2]] == [((0, 1),), ((0, 0),)]


def test_operations_that_are_equal_are_one(translate):
    """Tens of thousands of instructions have a few hundred different operations: the same objects, not copies."""
    lines = [ADD, "s_mov_b32 s0, s1", LOAD16, STORE16, "ds_read_b32 v0, v40", "s_load_dword s0, s[2:3], 0x0", "s_nop 1"]
    code = translate([*lines, "scratch_load_dword v0, off, s0"] * 2)
    assert [code.ops[at] is code.ops[at + 8] for at in range(8)] == [True] * 8
    for atomic in ("global_atomic_add v[80:81], v0, off", "ds_add_u32 v0, v1"):
        first, second = translate([atomic] * 2).ops[:2]
        assert first == second
        assert first is not second


@pytest.mark.parametrize(("width", "cycles", "moved"), [(8, 4 * 8, 2048.0), (None, 4 * 16, 4096.0)])
def test_an_access_can_be_taken_for_one_of_another_width(kernel, translate, width, cycles, moved):
    """Eight bytes a lane in place of sixteen; then no byte counts twice, though shares below one stay."""
    facts = kernel([LOAD16, "ds_read_b128 v[0:3], v40"])
    found = machine_of(facts.arch, facts.product, 64)
    machine = replace(
        found, l1_bytes=64, matrix_unit=False, lds_bytes=128, figures={**found.figures, "lane_addresses": 16}
    )
    load, read = facts.program.instructions[:2]

    def moved_of(share):
        return Translator(machine, Effects(), 4, {}, {0: share}).memory_of(load, width)

    assert moved_of(1.0)[1] == cycles
    assert [moved_of(share)[3] for share in (0.5, 1.0)] == [moved / 2, moved]
    assert moved_of(2.0)[3] == (moved if width else 2 * moved)
    translator = Translator(machine, Effects(), 4, {})
    expected = max(4 * (width or 16) * 64 / 128, machine.arch.lds.read64_cycles[8 * (width or 16)] / 64)
    assert translator.memory_of(read, width)[:2] == translator.lds_of(read, width)[:2] == (LDS, expected)
