"""What the cache holds, and what is removed from it."""

from pathlib import Path

import pytest

from kprof.cache import inventory, location
from kprof.cache.entries import CacheSection
from kprof.cache.keys import key


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A cache with entries of two kinds, a program, a search, and a file that is not kprof's."""
    for number in range(3):
        CacheSection("things", 2).write(key(number), [b"x" * 100], tmp_path)
    CacheSection("others").write(key("a"), [b""], tmp_path)
    for name, size in (("programs/a/b.json", 10), ("programs/c.json", 5), ("searches/s.jsonl", 7), ("mine.txt", 1000)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"y" * size)
    return tmp_path


def test_files_and_bytes_are_counted_for_each_folder(root):
    """Entries by kind, in the order of their names; folders that do not exist are not named."""
    entry = (location.entries(root) / "others-1" / key("a")[:2] / key("a")).stat().st_size
    found = {part.name: part for part in inventory.parts(root)}
    assert list(found) == ["entries", "programs", "searches"]
    assert (found["programs"].files, found["programs"].size, found["programs"].kinds) == (2, 15, {})
    assert (found["searches"].files, found["searches"].size) == (1, 7)
    entries = found["entries"]
    assert list(entries.kinds.items()) == [("others-1", (1, entry)), ("things-2", (3, 3 * (entry + 100)))]
    assert (entries.files, entries.size) == (4, 4 * entry + 300)


def test_a_file_beside_the_kinds_is_no_kind(root):
    """It still counts as one of the entries' files."""
    (location.entries(root) / "stray").write_bytes(b"z")
    entries = inventory.parts(root)[0]
    assert sorted(entries.kinds) == ["others-1", "things-2"]
    assert entries.files == 5


def test_clearing_takes_what_is_made_again_and_nothing_else(root):
    """Searches, which took hours, stay, and so does what somebody else has put there."""
    before = {part.name: part for part in inventory.parts(root)}
    removed = inventory.clear(root)
    assert removed == (6, before["entries"].size + before["programs"].size)
    assert [part.name for part in inventory.parts(root)] == ["searches"]
    assert (root / "mine.txt").stat().st_size == 1000
    assert inventory.clear(root) == (0, 0)
    assert inventory.clear(root, ("searches",)) == (1, 7)
    assert sorted(path.name for path in root.iterdir()) == ["mine.txt"]


def test_every_folder_has_its_place():
    """What is made again in minutes, and what is not."""
    assert inventory.QUICK == ("entries", "functions", "inductor", "programs", "servers")
    assert inventory.SLOW == ("searches", "triton-envs")
    assert location.entries(Path("r")).name in inventory.QUICK
