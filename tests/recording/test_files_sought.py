"""What a program looks for in vain, and the folders that it lists."""

import glob
import importlib.metadata
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from kprof.captures.staleness import listing
from kprof.recording.files_read import Reads
from kprof.recording.files_sought import SoughtFiles, places_before


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """Runs a function while its questions are noted, in a work tree of its own."""
    root = tmp_path / "tree"
    root.mkdir()
    monkeypatch.chdir(root)

    def watch(function):
        reads = Reads()
        before = os.stat, os.access, list(sys.meta_path)
        reads.watch()
        try:
            function()
        finally:
            reads.end()
        assert (os.stat, os.access, sys.meta_path) == before
        return reads

    return watch


def _fails_to_open(path):
    with pytest.raises(FileNotFoundError), open(path, encoding="utf-8"):  # noqa: PTH123 - the way that is tested
        pass


LOOKS = [
    _fails_to_open,
    lambda path: os.path.exists(path) or None,  # noqa: PTH110
    lambda path: os.path.isfile(path) or None,  # noqa: PTH113
    lambda path: os.path.isdir(path) or None,  # noqa: PTH112
    lambda path: os.access(path, os.R_OK),
    lambda path: Path(path).exists(),
    lambda path: Path(path).is_file(),
    lambda path: os.path.exists(os.fsencode(path)),  # noqa: PTH110
]


@pytest.mark.parametrize("look", LOOKS)
def test_what_is_not_there_is_noted(watched, look):
    """In every way that a program asks; what is there by the end was made in the run."""
    root = Path.cwd()
    reads = watched(lambda: [look("tiles.json"), look("made.json"), look("no/folder/tiles.json")])
    (root / "made.json").write_text("{}")
    assert set(reads.absent(root)) == {root / "tiles.json", root / "no/folder/tiles.json"}


@pytest.mark.parametrize("name", ["__pycache__/a.pyc", ".git/a", "<string>", "/proc/none", "/usr/none", "cap/none"])
def test_what_is_not_the_programs(watched, name):
    """Compiled modules, hidden folders, names of no file, the machine's, the capture's own; temporary files."""
    temporary = str(Path(tempfile.gettempdir(), "no-such-file"))
    reads = watched(lambda: [os.path.exists(one) for one in (name, temporary)])  # noqa: PTH110
    assert list(reads.absent(Path.cwd(), [str(Path("cap").absolute())])) == []


def test_what_the_program_writes_later_is_its_own(watched):
    """A result that is looked for first, written, and taken away."""

    def run():
        path = Path("result.json")
        path.exists()
        path.write_text("{}")
        path.unlink()

    reads = watched(run)
    assert list(reads.absent(Path.cwd())) == []
    assert list(reads.results(Path.cwd())) == [Path.cwd() / "result.json"]
    assert list(reads.results(Path.cwd(), [str(Path.cwd())])) == []


def test_answers_stay_as_they_were(watched):
    """Questions by number, with a folder, of links; and the groups in which Python looks functions up."""

    def run():
        Path("here").write_text("x")
        os.symlink("nowhere", "link")  # noqa: PTH211
        assert os.stat(0)
        assert os.stat("link", follow_symlinks=False)  # noqa: PTH116
        assert os.access("here", os.R_OK)
        assert not os.access("gone", os.R_OK, follow_symlinks=os.access not in os.supports_follow_symlinks)
        with pytest.raises(FileNotFoundError):
            os.stat("link")  # noqa: PTH116
        with pytest.raises(TypeError):
            os.stat()
        assert os.stat in os.supports_fd
        assert os.stat in os.supports_follow_symlinks
        Path("sub").mkdir()
        shutil.rmtree("sub")

    root = Path.cwd()
    assert root / "link" not in list(watched(run).absent(root))


LISTS = [
    lambda: os.listdir("configs"),  # noqa: PTH208
    lambda: list(os.scandir("configs")),
    lambda: glob.glob("configs/*.json"),  # noqa: PTH207
    lambda: list(Path("configs").glob("*.json")),
    lambda: list(Path("configs").iterdir()),
    lambda: list(os.walk("configs")),
]


@pytest.mark.parametrize("lists", LISTS)
def test_a_folder_that_is_listed_is_noted_as_it_was(watched, lists):
    """One that the program changes itself is not."""
    root = Path.cwd()
    (root / "configs").mkdir()
    (root / "configs/a.json").write_text("{}")
    known = listing(root / "configs")
    reads = watched(lists)
    assert dict(reads.folders(root)) == {root / "configs": known}
    (root / "configs/b.json").write_text("{}")
    assert dict(reads.folders(root)) == {}


@pytest.mark.parametrize("finder", [None, "importlib_metadata"])
def test_the_import_system_lists_for_itself(watched, monkeypatch, finder):
    """Each import looks through the folders of the path, which would make every new file a change.

    Packages may put finders of their own beside Python's.
    """
    if finder is not None:
        pytest.importorskip(finder)
    root = Path.cwd()
    (root / "some_module.py").write_text("")
    monkeypatch.syspath_prepend(str(root))
    importlib.invalidate_caches()

    def run():
        importlib.import_module("some_module")
        list(importlib.metadata.distributions())

    assert dict(watched(run).folders(root)) == {}
    del sys.modules["some_module"]


