"""What stands for many files: their content and names, whatever their times say."""

import errno
import hashlib
import io
import os
import shutil
import time

import pytest

from kprof.cache import content
from kprof.cache.content import of_folders


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path):
    """A package with code and data."""
    place = tmp_path / "package"
    (place / "sub").mkdir(parents=True)
    (place / "__init__.py").write_text("A = 1\n")
    (place / "sub" / "data.toml").write_text("a = 1\n")
    return place


@pytest.fixture
def later(monkeypatch):
    """Files are old enough to be remembered."""
    monkeypatch.setattr(content, "_SETTLED", -1)


def test_any_byte_and_any_name_counts(folder, later):
    """Changed, added, renamed, removed: each another digest, and each comes back with the files."""
    first = of_folders([folder])
    seen = {first}
    data = folder / "sub" / "data.toml"
    data.write_text("a = 2\n")
    seen.add(of_folders([folder]))
    data.rename(data.with_name("other.toml"))
    seen.add(of_folders([folder]))
    (folder / "sub" / "other.toml").unlink()
    seen.add(of_folders([folder]))
    (folder / "more.js").write_text("")
    seen.add(of_folders([folder]))
    assert len(seen) == 5
    (folder / "more.js").unlink()
    data.write_text("a = 1\n")
    assert of_folders([folder]) == first


def test_a_copy_elsewhere_is_the_same(folder, tmp_path):
    """Neither place nor time counts; byte code and hidden files do not either."""
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy" / "__pycache__").mkdir()
    (tmp_path / "copy" / "__pycache__" / "a.pyc").write_bytes(b"x")
    (tmp_path / "copy" / ".a.swp").write_bytes(b"x")
    assert of_folders([tmp_path / "copy"]) == of_folders([folder])
    assert of_folders([folder], frozenset({".py"})) != of_folders([folder])


