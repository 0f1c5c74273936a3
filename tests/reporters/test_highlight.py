"""Coloured pieces of code: all of the text, in its lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.reporters.html.highlight import pieces

LANGUAGES = ("python", "mlir", "llvm", "amdgpu")


@pytest.mark.parametrize("language", LANGUAGES)
@given(
    lines=st.lists(
        st.text(st.characters(exclude_characters="\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), max_size=40), max_size=8
    )
)
def test_nothing_is_lost(language, lines):
    """The pieces of each line are the line."""
    assert ["".join(text for _, text in line) for line in pieces(lines, language)] == lines


@pytest.mark.parametrize("language", LANGUAGES)
def test_other_line_ends_stay_in_their_line(language):
    """A line is a line for the compiler's numbers; what others take for an end is a blank."""
    found = pieces(["a\rb", "c\x0cd", "e\u2028f"], language)
    assert ["".join(text for _, text in line) for line in found] == ["a b", "c d", "e f"]


@pytest.mark.parametrize(
    ("language", "line", "wanted"),
    [
        ("python", "def f(x):", ("k", "def")),
        ("mlir", '%0 = tt.load %p {a = "x"} : tensor<4xf32>', ("k", "tt.load")),
        ("mlir", '%0 = tt.load %p {a = "x"} : tensor<4xf32>', ("s2", '"x"')),
        ("mlir", "%0 = tt.load %p : tensor<4xf32>", ("nv", "%0")),
        ("llvm", "  %1 = fadd float %a, %a", ("kt", "float")),
        ("amdgpu", "    v_add_f32_e32 v1, v2, v3", ("k", "v_add_f32_e32")),
    ],
)
def test_words_have_their_class(language, line, wanted):
    assert wanted in pieces([line], language)[0]


def test_endless_lines_are_cut():
    assert len(pieces(["x" * 10_000], "python")[0][0][1]) == 2000
