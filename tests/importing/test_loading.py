"""One way to import a user's file: by content, without traces, interpreted only where that is asked for."""

import hashlib
import sys

import pytest

from kprof.errors import KprofError
from kprof.importing.loading import dependencies_of, left_out, load_module, loaded_modules


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


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([7], "line 7"),
        ([7, 9], "lines 7, 9"),
        ([1, 2, 3, 4, 5], "lines 1, 2, 3, 4, 5"),
        ([1, 2, 3, 4, 5, 8], "lines 1, 2, 3, 4, 5 and 1 more"),
        (list(range(1, 10)), "lines 1, 2, 3, 4, 5 and 4 more"),
    ],
)
def test_what_was_not_run_is_told_by_its_first_five_lines(write, monkeypatch, lines, words):
    """Of the module that is asked for, and of no other."""
    from kprof.importing import loading

    def execute(_loader, _module, _file, missing):
        missing.lines, missing.reason = lines, "no GPU is there"

    whole = load_module(write("whole.py", "A = 1\n"))
    monkeypatch.setattr(loading, "execute", execute)
    module = load_module(write("user.py", "A = 1\n"))
    said = f"no GPU is there: statements at {words} were not run when the file was imported"
    assert (left_out(module), left_out(whole), left_out(sys)) == (said, None, None)


def test_what_may_change_without_the_file_is_imported_again(write, monkeypatch):
    """A file that asked which GPU there is, for another GPU; one that is not known wholly, in another environment."""
    from kprof.importing import loading
    from kprof.importing.without_gpu import simulating

    real = loading.execute

    def asking(loader, module, file, missing):
        real(loader, module, file, missing)
        missing.asked = True

    path = write("asking.py", "A = 1\n")
    monkeypatch.setattr(loading, "execute", asking)
    module = load_module(path)
    assert not dependencies_of(module).complete
    assert load_module(path) is module
    with simulating("gfx1201"):
        other = load_module(path)
        assert other is not module
        assert load_module(path) is other
    monkeypatch.setattr(loading, "execute", real)
    known = load_module(write("known.py", "A = 1\n"))
    assert dependencies_of(known).complete
    with simulating("gfx1201"):
        assert load_module(write("known.py", "A = 1\n")) is known
    monkeypatch.setenv("KPROF_TEST_OTHER", "1")
    assert load_module(write("known.py", "A = 1\n")) is known
    dependencies_of(known).complete = False
    assert load_module(write("known.py", "A = 1\n")) is not known


def test_the_name_of_a_module_comes_from_its_path(write, monkeypatch):
    """Two files of one name are two modules, and one that is interpreted is a third."""
    path = write("user.py", "A = 1\n")
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    assert load_module(path).__name__ == f"_kprof_user_user_{digest}"
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    module = load_module(path, interpret=True)
    assert module.__name__ == f"_kprof_user_interpreted_user_{digest}"
    assert module in loaded_modules()
    assert dependencies_of(module).files.keys() >= {str(path)}
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    assert load_module(path, interpret=True) is load_module(path)


def test_the_folder_comes_first_while_a_file_is_imported_and_no_byte_code_is_written(write, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "path", ["/nowhere", *sys.path])
    path = write("user.py", "import sys\nfirst, quiet = sys.path[0], sys.dont_write_bytecode\n")
    module = load_module(path)
    assert module.first == str(path.parent)
    assert module.quiet
    assert sys.path[0] == "/nowhere"
    assert not sys.dont_write_bytecode


def test_only_what_lies_beside_the_file_is_forgotten(write, tmp_path, monkeypatch):
    """Not what is installed in an environment below the folder, nor what comes from elsewhere."""
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    for folder, name in (("else", "kprof_elsewhere"), ("env", "kprof_installed")):
        (tmp_path / folder / "site-packages").mkdir(parents=True)
        write(f"{folder}/site-packages/{name}.py", "")
        monkeypatch.syspath_prepend(tmp_path / folder / "site-packages")
    (tmp_path / "own").mkdir()
    write("own/kprof_beside.py", "")
    (tmp_path / "own" / "dist-packages").mkdir()
    write("own/dist-packages/kprof_below.py", "")
    monkeypatch.syspath_prepend(tmp_path / "own" / "dist-packages")
    names = ("kprof_elsewhere", "kprof_installed", "kprof_beside", "kprof_below")
    load_module(write("own/user.py", "".join(f"import {name}\n" for name in names)))
    assert [name in sys.modules for name in names] == [True, True, False, True]


def test_the_hint_names_the_innermost_line(write):
    sibling = write("kprof_test_deep.py", "def f():\n    raise ValueError('deep')\n\n\nf()\n")
    path = write("user.py", "import kprof_test_deep\n")
    with pytest.raises(KprofError) as caught:
        load_module(path)
    assert (caught.value.place, caught.value.hint) == ("line 1", f"raised in {sibling}, line 2")


def test_a_file_that_cannot_be_opened_is_named_with_the_reason(write, tmp_path):
    """A name that is too long, a folder, a name that is nearly right; the module of before stays where it was."""
    write("kernel.py", "")
    cases = [
        (tmp_path / ("x" * 300 + ".py"), "cannot be read: File name too long", None),
        (tmp_path, "is a directory, not a Python file", "give a Python file, as file.py or file.py::function"),
        (tmp_path / "kernal.py", "no such file; did you mean 'kernel.py'?", None),
        (tmp_path / "none" / "kernel.py", "no such file", None),
    ]
    for path, message, hint in cases:
        with pytest.raises(KprofError) as caught:
            load_module(path)
        assert (caught.value.message, caught.value.hint, caught.value.path) == (message, hint, str(path))


def test_a_module_that_is_imported_again_in_vain_stays_as_it_was(write):
    path = write("user.py", "A = 1\n")
    module = load_module(path)
    path.write_text("A = 2\nraise ValueError\n")
    with pytest.raises(KprofError):
        load_module(path)
    assert sys.modules[module.__name__] is module
    path.write_text("from kprof.errors import KprofError\nraise KprofError('its own words')\n")
    with pytest.raises(KprofError) as caught:
        load_module(path)
    assert caught.value.message == "its own words"
