"""Positions of LLVM IR: through scopes and inlining, and whatever the text is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.llvm_ir import positions, without_positions

MODULE = r"""
define amdgpu_kernel void @k(ptr %0) !dbg !6 {
  %1 = fadd float %a, %a, !dbg !9
  %2 = fmul float %1, %1, !dbg !12
  ret void, !dbg !13
  unreachable
}
!5 = !DIFile(filename: "k.py", directory: "/home/a\22b")
!6 = distinct !DISubprogram(name: "k", linkageName: "k", scope: !5, file: !5, line: 3, type: !8, unit: !4)
!7 = distinct !DILexicalBlockFile(scope: !6, file: !11, discriminator: 0)
!9 = !DILocation(line: 8, column: 12, scope: !7, inlinedAt: !10)
!10 = distinct !DILocation(line: 14, column: 5, scope: !6)
!11 = !DIFile(filename: "/x/site-packages/triton/language/standard.py", directory: "/y")
!12 = !DILocation(line: 9, scope: !6, inlinedAt: !12)
!13 = !DILocation(line: 10, column: 1, scope: !99)
"""


def test_frames_follow_inlining_and_scopes():
    lines = MODULE.split("\n")
    found = dict(zip(lines, positions(lines), strict=True))
    first = next(frames for line, frames in found.items() if "fadd" in line)
    assert [(frame.file, frame.line, frame.column, frame.in_library) for frame in first] == [
        ("/x/site-packages/triton/language/standard.py", 8, 12, True),
        ('/home/a"b/k.py', 14, 5, False),
    ]
    # A position that is inlined into itself ends; one whose scope is not there is none.
    second = next(frames for line, frames in found.items() if "fmul" in line)
    assert {(frame.line, frame.column) for frame in second} == {(9, 0)}
    assert all(not frames for line, frames in found.items() if "ret " in line or line.startswith(("!", "define")))


def test_a_line_without_its_position():
    assert without_positions("  %1 = fadd float %a, %a, !dbg !9") == "  %1 = fadd float %a, %a"
    assert without_positions("  ret void") == "  ret void"


NODES = st.sampled_from([line for line in MODULE.split("\n") if line])


@given(st.lists(st.one_of(st.text(max_size=60), NODES, NODES.map(lambda line: line[: len(line) // 2]))))
def test_any_text_is_read(lines):
    """One entry a line, whatever is missing or damaged."""
    found = positions(lines)
    assert len(found) == len(lines)
    for line, frames in zip(lines, found, strict=True):
        assert not frames or "!dbg" in line


@pytest.mark.triton
def test_the_positions_are_those_of_the_assembly():
    """Every line of the user's that instructions come from is one that the LLVM IR names."""
    import kprof

    found = kprof.analyze("softmax", arch="gfx942").programs[0]
    assert found is not None
    lines = str(found.loaded.stages["llir"]).split("\n")
    named = {(frame.file, frame.line) for frames in positions(lines) for frame in frames}
    used = {(f.file, f.line) for i in found.loaded.program.instructions for f in i.location if f.line}
    assert len(used) > 5
    assert used <= named
