"""Single instructions, compared with numpy's integers of fixed width."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import amdgcn
from kprof_analyzers.lane_execution.arithmetic import MEMORY, step_of

WORDS = st.integers(0, 2**32 - 1)
LONGS = st.integers(0, 2**64 - 1)
SMALL = st.integers(0, 31)


def execute(text, wave=64, **state):
    """Return the registers after an instruction; by default all lanes are active."""
    program = amdgcn.parse(f'\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\nk:\n\t{text}\n\ts_endpgm\n').functions[0]
    registers = {"exec_lo": 0xFFFFFFFF, "exec_hi": 0xFFFFFFFF, **state}
    step_of(program.instructions[0], wave)(registers)
    return registers


def i32(value):
    """The same bits as a signed number."""
    return np.uint32(value).astype(np.int32)


def halves(name, value):
    """A 64-bit number in two registers."""
    first = int(name[1:])
    return {name: value & 0xFFFFFFFF, f"{name[0]}{first + 1}": value >> 32}


def whole(state, name):
    """The 64-bit number in two registers."""
    return state[name] | state[f"{name[0]}{int(name[1:]) + 1}"] << 32


@given(WORDS, WORDS)
def test_words(a, b):
    """Sums, products and bitwise operations of 32 bits wrap as numpy's do."""
    x, y = np.uint32(a), np.uint32(b)
    with np.errstate(over="ignore"):
        expected = {
            "s_add_u32": x + y, "s_sub_u32": x - y, "s_sub_i32": x - y, "s_mul_i32": x * y, "s_and_b32": x & y,
            "s_or_b32": x | y, "s_xor_b32": x ^ y, "s_andn2_b32": x & ~y, "s_min_u32": min(x, y),
            "s_max_i32": np.uint32(max(i32(a), i32(b)).view(np.uint32)), "v_add_u32_e32": x + y,
            "v_subrev_u32_e32": y - x, "v_mul_lo_u32": x * y, "v_xor_b32_e32": x ^ y,
        }  # fmt: skip
    for name, value in expected.items():
        kind = name[0]
        found = execute(f"{name} {kind}2, {kind}0, {kind}1", **{f"{kind}0": a, f"{kind}1": b})
        assert found[f"{kind}2"] == int(value), name
    high = int(np.uint64(a) * np.uint64(b) >> np.uint64(32))
    assert execute("s_mul_hi_u32 s2, s0, s1", s0=a, s1=b)["s2"] == high


@given(WORDS, SMALL)
def test_shifts(a, distance):
    """Logical and arithmetic shifts, with the distance first or second, and its upper bits without effect."""
    word, far = np.uint32(a), np.uint32(distance)
    right = int((i32(a) >> np.int32(distance)).view(np.uint32))
    assert execute("s_lshl_b32 s2, s0, s1", s0=a, s1=distance + 32)["s2"] == int(word << far)
    assert execute("s_lshr_b32 s2, s0, s1", s0=a, s1=distance)["s2"] == int(word >> far)
    assert execute("s_ashr_i32 s2, s0, s1", s0=a, s1=distance)["s2"] == right
    assert execute("v_lshlrev_b32_e32 v2, v1, v0", v0=a, v1=distance)["v2"] == int(word << far)
    assert execute("v_ashrrev_i32_e32 v2, v1, v0", v0=a, v1=distance)["v2"] == right


@given(WORDS, st.integers(0, 2**16 - 1))
def test_constants_of_16_bits(a, short):
    """They are printed as 16 bits, and extended by their sign, except for comparisons of unsigned numbers."""
    word, extended = np.uint32(a), np.int32(np.uint16(short).astype(np.int16)).view(np.uint32)
    with np.errstate(over="ignore"):
        expected = {"s_movk_i32": extended, "s_addk_i32": word + extended, "s_mulk_i32": word * extended}
    for name, value in expected.items():
        assert execute(f"{name} s0, {hex(short)}", s0=a)["s0"] == int(value), name
    assert execute(f"s_cmpk_lt_i32 s0, {hex(short)}", s0=a)["scc"] == (i32(a) < extended.view(np.int32))
    assert execute(f"s_cmpk_gt_u32 s0, {hex(short)}", s0=a)["scc"] == (a > short)
    assert execute(f"s_cmovk_i32 s0, {hex(short)}", s0=a, scc=1)["s0"] == int(extended)
    assert execute(f"s_cmovk_i32 s0, {hex(short)}", s0=a, scc=0)["s0"] == a
    signed = int(extended.view(np.int32))
    assert execute(f"s_movk_i32 s0, {signed}", s0=a)["s0"] == int(extended)