def test_a_module_that_is_not_there_and_one_that_could_be_shadowed(watched, monkeypatch):
    """Of the folders of the path that come before the one that has it, and lie in the work tree."""
    root = Path.cwd()
    for name in ("first", "second", "second/pkg_of_two"):
        (root / name).mkdir()
    (root / "second/tile_of_two.py").write_text("")
    (root / "second/pkg_of_two/__init__.py").write_text("")
    for name in ("second", "first"):
        monkeypatch.syspath_prepend(str(root / name))

    def run():
        importlib.import_module("tile_of_two")
        importlib.import_module("pkg_of_two")
        for name in ("tuned_of_none", "pkg_of_two.tuned"):
            with pytest.raises(ModuleNotFoundError):
                importlib.import_module(name)

    # Coverage, where it runs, asks for files of its own.
    sought = [path for path in watched(run).absent(root) if path.is_relative_to(root)]
    found = {path.relative_to(root).as_posix() for path in sought}
    for name in ("tile_of_two", "pkg_of_two"):
        del sys.modules[name]
    assert {"first/tile_of_two.py", "first/tile_of_two/__init__.py", "first/pkg_of_two.py"} <= found
    assert {"first/tuned_of_none.py", "second/tuned_of_none.py", "second/pkg_of_two/tuned.py"} <= found
    assert {"second/tile_of_two.py", "second/tile_of_two/__init__.py", "first/json.py"} & found == set()


def test_the_working_folder_is_listed_without_a_name(watched):
    """``os.listdir()`` says nothing; by number a folder is not known."""
    root = Path.cwd()
    (root / "configs").mkdir()

    def by_number():
        number = os.open("configs", os.O_RDONLY)
        os.listdir(number)  # noqa: PTH208
        os.close(number)

    known = listing(root)
    assert dict(watched(os.listdir).folders(root)) == {root: known}
    assert dict(watched(by_number).folders(root)) == {}


def _calls_from(module):
    """A function of a module of that name that lists a folder."""
    space = {"__name__": module, "os": os}
    exec("def look():\n    os.listdir('configs')", space)
    return space["look"]


@pytest.mark.parametrize("module", ["program", "my.shutil", "sites", "__main__", "json"])
def test_any_module_s_listing_is_noted(watched, module):
    """Whatever it is named, below the few that look through every folder."""
    root = Path.cwd()
    (root / "configs").mkdir()
    assert list(dict(watched(_calls_from(module)).folders(root))) == [root / "configs"]


@pytest.mark.parametrize(
    "module",
    [
        "importlib.metadata", "_frozen_importlib_external", "importlib_metadata._x",
        "importlib_resources", "pkgutil", "pkg_resources.x", "setuptools", "site", "shutil", "tempfile", "kprof.cache",
    ],
)  # fmt: skip
def test_what_looks_through_every_folder_lists_for_itself(watched, module):
    """The import system and those that find packages or clear folders, and kprof."""
    (Path.cwd() / "configs").mkdir()
    assert dict(watched(_calls_from(module)).folders(Path.cwd())) == {}


def test_a_file_that_is_asked_for_below_an_open_folder_is_not_known(watched):
    """Only the number of the folder is there."""
    (Path.cwd() / "configs").mkdir()

    def run():
        number = os.open("configs", os.O_RDONLY)
        with pytest.raises(FileNotFoundError):
            os.stat("tiles.json", dir_fd=number)
        os.close(number)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.stat(number)  # noqa: PTH116

    assert list(watched(run).absent(Path.cwd())) == []


@pytest.mark.parametrize("kind", ["missing", "folders", "modules"])
def test_ten_thousand_names_of_each_kind_are_kept(kind, tmp_path):
    """The last one makes it full, and no further one is kept."""
    sought = SoughtFiles()
    names = getattr(sought, kind)
    names.update((str(i), None) for i in range(9_999))
    add = {
        "missing": lambda name: sought._note_missing(name, {}),
        "folders": lambda name: sought.listed("os.listdir", (name,)),
        "modules": sought._finder.find_spec,
    }[kind]
    assert not sought.full
    add(str(tmp_path / "last"))
    assert (len(names), sought.full) == (10_000, True)
    add(str(tmp_path / "beyond"))
    assert len(names) == 10_000
    assert str(tmp_path / "last") in names


def test_modules_that_nobody_would_put_in_the_place_of_another(tmp_path, monkeypatch):
    """The standard library's, kprof's, Jython's and the interpreter's own, and names that no file can have."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "modules", dict.fromkeys(["a.b"], sys) | {"no_spec": type(sys)("no_spec")})
    names = ["json", "sitecustomize", "usercustomize", "kprof", "kprof_analyzers", "__main__", "org", "org.python"]
    assert list(places_before([*names, "kprof.none", "json.none", "no-name", "org.none"], lambda _: True)) == []
    assert list(places_before(["tuned"], lambda _: False)) == []
    places = [tmp_path / "tuned.py", tmp_path / "tuned/__init__.py"]
    assert [Path(p) for p in places_before(["json", "tuned", "a_package.tuned"], lambda _: True)] == places


def test_the_working_folder_on_the_path_has_no_name(tmp_path, monkeypatch):
    """``python -c`` and ``-m`` put an empty text there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [""])
    monkeypatch.setattr(sys, "modules", {})
    assert [Path(p) for p in places_before(["tuned"], lambda _: True)] == [
        tmp_path / "tuned.py",
        tmp_path / "tuned/__init__.py",
    ]
    (tmp_path / "tuned.py").write_text("")
    assert list(places_before(["tuned"], lambda _: True)) == []
