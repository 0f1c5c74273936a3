"""Paths as compilers spell them, and what names the same file."""

import os
import subprocess
import unicodedata
from pathlib import Path

import pytest

from kprof.inputs.amdgcn.scan import FileTable
from kprof.inputs.llvm_ir import positions
from kprof.inputs.mlir.locations import Locations
from kprof.inputs.source_path import below, from_assembly, from_mlir, in_moved, joined, normalised, same, spelled

FOLDER = '/home/acé/用户 "x"/b\\1'
OCTAL = r"/home/ac\303\251/\347\224\250\346\210\267 \"x\"/b\\1"
HEXADECIMAL = r"/home/ac\C3\A9/\E7\94\A8\E6\88\B7 \22x\22/b\\1"


def test_one_file_in_assembly_and_mlir_has_one_path() -> None:
    """The path is that of Python, whichever way the compiler escapes its bytes."""
    files = FileTable()
    files.add(f'.file 1 "{OCTAL}" "k\\303\\251.py"')
    frames = Locations({}).frames(f'"{HEXADECIMAL}/k\\C3\\A9.py":3:1')
    listing = [
        "  ret void, !dbg !2",
        f'!1 = !DIFile(filename: "k\\C3\\A9.py", directory: "{HEXADECIMAL}")',
        "!2 = !DILocation(line: 3, column: 1, scope: !3)",
        "!3 = distinct !DISubprogram(file: !1, line: 2)",
    ]
    assert files.path(1) == frames[0].file == positions(listing)[0][0].file == f"{FOLDER}/ké.py"


@pytest.mark.parametrize(
    ("text", "path"),
    [(r"C:\\abc\\de.py", r"C:\abc\de.py"), (r"a\\C3", r"a\C3"), (r"a\FFb", "a\N{REPLACEMENT CHARACTER}b")],
)
def test_a_backslash_before_hexadecimal_digits(text: str, path: str) -> None:
    """An escaped backslash stays one, whatever letters follow it; what is no UTF-8 is replaced."""
    assert from_mlir(text) == path


def test_letters_and_broken_bytes_in_octal() -> None:
    """Letters are escapes as in C; a byte that is no UTF-8 is replaced, so that the path can be written out."""
    assert from_assembly(r"a\tb\351.py") == "a\tb\N{REPLACEMENT CHARACTER}.py"


@pytest.mark.parametrize("path", ["./sub/k.py", "sub//k.py", "sub/./k.py", "././sub/k.py"])
def test_dots_and_double_slashes_go(path: str) -> None:
    """A compile of ``./sub/k.py`` has the folder ``./sub`` in assembly and the whole path in MLIR."""
    assert normalised(path) == joined(*os.path.split(path)) == "sub/k.py"


def test_two_dots_stay() -> None:
    """What stands before ``..`` may be a link."""
    assert normalised("/a/./b/../c") == "/a/b/../c"
    assert normalised("/.hidden/..x") == "/.hidden/..x"


def test_a_relative_folder_of_file_zero_is_not_doubled() -> None:
    """DWARF 5 gives the folder of the compile as file 0's and again as the first file's."""
    files = FileTable()
    files.add('.file 0 "sub" "k.py"')
    files.add('.file 1 "sub" "k.py"')
    files.add('.file 2 "include" "b.h"')
    assert (files.path(1), files.path(2)) == ("sub/k.py", "sub/include/b.h")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/a/é.py", unicodedata.normalize("NFD", "/a/é.py")),
        ("/a/b/../k.py", "/a/k.py"),
        ("C:\\Users\\x\\K.py", "c:/users/x/k.py"),
        ("k.py", str(Path.cwd() / "k.py")),
    ],
)
def test_two_spellings_of_one_file(one: str, other: str) -> None:
    """Accents in one or two characters, dots, separators of Windows, paths from the current folder."""
    assert same(one, other)
    assert not same(one, f"{other}x")


def test_links(tmp_path: Path) -> None:
    """A file is below a folder, and the same, through a link as well."""
    real = tmp_path / "real é"
    real.mkdir()
    (real / "k.py").touch()
    link = tmp_path / "link"
    link.symlink_to(real)
    assert same(str(link / "k.py"), str(real / "k.py"))
    assert below(str(real / "k.py"), str(link)) == "k.py"
    assert below(str(link / "k.py"), str(link)) == "k.py"
    assert below(str(tmp_path / "real é2" / "k.py"), str(link)) is None


