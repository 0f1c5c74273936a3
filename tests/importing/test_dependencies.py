"""Which files decide a module."""

import math
import sys
from types import ModuleType

import pytest

from kprof.importing import dependencies as module_of
from kprof.importing.dependencies import GONE, is_own, stale, stamps, unchanged
from kprof.importing.loading import dependencies_of, load_module


def test_files_of_helpers_are_followed(write):
    """Through imports of imports; the standard library is left out."""
    write("kprof_dep_c.py", "LAST = 5\n")
    write("kprof_dep_b.py", "import os.path, math\nfrom kprof_dep_c import LAST\n")
    found = dependencies_of(load_module(write("user.py", "import kprof_dep_b\nFIRST = 2.5\n")))
    assert {p.rpartition("/")[2] for p in found.files} == {"user.py", "kprof_dep_b.py", "kprof_dep_c.py"}
    assert found.complete
    assert any(text.endswith(".FIRST=2.5") for text in found.values)
    assert "kprof_dep_c.LAST=5" in found.values


@pytest.mark.parametrize(
    "text",
    [
        "import os\nSIZE = int(os.environ.get('S', '1'))\n",
        "from pathlib import Path\nSIZE = len(Path(__file__).read_text())\n",
        "import importlib\nm = importlib.import_module('math')\n",
        "try:\n    import kprof_no_such_module\nexcept ImportError:\n    pass\n",
    ],
)
def test_module_that_reads_more_than_its_files_is_not_trusted(write, text):
    """With the same files it may define something else the next time."""
    assert not dependencies_of(load_module(write("user.py", text))).complete


def test_import_inside_a_function_is_no_dependency(write):
    """Torch is imported where a kernel runs, not where it is compiled."""
    found = dependencies_of(load_module(write("user.py", "def run():\n    import kprof_no_such_module\n")))
    assert found.complete


def test_change_is_seen(write):
    """By content for the cache, by stamp for a running worker."""
    path = write("user.py", "A = 1\n")
    found = dependencies_of(load_module(path))
    known = stamps(found.files)
    assert unchanged(found.files)
    assert not stale(known)
    path.write_text("A = 22\n")
    assert not unchanged(found.files)
    assert stale(known)
    path.unlink()
    assert not unchanged(found.files)
    assert stale(known)


@pytest.mark.parametrize(
    ("name", "file", "own"),
    [
        ("mine", "/home/me/mine.py", True),
        ("mine", "/opt/env/lib/python3.11/site-packages/mine/__init__.py", True),
        ("mine", "/home/me/mine.so", False),
        ("mine", None, False),
        ("triton.language", "/home/me/triton/language/__init__.py", False),
        ("torch", "/home/me/torch/__init__.py", False),
        ("numpy.linalg", "/home/me/numpy/linalg.py", False),
        ("kprof.errors", "/home/me/kprof/errors.py", False),
        ("tritonish", "/home/me/tritonish.py", True),
        ("math", "/home/me/math.py", False),
        ("json", "/home/me/json.py", False),
    ],
)
def test_the_users_own_modules(name, file, own):
    """Not the standard library's, not those of the big packages, and none that is no Python file."""
    module = ModuleType(name)
    module.__file__ = file
    assert is_own(module) is own
    assert not is_own(math)


def test_packages_installed_inside_the_standard_library_are_the_users(monkeypatch):
    """``lib/python3.11`` holds ``site-packages``: what is in there is not Python's own."""
    monkeypatch.setattr(module_of, "_standard_library", lambda: ("/opt/lib/python3",))
    for file, own in (("/opt/lib/python3/part.py", False), ("/opt/lib/python3/site-packages/part.py", True)):
        part = ModuleType("part_of_nothing")
        part.__file__ = file
        assert is_own(part) is own


def test_from_a_package_its_modules_and_from_a_relative_import_its_neighbours(write):
    write("kprof_dep_pack/__init__.py", "")
    write("kprof_dep_pack/one.py", "from . import two\nfrom .three import THREE\nA = 1\n")
    write("kprof_dep_pack/two.py", "TWO = 2\n")
    write("kprof_dep_pack/three.py", "THREE = 3\n")
    path = write(
        "user.py", "if True:\n    from kprof_dep_pack import one\ntry:\n    import math\nfinally:\n    X = 1\n"
    )
    found = dependencies_of(load_module(path))
    names = {"/".join(p.split("/")[-2:]) for p in found.files} - {"/".join(str(path).split("/")[-2:])}
    assert names == {f"kprof_dep_pack/{stem}.py" for stem in ("__init__", "one", "two", "three")}
    assert found.complete


def test_with_too_many_files_the_rest_is_not_followed(write, monkeypatch):
    """The files that were found say nothing of those that were not."""
    monkeypatch.setattr(module_of, "LIMIT", 2)
    for number in range(4):
        write(f"kprof_dep_n{number}.py", f"import kprof_dep_n{number + 1}\n" if number < 3 else "A = 1\n")
    found = dependencies_of(load_module(write("user.py", "import kprof_dep_n0\n")))
    assert (len(found.files), found.complete) == (3, False)
    found = dependencies_of(load_module(write("short.py", "import kprof_dep_n3\n")))
    assert (len(found.files), found.complete) == (2, True)


def test_a_module_without_a_file_is_not_trusted():
    made = ModuleType("kprof_dep_made")
    assert not module_of.dependencies(made).complete
    made.__file__ = "/no/such/file.py"
    assert not module_of.dependencies(made).complete


def test_constants_are_values_without_names_of_python(write):
    """Numbers, texts and tuples, also in ``constexpr``; objects and private names of Python are none."""
    text = "class constexpr:\n    value = (1, 2)\n\nA = constexpr()\nB = True\nC = object()\n__hidden = 3\n"
    found = dependencies_of(load_module(write("user.py", text))).values
    assert sorted(each.rpartition(".")[2] for each in found) == ["A=(1, 2)", "B=True"]


def test_a_file_that_is_gone_has_a_stamp_that_says_so(tmp_path):
    path = tmp_path / "x.py"
    assert stamps([str(path)]) == {str(path): GONE}
    assert not stale({str(path): GONE})
    path.write_text("A")
    size, changed = stamps([str(path)])[str(path)]
    assert (size, changed) == (1, path.stat().st_mtime_ns)
    assert stale({str(path): GONE})
    assert "kprof_dep_made" not in sys.modules


def test_a_relative_import_leads_out_of_an_inner_package(write, tmp_path):
    """By as many folders as it has full stops."""
    write("kprof_dep_outer/__init__.py", "")
    write("kprof_dep_outer/sizes.py", "SIZE = 7\n")
    (tmp_path / "kprof_dep_outer" / "inner").mkdir()
    write("kprof_dep_outer/inner/__init__.py", "")
    path = write("kprof_dep_outer/inner/user.py", "from ..sizes import SIZE\n")
    found = dependencies_of(load_module(path))
    assert "sizes.py" in {p.rpartition("/")[2] for p in found.files}
    assert found.complete
