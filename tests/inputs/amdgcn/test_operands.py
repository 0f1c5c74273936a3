"""Operands, modifiers and registers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.amdgcn.operands import registers, split

CASES = [
    (
        "v0, v[2:3], off offset:1024 glc",
        ("v0", "v[2:3]", "off"),
        {"offset": "1024", "glc": ""},
    ),
    (
        "v1, v2, s[4:7], 0 offen offset:16 sc0 nt",
        ("v1", "v2", "s[4:7]", "0"),
        {"offen": "", "offset": "16", "sc0": "", "nt": ""},
    ),
    (
        "v0, |v1|, -v2 mul:2 clamp",
        ("v0", "|v1|", "-v2"),
        {"mul": "2", "clamp": ""},
    ),
    (
        "v[0:1], v[2:3], v[4:5] op_sel_hi:[1,0] neg_lo:[1,0]",
        ("v[0:1]", "v[2:3]", "v[4:5]"),
        {"op_sel_hi": "[1,0]", "neg_lo": "[1,0]"},
    ),
    (
        "v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
        ("v0", "v1"),
        {"quad_perm": "[1,0,3,2]", "row_mask": "0xf", "bank_mask": "0xf"},
    ),
    (
        'v1, v2 offset:swizzle(BITMASK_PERM,"01pip")',
        ("v1", "v2"),
        {"offset": 'swizzle(BITMASK_PERM,"01pip")'},
    ),
    (
        "vmcnt(0) lgkmcnt(0)",
        ("vmcnt(0)", "lgkmcnt(0)"),
        {},
    ),
    (
        "instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)",
        ("instid0(VALU_DEP_1)", "instskip(NEXT)", "instid1(VALU_DEP_1)"),
        {},
    ),
    (
        "hwreg(HW_REG_WAVE_MODE, 25, 1), 1",
        ("hwreg(HW_REG_WAVE_MODE, 25, 1)", "1"),
        {},
    ),
    (
        "s4, s4, (.LBB0_5-.Lpost_getpc0)&4294967295",
        ("s4", "s4", "(.LBB0_5-.Lpost_getpc0)&4294967295"),
        {},
    ),
    (
        "mrt0 v0, v1, off, off done vm",
        ("mrt0", "v0", "v1", "off", "off"),
        {"done": "", "vm": ""},
    ),
    (
        "v[0:1], v2, off th:TH_ATOMIC_RETURN scope:SCOPE_DEV",
        ("v[0:1]", "v2", "off"),
        {"th": "TH_ATOMIC_RETURN", "scope": "SCOPE_DEV"},
    ),
    (
        "sc0 sc1",
        (),
        {"sc0": "", "sc1": ""},
    ),
    (
        "v0 /*v256*/, v[1:2] /*v[513:514]*/, 0",
        ("v256", "v[513:514]", "0"),
        {},
    ),
    (
        "v[0:3], [v4, v5, v6], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D",
        ("v[0:3]", "[v4, v5, v6]", "s[0:7]"),
        {"dmask": "0xf", "dim": "SQ_RSRC_IMG_2D"},
    ),
    (
        "a16, v96",
        ("a16", "v96"),
        {},
    ),
    (
        "v[0:3], v[4:5], s[0:7], s[8:11] dmask:0xf a16",
        ("v[0:3]", "v[4:5]", "s[0:7]", "s[8:11]"),
        {"dmask": "0xf", "a16": ""},
    ),
    (
        "",
        (),
        {},
    ),
]


@pytest.mark.parametrize(("text", "operands", "modifiers"), CASES)
def test_split(text: str, operands: tuple[str, ...], modifiers: dict[str, str]) -> None:
    """Operands in order and modifiers by name, with and without the space behind the mnemonic."""
    assert split(text) == (operands, modifiers)
    assert split(f" {text}") == (operands, modifiers)


_WORDS = st.sampled_from(
    [
        "v0",
        "a16",
        "s[0:1]",
        "-v3",
        "vcc",
        "exec",
        "off",
        "0",
        "0x3f",
        "v1.h",
        "|v2|",
        "m0",
        "offset:16",
        "sc0",
        "nt",
        "op_sel:[0,1]",
        "row_mask:0xf",
        "lds",
        "a16",
        "off",
        "v7",
        "th:X",
    ]
)


@given(st.lists(_WORDS, min_size=1, max_size=5), st.lists(_WORDS, max_size=3))
def test_the_short_way_gives_what_the_long_one_gives(operands: list[str], modifiers: list[str]) -> None:
    """Two spaces in front keep a text from the short way."""
    text = " ".join([", ".join(operands), *modifiers])
    assert split(f" {text}") == split(f"  {text}")


@pytest.mark.parametrize(
    ("operand", "names"),
    [
        ("v7", ("v7",)),
        ("v[2:4]", ("v2", "v3", "v4")),
        ("s[10]", ("s10",)),
        ("a[0:1]", ("a0", "a1")),
        ("acc3", ("a3",)),
        ("-|v1|", ("v1",)),
        ("abs(v3)", ("v3",)),
        ("-abs(v3)", ("v3",)),
        ("sext(v5)", ("v5",)),
        ("v9.h", ("v9",)),
        ("vcc", ("vcc_lo", "vcc_hi")),
        ("exec_lo", ("exec_lo",)),
        ("m0", ("m0",)),
        ("src_scc", ("scc",)),
        ("ttmp[6:7]", ("ttmp6", "ttmp7")),
        ("[v4, v5]", ("v4", "v5")),
        ("0x3f800000", ()),
        ("off", ()),
        ("null", ()),
        (".LBB0_1", ()),
        ("v[5:2]", ()),
        ("v[0:99999999999]", ()),
        ("v123456789", ()),
    ],
)
def test_registers(operand: str, names: tuple[str, ...]) -> None:
    """Registers that an operand names."""
    assert registers(operand) == names


@given(st.text(alphabet='v[]()|:,-. 0123456789abcsx/*"', max_size=80))
def test_any_text_is_survived(text: str) -> None:
    """Splitting and naming never fail, and never name more registers than hardware has."""
    operands, _ = split(text)
    assert all(len(registers(operand)) <= 1024 for operand in operands)