def test_positions_of_a_moved_folder() -> None:
    """A folder is found in each of the spellings that a compiler's text has of it."""
    now = "/neu/ü"
    assert in_moved(f'.file 1 "{OCTAL}" "k.py"', FOLDER, now) == '.file 1 "/neu/\\303\\274" "k.py"'
    assert in_moved(f'loc("{HEXADECIMAL}/k.py":1:2)', FOLDER, now) == 'loc("/neu/\\C3\\BC/k.py":1:2)'
    assert in_moved('"/home/me2/k.py"', "/home/me", now) == '"/home/me2/k.py"'


def test_escapes_are_those_of_the_assembler(tmp_path: Path) -> None:
    """The assembler of the machine reads the octal escapes to the same bytes."""
    source, made = tmp_path / "a.s", tmp_path / "a.o"
    source.write_text(f'.file "{OCTAL}"\n')
    try:
        subprocess.run(["as", source, "-o", made], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no assembler, as")
    assert FOLDER.encode() in made.read_bytes()


@pytest.mark.parametrize(
    ("folder", "name", "path"),
    [
        ("", "k.py", "k.py"),
        ("/a", "/b/k.py", "/b/k.py"),
        ("/a", "C:\\b\\k.py", "C:\\b\\k.py"),
        ("/a", "\\\\host\\k.py", "\\\\host\\k.py"),
        ("/a", "k.py", "/a/k.py"),
        ("/a/", "k.py", "/a/k.py"),
        ("C:\\a\\", "k.py", "C:\\a\\k.py"),
        ("C:\\a", "k.py", "C:\\a/k.py"),
    ],
)
def test_a_folder_and_a_name(folder: str, name: str, path: str) -> None:
    """A whole path needs no folder, and a separator is not written twice."""
    assert joined(folder, name) == path


def test_one_spelling_to_compare_by() -> None:
    """Windows paths lose case and backslashes; those of other systems keep both."""
    assert spelled("C:\\A\\..\\B.py") == "c:/b.py"
    assert spelled("\\\\Host\\Share\\K.py") == "//host/share/k.py"
    assert spelled("/A\\b/../K.py") == "/K.py"
    assert spelled("") == ""


def test_a_folder_is_not_below_itself(tmp_path: Path) -> None:
    """With and without a separator at its end; the root has everything below it."""
    assert below("/a/b", "/a/b") is None
    assert below("/a/b/", "/a/b/") is None
    assert below("/a/b/c", "/a/b/") == "c"
    assert below("/a/b/c", "/a/b") == "c"
    assert below("/a", "/") == "a"
    assert below(str(tmp_path), str(tmp_path)) is None


@pytest.mark.parametrize(
    ("byte", "octal", "hexadecimal"),
    [
        ("\x1f", "\\037", "\\1F"),
        (" ", " ", " "),
        ("~", "~", "~"),
        ("\x7f", "\\177", "\\7F"),
        ("\x01", "\\001", "\\01"),
        ("\t", "\\t", "\\09"),
        ('"', '\\"', "\\22"),
        ("\\", "\\\\", "\\\\"),
    ],
)
def test_how_a_compiler_spells_a_byte(byte: str, octal: str, hexadecimal: str) -> None:
    """What is printable stands as it is; the rest has three octal or two hexadecimal digits."""
    text = f'.file "/a{octal}/k" loc("/a{hexadecimal}/k.py")'
    assert in_moved(text, f"/a{byte}", "/b") == '.file "/b/k" loc("/b/k.py")'
    moved = in_moved('.file "/é\\303\\251/k"', "/x", f"/a{byte}")
    assert moved == '.file "/é\\303\\251/k"'
    assert in_moved('.file "/o\\303\\251/k"', "/oé", f"/a{byte}") == f'.file "/a{octal}/k"'
    assert in_moved('loc("/o\\C3\\A9/k")', "/oé", f"/a{byte}") == f'loc("/a{hexadecimal}/k")'


def test_bytes_that_came_in_broken_are_kept() -> None:
    """A text read with surrogates for bytes that are no UTF-8 decodes to one replacement character for each."""
    broken = b"a\\\\\xff".decode("utf-8", "surrogateescape")
    assert from_assembly(broken) == from_mlir(broken) == "a\\\N{REPLACEMENT CHARACTER}"