def test_another_file_with_the_old_size_and_time_is_seen(folder, later):
    """As a checkout or an archive leaves it: the time of last change cannot be set back."""
    path = folder / "__init__.py"
    first = of_folders([folder])
    before = path.stat()
    path.write_text("A = 2\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    assert of_folders([folder]) != first


def test_what_is_remembered_is_not_read_again(folder, later, monkeypatch):
    """And only what has changed is read."""
    first = of_folders([folder])
    read = []
    real = content._sha256
    monkeypatch.setattr(content, "_sha256", lambda path: read.append(path) or real(path))
    assert of_folders([folder]) == first
    assert not read
    (folder / "sub" / "data.toml").write_text("a = 3\n")
    assert of_folders([folder]) != first
    assert read == [str(folder / "sub" / "data.toml")]


def test_a_file_that_has_just_changed_is_read_every_time(folder, monkeypatch):
    """It may change again before the clock moves on."""
    read = []
    real = content._sha256
    monkeypatch.setattr(content, "_sha256", lambda path: read.append(path) or real(path))
    of_folders([folder])
    of_folders([folder])
    assert len(read) == 4
    monkeypatch.setattr(time, "time_ns", lambda: 3_000_000_000 + (folder / "sub" / "data.toml").stat().st_ctime_ns)
    of_folders([folder])
    of_folders([folder])
    assert len(read) == 6


def test_a_damaged_memory_is_no_harm(folder, later, tmp_path):
    """It is checked as every entry is."""
    first = of_folders([folder])
    (kept,) = (p for p in (tmp_path / "cache").rglob("*") if p.is_file())
    kept.write_bytes(kept.read_bytes().replace(b'"', b"'"))
    assert of_folders([folder]) == first


def test_links_that_go_round_end(folder, later):
    """A folder that contains itself is looked at once; a file that is a link counts by its content."""
    first = of_folders([folder])
    (folder / "sub" / "up").symlink_to(folder)
    assert of_folders([folder]) == first
    (folder / "link.py").symlink_to(folder / "__init__.py")
    linked = of_folders([folder])
    assert linked != first
    (folder / "__init__.py").write_text("A = 7\n")
    assert of_folders([folder]) != linked


def test_nothing_to_see_is_never_the_same(tmp_path):
    """Where there are no files, nothing that is kept may be found again."""
    assert of_folders([tmp_path / "none"]) != of_folders([tmp_path / "none"])
    (tmp_path / "single.py").write_text("1")
    assert of_folders([tmp_path / "single.py"]) == of_folders([tmp_path / "single.py"])


@pytest.fixture
def reads(monkeypatch):
    """The files whose content is read, in their order."""
    found = []
    real = content._sha256
    monkeypatch.setattr(content, "_sha256", lambda path: found.append(path) or real(path))
    return found


@pytest.mark.parametrize(("age", "again"), [(1_500_000_000, 2), (2_000_000_000, 2), (2_000_000_001, 0)])
def test_a_file_is_settled_after_two_seconds(folder, monkeypatch, reads, age, again):
    """The coarsest clock of a file system that is in use."""
    newest = max(path.stat().st_ctime_ns for path in folder.rglob("*"))
    for path in folder.rglob("*.*"):
        os.utime(path)
    newest = max(path.stat().st_ctime_ns for path in folder.rglob("*"))
    oldest = min(path.stat().st_ctime_ns for path in folder.rglob("*.*"))
    monkeypatch.setattr(time, "time_ns", lambda: (newest if not again else oldest) + age)
    of_folders([folder])
    reads.clear()
    of_folders([folder])
    assert len(reads) == again


def test_an_old_time_on_a_new_file_is_not_believed(folder, reads):
    """As an archive sets it: the time of the last change of status counts as well."""
    for path in folder.rglob("*.*"):
        os.utime(path, (1, 1))
    of_folders([folder])
    of_folders([folder])
    assert len(reads) == 4


def test_without_memory_everything_is_read_and_nothing_kept(folder, later, reads, tmp_path):
    """Damage on the disk is found."""
    first = of_folders([folder])
    reads.clear()
    assert of_folders([folder], remember=False) == first
    assert len(reads) == 2
    shutil.rmtree(tmp_path / "cache")
    of_folders([folder], remember=False)
    assert not (tmp_path / "cache").exists()


def test_the_order_in_which_files_were_made_does_not_count(tmp_path):
    """Names decide it."""
    for place, names in (("one", ("a", "b", "c", "d")), ("other", ("d", "b", "c", "a"))):
        (tmp_path / place).mkdir()
        for name in names:
            (tmp_path / place / name).write_text(name)
    assert of_folders([tmp_path / "one"]) == of_folders([tmp_path / "other"])


def test_only_files_of_the_suffixes_count(folder):
    """A change of another one is none."""
    python = frozenset({".py"})
    first = of_folders([folder], python)
    (folder / "sub" / "data.toml").write_text("a = 2\n")
    assert of_folders([folder], python) == first
    (folder / "__init__.py").write_text("A = 2\n")
    assert of_folders([folder], python) != first


@pytest.mark.parametrize("name", ["__pycache__/data.txt", "sub/left.pyc", ".hidden/x.py", ".x.py"])
def test_byte_code_and_hidden_files_do_not_count(folder, name):
    """Wherever they lie."""
    first = of_folders([folder])
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("x")
    assert of_folders([folder]) == first


def test_files_larger_than_a_chunk_and_files_that_cannot_be_read(folder, monkeypatch):
    """The digest is hashlib's; of a file that cannot be read the reason counts, and not what it was before."""
    large = os.urandom(content._CHUNK + 17)
    (folder / "large").write_bytes(large)
    assert content._sha256(str(folder / "large")) == hashlib.sha256(large).hexdigest()
    assert content._sha256(str(folder / "none")) == f"unreadable: {errno.ENOENT}"
    assert content._sha256(str(folder)) == f"unreadable: {errno.EISDIR}"


def test_nothing_at_all_is_never_the_same(tmp_path):
    """As with a package in an archive: no answer is found again."""
    assert of_folders([tmp_path / "none"]) != of_folders([tmp_path / "none"])


def test_what_is_remembered_has_a_section_of_its_own(folder, later, tmp_path):
    """Releases share it: the digests of files are the same for each of them."""
    of_folders([folder])
    (kept,) = (path for path in (tmp_path / "cache").rglob("*") if path.is_file())
    assert "contents-1" in kept.parts


def test_a_large_file_is_read_in_pieces(folder, monkeypatch):
    """At most a megabyte of it is in memory, and it is not read byte by byte either."""
    sizes = []
    (folder / "large").write_bytes(bytes((3 << 20) + 1))

    class Recorded(io.FileIO):
        def read(self, size=-1):
            data = super().read(size)
            sizes.append((size, len(data)))
            return data

    monkeypatch.setattr(content, "open", lambda path, _mode: Recorded(path), raising=False)
    content._sha256(str(folder / "large"))
    assert sizes == [(1 << 20, 1 << 20)] * 3 + [(1 << 20, 1), (1 << 20, 0)]
