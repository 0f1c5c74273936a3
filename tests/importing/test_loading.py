"""One way to import a user's file: by content, without traces, interpreted only where that is asked for."""

import sys

import pytest

from kprof.errors import KprofError
from kprof.importing.loading import dependencies_of, load_module


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("import math\n\nraise ValueError('no\\nmore')\n", "raises ValueError when it is imported: no", "line 3"),
        ("def f(:\n", "is not valid Python: invalid syntax", "line 1"),
        (
            "import nosuchmodule\n",
            "raises ModuleNotFoundError when it is imported: No module named 'nosuchmodule'",
            "line 1",
        ),
        ("import sys\nsys.exit(3)\n", "calls sys.exit(3) when it is imported", None),
        (
            "a = b'\\0'\nx = [][1]\n",
            "raises IndexError when it is imported: list index out of range",
            "line 2",
        ),
        ("raise ValueError\n", "raises ValueError when it is imported: no message", "line 1"),
        ("def f():\n    raise KeyError('k')\n\nf()\n", "raises KeyError when it is imported: 'k'", "line 2"),
    ],
)
def test_file_that_cannot_be_imported(write, text, message, place):
    """The line that raises is named; nothing of the module stays."""
    path = write("user.py", text)
    before = set(sys.modules)
    with pytest.raises(KprofError) as caught:
        load_module(path)
    assert caught.value.message == message
    assert caught.value.place == place
    assert caught.value.hint is None
    assert caught.value.path == str(path)
    left = {name for name in set(sys.modules) - before if name.startswith("_kprof_user_")}
    assert not left


def test_missing_file_and_directory(tmp_path):
    """A path that is no file is told as such."""
    with pytest.raises(KprofError, match="no such file"):
        load_module(tmp_path / "none.py")
    with pytest.raises(KprofError, match="is a directory"):
        load_module(tmp_path)


def test_siblings_can_be_imported_and_leave_no_trace(write, tmp_path):
    """As when the file is run; the search path and the folder stay as they were."""
    write("kprof_test_sibling.py", "SIZE = 3\n")
    path = write("user.py", "from kprof_test_sibling import SIZE\n")
    before = list(sys.path)
    assert load_module(path).SIZE == 3
    assert sys.path == before
    assert "kprof_test_sibling" not in sys.modules
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kprof_test_sibling.py", "user.py"]


def test_changed_file_is_loaded_again(write):
    """The content, not the path, tells modules apart."""
    path = write("user.py", "A = 1\n")
    assert load_module(path) is load_module(path)
    path.write_text("A = 2\n")
    assert load_module(path).A == 2


def test_helpers_of_the_same_name_in_two_folders(tmp_path):
    """Each file gets the helper next to it, and a changed helper is read again."""
    for folder, size in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "kprof_same.py").write_text(f"SIZE = {size}\n")
        (tmp_path / folder / "user.py").write_text("import kprof_same\nSIZE = kprof_same.SIZE\n")
    sizes = [load_module(tmp_path / folder / "user.py").SIZE for folder in "aba"]
    assert sizes == [1, 2, 1]
    assert "kprof_same" not in sys.modules
    (tmp_path / "a" / "kprof_same.py").write_text("SIZE = 3\n")
    assert load_module(tmp_path / "a" / "user.py").SIZE == 3


def test_file_inside_a_package(write, tmp_path, monkeypatch):
    """Relative imports work, when a function runs too; a changed neighbour is read again."""
    write("kprof_test_pack/__init__.py", "")
    write("kprof_test_pack/sizes.py", "SIZE = 1\n")
    text = "from .sizes import SIZE\n\ndef later():\n    from .sizes import SIZE\n    return SIZE\n"
    path = write("kprof_test_pack/user.py", text)
    # What the import leaves in sys.modules is put back when the test ends.
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    module = load_module(path)
    assert (module.SIZE, module.later()) == (1, 1)
    assert {p.rpartition("/")[2] for p in dependencies_of(module).files} >= {"user.py", "sizes.py"}
    (tmp_path / "kprof_test_pack" / "sizes.py").write_text("SIZE = 22\n")
    again = load_module(path)
    assert (again.SIZE, again.later()) == (22, 22)


def test_interpreter_only_where_it_is_asked_for(write, monkeypatch):
    """Off while a file is imported for the compiler; the two modules are kept apart, and one serves both without it."""
    path = write("user.py", "import os\nON = os.environ.get('TRITON_INTERPRET')\n")
    assert load_module(path) is load_module(path, interpret=True)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert (load_module(path).ON, load_module(path, interpret=True).ON) == (None, "1")
    assert load_module(path).__name__ != load_module(path, interpret=True).__name__


@pytest.mark.triton
def test_both_doors_share_the_module(write):
    """The library of kernels and the compiler see the same function."""
    from kprof.importing.functions import load_function
    from kprof.targets import library as kernel_library

    path = write("user.py", "import triton\n\n@triton.jit\ndef f(x):\n    pass\n")
    assert kernel_library.load(f"{path}::f").entry is load_function(path, "f").jit


def test_what_fails_in_a_sibling_is_placed_in_both(write):
    """The line of the file that was given, and in the hint where it was raised."""
    sibling = write("kprof_test_broken.py", "A = 1\nB = A // 0\n")
    path = write("user.py", "X = 1\nimport kprof_test_broken\n")
    with pytest.raises(KprofError) as caught:
        load_module(path)
    assert caught.value.place == "line 2"
    assert caught.value.hint == f"raised in {sibling}, line 2"
    sibling.write_text("A = (\n")
    with pytest.raises(KprofError) as caught:
        load_module(path)
    assert caught.value.message == "is not valid Python: '(' was never closed"
    assert caught.value.place == f"{sibling}:1"


@pytest.mark.parametrize(
    ("package", "message", "hint"),
    [
        ("triton", "Triton is not installed", "pip install triton, or your ROCm build of it"),
        (
            "torch",
            "imports torch, which is not installed",
            "pip install torch; its build without CUDA or ROCm is enough",
        ),
    ],
)
def test_a_package_that_is_not_there_is_named_with_how_to_get_it(write, monkeypatch, package, message, hint):
    """Only where it is missing as a whole: a part that it does not have is an error of the file."""
    from kprof.importing import loading

    path = write("user.py", f"raise ModuleNotFoundError('no', name='{package}.part')\n")
    monkeypatch.setattr(loading, "find_spec", lambda _: "it is there")
    with pytest.raises(KprofError, match="raises ModuleNotFoundError when it is imported: no"):
        load_module(path)
    monkeypatch.setattr(loading, "find_spec", lambda _: None)
    with pytest.raises(KprofError) as caught:
        load_module(path)
    assert (caught.value.message, caught.value.hint) == (message, hint)
    with pytest.raises(KprofError, match="raises ModuleNotFoundError"):
        load_module(write("other.py", "raise ModuleNotFoundError('no', name='nosuchmodule')\n"))


def test_a_file_deep_in_a_package_has_its_whole_name(write, tmp_path):
    """So that its relative imports work: from the uppermost folder that is a package on."""
    write("kprof_outer/__init__.py", "")
    (tmp_path / "kprof_outer" / "inner").mkdir()
    write("kprof_outer/inner/__init__.py", "")
    write("kprof_outer/sizes.py", "SIZE = 7\n")
    module = load_module(write("kprof_outer/inner/user.py", "from ..sizes import SIZE\n"))
    assert (module.__name__, module.SIZE) == ("kprof_outer.inner.user", 7)
