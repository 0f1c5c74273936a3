"""``.file`` and ``.loc``: inline chains, directories, the user's line."""

import pytest

from kprof.inputs import amdgcn
from kprof.inputs.amdgcn import AssemblyFrame
from kprof.inputs.amdgcn.scan import FileTable, LocDirective, is_library

LIBRARY = "/usr/lib/python3/site-packages/triton/language"


def table(*directives: str) -> FileTable:
    """A table with these ``.file`` directives."""
    files = FileTable()
    for directive in directives:
        files.add(directive)
    return files


FILES = table('.file 1 "/home/me" "k.py"', f'.file 2 "{LIBRARY}" "standard.py"', '.file 3 "/abs/other.py"')


def test_the_whole_inline_chain() -> None:
    """Every frame with its directory, innermost first."""
    frames = LocDirective(
        ".loc\t2 43 13 is_stmt 1 ; standard.py:43:13 @[ standard.py:291:36 @[ k.py:13:22 ] ]", FILES
    ).frames
    assert frames == (
        AssemblyFrame(f"{LIBRARY}/standard.py", 43, 13, in_library=True),
        AssemblyFrame(f"{LIBRARY}/standard.py", 291, 36, in_library=True),
        AssemblyFrame("/home/me/k.py", 13, 22),
    )


def test_escapes_in_names() -> None:
    """Octal escapes and quoted characters; digits that are not octal stand for themselves."""
    files = table(r'.file 1 "/home/m\303\244x" "a\"b\9.py"')
    assert LocDirective(".loc 1 2 3", files).frames[0].file == '/home/mäx/a"b9.py'


def test_without_a_comment_the_directive_counts() -> None:
    """Assembly without verbose comments has only .loc."""
    assert LocDirective(".loc 3 7 2", FILES).frames == (AssemblyFrame("/abs/other.py", 7, 2),)
    assert LocDirective(".loc 9 7", FILES).frames == (AssemblyFrame("file 9", 7, 0),)


def test_relative_paths_start_at_file_zero() -> None:
    """DWARF 5 names the compilation directory in file 0."""
    files = table('.file 0 "/home/me/project" "a.hip" md5 0x00', '.file 1 "include" "b.h" md5 0x11')
    assert LocDirective(".loc 1 3 4", files).frames[0].file == "/home/me/project/include/b.h"


def test_a_name_in_two_directories_means_the_users() -> None:
    """Two files of one name: the one outside the library is taken for a call site."""
    files = table(f'.file 1 "{LIBRARY}" "core.py"', '.file 2 "/home/me" "core.py"')
    frames = LocDirective(".loc 1 5 6 ; core.py:5:6 @[ core.py:70:8 ]", files).frames
    assert [frame.file for frame in frames] == [f"{LIBRARY}/core.py", "/home/me/core.py"]


@pytest.mark.parametrize(
    ("path", "library"),
    [
        (f"{LIBRARY}/core.py", True),
        ("/src/triton/python/triton/language/math.py", True),
        ("/opt/rocm/include/hip/amd_detail/amd_device_functions.h", True),
        ("/usr/lib/clang/19/include/__clang_hip_math.h", True),
        ("/home/me/triton/kernels/softmax.py", False),
        ("/home/me/triton_kernels/matmul.py", False),
        ("k.py", False),
    ],
)
def test_what_is_library(path: str, library: bool) -> None:
    """Triton's own files and HIP's headers, but not a user's folder called triton."""
    assert is_library(path) is library


def test_users_frame_of_an_instruction() -> None:
    """Line 0 is no line; the user's frame is the first outside the library."""
    text = (
        '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n\t.amdhsa_kernel k\n\t.end_amdhsa_kernel\nk:\n'
        f'\t.file 1 "/home/me" "k.py"\n\t.file 2 "{LIBRARY}" "standard.py"\n'
        "\ts_nop 0\n"
        "\t.loc 2 0 13 ; standard.py:0:13 @[ k.py:13:22 ]\n\ts_nop 1\n"
        "\t.loc 2 43 1 ; standard.py:43:1 @[ k.py:14:2 ]\n\ts_nop 2\n"
        "\t.loc 1 0 0 ; k.py:0:0\n\ts_endpgm\n"
    )
    first, second, third, last = amdgcn.parse(text).kernel("k").instructions
    assert first.location == ()
    assert second.user_frame == AssemblyFrame("/home/me/k.py", 13, 22)
    assert third.user_frame == AssemblyFrame("/home/me/k.py", 14, 2)
    assert [frame.line for frame in third.location if frame.in_library] == [43]
    assert last.user_frame is None
