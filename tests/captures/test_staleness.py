"""Hashes of the files that a capture was made from."""

import hashlib
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.captures.staleness import appeared, changed, digest, digests, listing, outside, relisted, root_of
from kprof.recording.program_sources import of_command, of_process


def test_the_root_is_the_work_tree(tmp_path):
    """The nearest folder with ``.git``, which may be a file; without one the folder itself."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert root_of(inner) == inner
    (tmp_path / "a" / ".git").write_text("gitdir: elsewhere")
    assert root_of(inner) == tmp_path / "a"


def test_digests_are_sha256_of_what_is_below_the_root(tmp_path):
    """Installed packages, folders, pipes and what lies elsewhere are left out."""
    root = tmp_path / "tree"
    package = root / ".venv" / "lib" / "site-packages" / "p.py"
    package.parent.mkdir(parents=True)
    for path in (package, root / "train.py", tmp_path / "other.py"):
        path.write_text(path.name)
    os.mkfifo(root / "pipe")
    found = digests(root, [package, root / "train.py", tmp_path / "other.py", root, root / "pipe", root / "no.py"])
    assert found == {"train.py": hashlib.sha256(b"train.py").hexdigest()}


@given(st.dictionaries(st.sampled_from(["a.py", "b.py", "c/d.py"]), st.binary(max_size=40), min_size=1), st.data())
def test_exactly_what_differs_is_changed(tmp_path_factory, files, data):
    """Any other content, and nothing else."""
    root = tmp_path_factory.mktemp("tree")
    (root / "c").mkdir()
    for name, content in files.items():
        (root / name).write_bytes(content)
    known = digests(root, (root / name for name in files))
    assert known == dict(sorted((name, hashlib.sha256(content).hexdigest()) for name, content in files.items()))
    assert changed(root, known) == []
    edited = data.draw(st.sets(st.sampled_from(sorted(files))))
    for name in edited:
        (root / name).write_bytes(files[name] + b"x")
    assert changed(root, known) == [f"{name} changed" for name in sorted(edited)]
    for name in edited:
        (root / name).unlink()
    assert changed(root, known) == [f"{name} is gone" for name in sorted(edited)]


@pytest.mark.parametrize("name", ["../out.py", "/etc/hostname", "a/../../out.py"])
def test_no_name_leads_out_of_the_root(tmp_path, name):
    """A capture may come from a stranger: its names are not followed, and match nothing."""
    root = tmp_path / "tree"
    (root / "a").mkdir(parents=True)
    (tmp_path / "out.py").write_text("x")
    known = {name: digest(tmp_path / "out.py")}
    assert changed(root, known) == [f"{name} is not a path below {root}"]


def test_what_lies_outside_is_followed_only_where_the_names_are_trusted(tmp_path):
    """A recording of one's own."""
    root = tmp_path / "tree"
    root.mkdir()
    other = tmp_path / "lib" / "tile.py"
    other.parent.mkdir()
    other.write_text("x")
    known = outside(root, [other, root / "none.py"])
    assert known == {"../lib/tile.py": digest(other)}
    assert digests(root, [other]) == {}
    assert changed(root, known, follow=True) == []
    other.write_text("y")
    assert changed(root, known, follow=True) == ["../lib/tile.py changed"]


def test_files_of_a_command_line_are_sources(tmp_path):
    """The program and what it reads; words that are no files are none."""
    for name in ("train.py", "config.yaml"):
        (tmp_path / name).write_text(name)
    assert list(of_command(tmp_path, tmp_path, ["python", "train.py", "--config", "config.yaml", "", "-x"])) == [
        "config.yaml",
        "train.py",
    ]


def test_modules_of_a_process_are_sources_but_not_kprofs_own(tmp_path, monkeypatch):
    """What is imported from the work tree."""
    import importlib
    from pathlib import Path

    (tmp_path / "part_of_a_program.py").write_text("X = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("part_of_a_program")
    assert list(of_process(tmp_path)["files"]) == ["part_of_a_program.py"]
    (tmp_path / "inner").mkdir()
    assert "../part_of_a_program.py" in of_process(tmp_path / "inner")["outside"]
    root = Path(__file__).resolve().parents[2]
    assert not [name for name in of_process(root)["files"] if name.startswith("kprof/")]


def test_a_link_is_compared_by_what_it_leads_to_now(tmp_path):
    """``tiles.json`` that is turned from one file to another, inside the work tree or out of it."""
    root = tmp_path / "tree"
    root.mkdir()
    for path in (root / "small.json", root / "large.json", tmp_path / "far.json"):
        path.write_text(path.name)
    link = root / "tiles.json"
    for target in (root / "small.json", tmp_path / "far.json"):
        link.symlink_to(target)
        known = digests(root, [link])
        assert known["tiles.json"] == digest(target)
        assert changed(root, known) == []
        link.unlink()
        link.symlink_to(root / "large.json")
        assert changed(root, known) == ["tiles.json changed"]
        link.unlink()


def test_what_was_not_there_and_what_is_listed_otherwise(tmp_path):
    """Names that lead out are followed only where they are trusted."""
    root = tmp_path / "tree"
    (root / "configs").mkdir(parents=True)
    absent = ["tiles.json", "no/tiles.json", "../far.json"]
    folders = {"configs": listing(root / "configs"), "..": listing(tmp_path), "gone": "0" * 64}
    assert appeared(root, absent, follow=True) == []
    assert relisted(root, folders) == ["gone"]
    for path in (root / "tiles.json", tmp_path / "far.json", root / "configs/.hidden"):
        path.write_text("{}")
    assert appeared(root, absent) == ["tiles.json"]
    assert appeared(root, absent, follow=True) == ["tiles.json", "../far.json"]
    assert relisted(root, folders, follow=True) == ["..", "gone"]
    (root / "configs/b.json").write_text("{}")
    assert relisted(root, folders) == ["configs", "gone"]


def test_a_listing_is_of_names_and_of_no_data(tmp_path, monkeypatch):
    """Two names cannot be taken for one; a folder of very many files is data."""
    digests_of = set()
    for number, names in enumerate((["ab"], ["a", "b"], [])):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in names:
            (folder / name).write_text("")
        digests_of.add(listing(folder))
    assert len(digests_of) == 3
    monkeypatch.setattr("kprof.captures.staleness.LIMIT", 1)
    assert listing(tmp_path / "1") is None
    assert listing(tmp_path / "0") is not None
    assert listing(tmp_path / "none") is None
