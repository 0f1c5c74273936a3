"""What is not assembly, or not all of it."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs import amdgcn
from kprof.inputs.amdgcn import Assembly

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
SAMPLES = [
    (ARTIFACTS / name).read_text("utf-8", "replace")
    for name in (
        "gfx942/scaled_exp.triton-3.9.0.amdgcn",
        "gfx1100/scaled_exp.triton-3.4.0.amdgcn",
        "gfx942/hip_kernels.llvm-22.s",
    )
]
PTX = "//\n.version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(\n.param .u64 k_param_0\n)\n{\n ret;\n}\n"

FOREIGN = [
    ("", "empty"),
    ("  \n\n", "empty"),
    (PTX, "PTX for NVIDIA, not AMDGCN"),
    ("; ModuleID = 'LLVMDialectModule'\nsource_filename = \"x\"\ndefine void @k() {\n ret void\n}\n", "LLVM IR"),
    ('#blocked = #ttg.blocked<{sizePerThread = [1]}>\nmodule attributes {"ttg.num-warps" = 4 : i32} {\n}\n', "MLIR"),
    ('{"hash": "abc", "num_warps": 4}', "JSON"),
    ('{\n  "kprof": "0.1.0",\n  "kernels": []\n}', "a document that kprof wrote"),
    ('{"schema": "kprof.diff/1"}', "a document that kprof wrote"),
    ('{"schema": "other/1"}', "JSON"),
    ("\x7fELF\x02\x01\x01@" + "\0" * 64, "code object"),
    ("\x00\x01\x02\x03" * 40, "binary"),
    ("import triton\n\ndef f(x):\n    return x\n", "not AMDGCN"),
    ("\t.text\nmain:\n\tmovq %rsp, %rbp\n\tpushq %rax\n\tretq\n", "not AMDGCN"),
    ('\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n\t.text\n\t.globl k\n', "no instruction"),
]


@pytest.mark.parametrize(("text", "words"), FOREIGN)
def test_foreign_input_is_named(text: str, words: str) -> None:
    """One message that says what the file is and names it."""
    with pytest.raises(KprofError, match=words) as caught:
        amdgcn.parse(text, "a.amdgcn")
    assert caught.value.path == "a.amdgcn"


def test_missing_file_and_directory(tmp_path: Path) -> None:
    """Both are told apart."""
    with pytest.raises(KprofError, match="no such file"):
        amdgcn.read_file(tmp_path / "none.amdgcn")
    with pytest.raises(KprofError, match="directory"):
        amdgcn.read_file(tmp_path)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 0.95])
def test_a_cut_file_is_still_usable(share: float) -> None:
    """What could be read is there, marked as cut; strict reading refuses it."""
    text = SAMPLES[0]
    whole = amdgcn.parse(text).kernels[0]
    cut = text[: int(len(text) * share)]
    assembly = amdgcn.parse(cut, "cut.amdgcn")
    assert assembly.truncated
    assert assembly.notes
    (kernel,) = assembly.kernels
    assert kernel.name == whole.name
    assert 0 < len(kernel.instructions) <= len(whole.instructions)
    with pytest.raises(KprofError, match="cut off") as caught:
        amdgcn.parse(cut, "cut.amdgcn", strict=True)
    assert caught.value.place is not None


def test_unknown_instructions_are_counted() -> None:
    """Coverage falls, the mnemonic is listed, nothing fails."""
    text = SAMPLES[0].replace("\ts_endpgm", "\tv_frobnicate_b32 v0, v1\n\ts_endpgm")
    assembly = amdgcn.parse(text)
    assert assembly.coverage < 1
    assert assembly.unknown["v_frobnicate_b32"] >= 1
    assert any("v_frobnicate_b32" in note for note in assembly.notes)


def use(assembly: Assembly) -> None:
    """Everything lazy, for every instruction."""
    for kernel in (*assembly.kernels, *assembly.functions):
        assert 0 <= kernel.coverage <= 1
        assert all(loop.blocks for loop in kernel.loops)
        for item in kernel.instructions:
            assert item.effects.reads is not None
            assert item.modifiers is not None
            assert all(count is not None for count in item.waits.values())
            assert item.user_frame is None or item.user_frame.line
            assert item.target is None or isinstance(item.target, str)
            assert isinstance(item.counters, tuple)
            assert item.halves


def survive(text: str) -> None:
    """Reading and using ends soon, in a result or in a KprofError."""
    begin = time.process_time()
    refusal = None
    try:
        use(amdgcn.parse(text, "x.amdgcn"))
    except KprofError as error:
        refusal = error
    assert refusal is None or (refusal.path == "x.amdgcn" and refusal.message)
    assert time.process_time() - begin < 10


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(SAMPLES), st.floats(0, 1))
def test_cut_anywhere(text: str, share: float) -> None:
    """A file cut at any byte gives a result or one message."""
    survive(text[: int(len(text) * share)])


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(SAMPLES), st.data())
def test_mutated(text: str, data: st.DataObject) -> None:
    """Characters replaced, lines moved, pieces repeated: a result or one message."""
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text) - 1))
        length = data.draw(st.integers(0, 60))
        kind = data.draw(st.sampled_from(["delete", "repeat", "noise", "move"]))
        piece = text[at : at + length]
        if kind == "delete":
            text = text[:at] + text[at + length :] or " "
        elif kind == "repeat":
            text = text[:at] + piece * data.draw(st.integers(2, 50)) + text[at:]
        elif kind == "noise":
            text = text[:at] + data.draw(st.text(max_size=20)) + text[at:]
        else:
            other = data.draw(st.integers(0, len(text)))
            text = text[:other] + piece + text[other:]
    survive(text)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=2000))
def test_any_text(text: str) -> None:
    """Arbitrary text gives a result or one message."""
    survive(text)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(alphabet="vs_ab01[]:,()|.\"';/*#\t@-=<>", max_size=40), max_size=30))
def test_lines_that_look_like_assembly(lines: list[str]) -> None:
    """Lines of an assembler's characters behind a true instruction."""
    survive('\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\nk:\n\ts_endpgm\n' + "\n".join(lines))


@pytest.mark.parametrize(
    "text",
    [
        "k:\n\ts_endpgm\n" + "/*" * 200_000,
        "k:\n\ts_endpgm\n; Kernel info:\n; NumVgprs: \u2460\u2461\n\t.p2align \u2460\n\t.set a, \u2460\n",
        "k:\n\ts_endpgm\n\t.amdgpu_metadata\n" + "- " * 100_000,
        "k:\n\ts_endpgm\n\t.amdgpu_metadata\n" + "\n".join(" " * n + "a:" for n in range(2000)),
        "k:\n\ts_endpgm\n\t.set a, " + "(" * 100_000,
        "k:\n" + "\ts_cbranch_scc0 k\n" * 20_000,
        "k:\n" + "".join(f".L{n}:\n\ts_cbranch_scc0 .L{n}\n" for n in range(5000)),
        "k:\n\tv_add_f32 " + "[" * 100_000,
        "k:\n\tv_add_f32 " + "abs(" * 50_000,
        'k:\n\t.file 1 "' + "\\" * 100_001,
        "k:\n\t.loc 1 2 3 ; " + "a:1:2 @[ " * 50_000 + "\n\ts_endpgm\n",
        "\t.amdgcn_target " * 20_000,
        ".macro a\n" * 20_000 + "\ts_endpgm\n",
        '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx' + "9" * 5000 + '"\nk:\n\ts_endpgm\n',
    ],
)
def test_hostile_input_takes_no_time(text: str) -> None:
    """Deep, long or endless constructs neither hang nor overflow."""
    survive(text)
