"""Every fuzz target: its seeds are sound, some damage is read or refused, and what once failed does not fail again."""

from pathlib import Path

import pytest

from kprof.errors import KprofError
from validation.fuzz import readers
from validation.fuzz.damaging import STRUCTURAL, damaged_input, inputs_of, one
from validation.fuzz.target import DiffersError, Target, seeds

FAILURES = sorted((Path(__file__).parent / "failures").iterdir())
# Told to be of another kind, in words.
REFUSED = {("counters_csv", "omniperf-log.txt")}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder for the reader, and a cache of its own."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


NEED_TRITON = ("answers", "dispatch_table")


@pytest.mark.parametrize("name", readers.names())
def test_seeds_are_read(name, place):
    """A seed that is refused would fuzz the refusal alone."""
    found = seeds(name)
    assert found
    if name == "assembled" and not readers.target(name).read.__globals__["_can"]():
        pytest.skip("needs Triton 3.9 or later and rocm-bindings-compiler")
    if name in NEED_TRITON:
        pytest.importorskip("triton", reason="what it reads is about a bundled kernel, whose file imports Triton")
    assert sum(path.stat().st_size for path in found) < 200_000
    for path in found:
        if (name, path.name) in REFUSED:
            with pytest.raises(KprofError):
                readers.target(name).read(path.read_bytes(), place)
        else:
            readers.target(name).read(path.read_bytes(), place)


@pytest.mark.parametrize("name", readers.names())
def test_damaged_seeds_are_read_or_refused(name, place):
    """A few of what ``make damage`` does by the million."""
    known = inputs_of(name)
    for number in range(12):
        outcome, where = one(readers.target(name), damaged_input(name, 5, number, known, place.parent), place)
        assert outcome in {"read", "refused"}, f"{number}: {where}"


@pytest.mark.parametrize("path", FAILURES, ids=lambda path: path.name)
def test_what_failed_once(path, place):
    """Inputs that fuzzing found, by their reader's name."""
    name = path.name.partition("-")[0]
    outcome, where = one(readers.target(name), path.read_bytes(), place)
    assert outcome in {"read", "refused"}, where


def test_there_are_failures_of_several_readers():
    """The folder is where they belong."""
    assert len({path.name.partition("-")[0] for path in FAILURES}) >= 4


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (KprofError("refused"), "refused"),
        (ZeroDivisionError("on purpose"), "traceback"),
        (MemoryError(), "memory"),
        (DiffersError("two answers"), "differs"),
        (None, "read"),
    ],
)
def test_outcomes_are_told_apart(error, outcome, tmp_path):
    """With the place of what should not be."""

    def read(_data, _folder):
        if error is not None:
            raise error

    found, where = one(Target(read), b"", tmp_path)
    assert found == outcome
    assert ("on purpose" in where) == (outcome == "traceback")


def test_a_hang_is_ended(tmp_path):
    """By a clock that no reader catches."""
    import signal

    from validation.fuzz import damaging

    def read(_data, _folder):
        while True:
            try:
                sum(range(1000))
            except Exception:  # noqa: BLE001 - as readers do
                continue

    before = signal.signal(signal.SIGPROF, damaging._late)
    try:
        assert one(Target(read), b"", tmp_path, seconds=0.2)[0] == "hang"
    finally:
        signal.signal(signal.SIGPROF, before)


def test_the_same_seed_is_the_same_damage(tmp_path):
    """And another seed is other damage."""
    known = inputs_of("report")
    made = [damaged_input("report", 1, number, known, tmp_path) for number in range(30)]
    assert made == [damaged_input("report", 1, number, known, tmp_path) for number in range(30)]
    assert made != [damaged_input("report", 2, number, known, tmp_path) for number in range(30)]
    assert sum(data not in known[0] for data in made) >= 27


@pytest.mark.parametrize("name", ["report", "trace", "counters_csv", "code_object", "assembly"])
def test_structural_damage_is_bounded_and_repeats(name, tmp_path):
    """From a seed on, another kind of damage: the same again for the same number, other files, of a bounded size."""
    known = inputs_of(name)
    made = [damaged_input(name, STRUCTURAL, number, known, tmp_path) for number in range(60)]
    assert made == [damaged_input(name, STRUCTURAL, number, known, tmp_path) for number in range(60)]
    assert made != [damaged_input(name, STRUCTURAL + 1, number, known, tmp_path) for number in range(60)]
    assert sum(data not in (*known[0], *known[1]) for data in made) >= 40
    assert max(map(len, made)) <= max(map(len, (*known[0], *known[1]))) + (5 << 20)
