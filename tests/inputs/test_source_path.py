"""Both readers of a compiler's output spell a source path alike, whatever letters are in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.amdgcn.scan import FileTable
from kprof.inputs.mlir.text import value
from kprof.inputs.source_path import from_assembly, from_mlir, normalised

NAMES = st.text(st.characters(exclude_characters="\0\n\r", exclude_categories=["Cs"]), min_size=1, max_size=20)


def llvm(text: str) -> str:
    """As LLVM's assembly printer writes a string: printable ASCII as it is, all other bytes as octal numbers."""
    special = {0x22: '\\"', 0x5C: "\\\\", 0x08: "\\b", 0x0C: "\\f", 0x09: "\\t"}
    return "".join(special.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in text.encode())


def mlir(text: str) -> str:
    """As MLIR prints a string attribute: a backslash twice, all other bytes that are not printable as hexadecimal."""
    plain = (byte for byte in text.encode())
    return "".join(
        "\\\\" if byte == 0x5C else chr(byte) if 32 <= byte < 127 and byte != 0x22 else f"\\{byte:02X}"
        for byte in plain
    )


@given(NAMES.filter(lambda name: not set(name) & set("\b\f\t")))
def test_a_path_is_the_same_from_assembly_and_from_mlir(name):
    """Accents, Chinese letters, quotes, backslashes and digits that follow an escaped byte."""
    assert from_assembly(llvm(name)) == name == from_mlir(mlir(name))
    assert value(f'"{mlir(name)}"') == name


@pytest.mark.parametrize(
    ("assembly", "module"),
    [("/a/\\347\\224\\250/k.py", "/a/\\E7\\94\\A8/k.py"), ("/a/\\377/k.py", "/a/\\FF/k.py"), ("a\\\\0b", "a\\\\0b")],
)
def test_known_spellings(assembly, module):
    """A Chinese letter, a byte that is no UTF-8, and a backslash in front of digits."""
    assert from_assembly(assembly) == from_mlir(module)


def test_the_file_table_decodes_utf8():
    """The directive that Triton 3.9 writes for a folder with an accent and Chinese letters."""
    table = FileTable()
    table.add('.file\t1 "/home/ac\\303\\251 \\347\\224\\250\\346\\210\\267" "\\346\\240\\270.py"')
    assert table.path(1) == "/home/acé 用户/核.py"
    assert table.resolve("核.py") == "/home/acé 用户/核.py"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/a//b/./k.py", "/a/b/k.py"), ("./k.py", "k.py"), ("/a/../k.py", "/a/../k.py"), ("/a/.b/k.py", "/a/.b/k.py"),
     ("//a/k.py", "/a/k.py"), ("/a/././/k.py", "/a/k.py")],
)  # fmt: skip
def test_repeated_separators_are_one_spelling(path, expected):
    """Hidden folders and parents stay."""
    assert normalised(path) == expected