@given(LONGS, LONGS)
def test_a_carry_chain_adds_64_bits(a, b):
    """The low half sets SCC or VCC, the high half adds it."""
    total = (a + b) % 2**64
    state = execute("s_add_u32 s4, s0, s2", **halves("s0", a), **halves("s2", b))
    assert execute("s_addc_u32 s5, s1, s3", **state) | {"scc": 0} == {**state, "s5": total >> 32, "scc": 0}
    assert state["s4"] == total & 0xFFFFFFFF
    state = execute("v_add_co_u32_e32 v4, vcc, v0, v2", **halves("v0", a), **halves("v2", b))
    state = execute("v_addc_co_u32_e32 v5, vcc, v1, v3, vcc", **state)
    assert whole(state, "v4") == total
    state = execute("v_lshl_add_u64 v[4:5], v[0:1], 3, v[2:3]", **halves("v0", a), **halves("v2", b))
    assert whole(state, "v4") == ((a << 3) + b) % 2**64


@given(WORDS, WORDS)
def test_comparisons_and_choices(a, b):
    """Signed and unsigned comparisons set SCC or a mask of all lanes; choices follow it."""
    less, less_signed = a < b, bool(i32(a) < i32(b))
    assert execute("s_cmp_lt_u32 s0, s1", s0=a, s1=b)["scc"] == less
    state = execute("s_cmp_lt_i32 s0, s1", s0=a, s1=b)
    assert state["scc"] == less_signed
    assert execute("s_cselect_b32 s2, s0, s1", **state)["s2"] == (a if less_signed else b)
    state = execute("v_cmp_lt_u32_e32 vcc, v0, v1", v0=a, v1=b)
    assert whole({"s0": state["vcc_lo"], "s1": state["vcc_hi"]}, "s0") == (2**64 - 1 if less else 0)
    assert execute("v_cndmask_b32_e32 v2, v0, v1, vcc", **state)["v2"] == (b if less else a)
    assert execute("v_cmp_lt_u32_e32 vcc_lo, v0, v1", 32, v0=a, v1=b)["vcc_lo"] == (2**32 - 1 if less else 0)


@given(WORDS, st.integers(1, 2**32 - 1))
def test_the_compiler_s_division_is_exact(a, b):
    """LLVM divides by a float reciprocal and corrects it twice; the sequence gives the exact quotient."""
    state = {"s0": a, "s1": b, **{f"v{n}": 0 for n in range(4)}}
    for text in (
        "v_cvt_f32_u32_e32 v0, s1", "s_sub_i32 s2, 0, s1", "v_rcp_iflag_f32_e32 v0, v0",
        "v_mul_f32_e32 v0, 0x4f7ffffe, v0", "v_cvt_u32_f32_e32 v0, v0", "v_readfirstlane_b32 s3, v0",
        "s_mul_i32 s2, s2, s3", "s_mul_hi_u32 s2, s3, s2", "s_add_i32 s3, s3, s2", "s_mul_hi_u32 s2, s0, s3",
        "s_mul_i32 s3, s2, s1", "s_sub_i32 s3, s0, s3", "s_add_i32 s4, s2, 1", "s_sub_i32 s5, s3, s1",
        "s_cmp_ge_u32 s3, s1", "s_cselect_b32 s2, s4, s2", "s_cselect_b32 s3, s5, s3", "s_add_i32 s4, s2, 1",
        "s_cmp_ge_u32 s3, s1", "s_cselect_b32 s2, s4, s2",
    ):  # fmt: skip
        state = execute(text, **state)
    assert state["s2"] == a // b


def test_an_inactive_lane_keeps_its_registers():
    """With no active lane a vector instruction changes nothing, and a comparison gives an empty mask."""
    off = {"exec_lo": 0, "exec_hi": 0, "v0": 7, "v1": 8}
    assert execute("v_add_u32_e32 v0, v1, v1", **off)["v0"] == 7
    assert execute("v_cmp_lt_u32_e32 vcc, v0, v1", **off)["vcc_lo"] == 0
    assert execute("v_readfirstlane_b32 s0, v1", **off)["s0"] == 8


def test_exec_is_saved_and_restored():
    """``s_and_saveexec`` keeps the old mask; all ones come back even if the condition is not known."""
    unknown = frozenset({"n"})
    state = execute("s_and_saveexec_b64 s[0:1], vcc", vcc_lo=unknown, vcc_hi=unknown)
    assert (state["s0"], state["exec_lo"], state["scc"]) == (0xFFFFFFFF, unknown, unknown)
    assert execute("s_or_b64 exec, exec, s[0:1]", **state)["exec_hi"] == 0xFFFFFFFF


@pytest.mark.parametrize(
    ("text", "name", "depends"),
    [
        ("s_add_i32 s2, s0, s1", "s2", {"n", "m"}),
        ("s_cmp_lt_i32 s0, 7", "scc", {"n"}),
        ("v_sqrt_f32_e32 v2, v0", "v2", {"n"}),
        ("global_load_dword v2, v[0:1], off", "v2", {"n", MEMORY}),
        ("v_mov_b32_dpp v2, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", "v2", {"n"}),
    ],
)
def test_an_unknown_result_names_what_it_depends_on(text, name, depends):
    """Unknown is not zero: the names of the inputs go with the value."""
    n, m = frozenset({"n"}), frozenset({"m"})
    assert depends <= execute(text, s0=n, s1=m, v0=n, v1=0, v2=0)[name] <= depends | {"n"}
