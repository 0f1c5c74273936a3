"""The oracles of the fuzz targets see an answer that is wrong: each is given one."""

import pytest

from validation.fuzz import readers
from validation.fuzz.target import DiffersError, seeds


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder for the reader, and a cache of its own."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


def read(name, place, data=None):
    """The reader's first seed, or these bytes."""
    readers.target(name).read(seeds(name)[0].read_bytes() if data is None else data, place)


def test_two_readers_of_a_trace(place, monkeypatch):
    """One of them loses a kernel."""
    from validation.fuzz.readers import trace

    sums = trace.streamed
    monkeypatch.setattr(trace, "streamed", lambda path: (dict(list(sums(path)[0].items())[1:]), sums(path)[1]))
    with pytest.raises(DiffersError):
        read("trace", place)


def test_an_entry_of_the_cache(place, monkeypatch):
    """Without its checksum, a changed digit would be an answer."""
    from kprof.cache import entries

    data = seeds("cache_entry")[0].read_bytes().replace(b"42", b"43")
    read("cache_entry", place, data)
    monkeypatch.setattr(entries, "_bytes", lambda path: path.read_bytes())
    monkeypatch.setattr(entries.CacheSection, "_digest", lambda _self, _key, _pieces: data[len(entries._MAGIC) :][:32])
    with pytest.raises(DiffersError, match="43"):
        read("cache_entry", place, data)


def test_a_line_of_a_search(place, monkeypatch):
    """Without its checksum, a changed time would be an answer."""
    from kprof.tuning import journal

    data = seeds("search_journal")[0].read_bytes().replace(b"12.5", b"99.5")
    read("search_journal", place, data)
    sums = iter(line[8:24] for line in seeds("search_journal")[0].read_bytes().splitlines())
    monkeypatch.setattr(journal, "_checksum", lambda _members: next(sums))
    with pytest.raises(DiffersError):
        read("search_journal", place, data)


@pytest.mark.triton
def test_an_answer_of_a_file_that_changed(place, monkeypatch):
    """Without comparing the files, the old answer would be given."""
    from kprof.compiler import question_cache

    data = b"BLOCK = 1\n\0N = 2\n"
    read("answers", place, data)
    monkeypatch.setattr(question_cache, "unchanged", lambda _files: True)
    with pytest.raises(DiffersError):
        read("answers", place, data)


def test_a_report_that_is_written_again(place, monkeypatch):
    """A writer that loses a note."""
    import msgspec

    encode = msgspec.json.encode
    monkeypatch.setattr(msgspec.json, "encode", lambda report: encode(msgspec.structs.replace(report, notes=["x"])))
    with pytest.raises(DiffersError):
        read("report", place)


def test_a_baseline_that_is_written_again(place, monkeypatch):
    """A writer that loses a kernel."""
    from kprof.gate import baseline

    encode = baseline.encode
    monkeypatch.setattr(baseline, "encode", lambda _found: encode(baseline.Baseline(kernels={})))
    with pytest.raises(DiffersError):
        read("baseline", place)


def test_an_object_that_is_read_otherwise_than_its_assembly(place, monkeypatch):
    """A reader that loses the last instruction, and one that sees no loops."""
    from dataclasses import replace

    from kprof.inputs import code_object
    from validation.fuzz.readers import assembled

    if not assembled._can():
        pytest.skip("needs Triton 3.9 or later and rocm-bindings-compiler")
    read("assembled", place)
    sound = code_object.disassemble
    for change in ({"labels": {}}, {"instructions": ()}):

        def wrong(item, change=change):
            found = sound(item)
            return replace(found, kernels=tuple(replace(kernel, **change) for kernel in found.kernels))

        monkeypatch.setattr(code_object, "disassemble", wrong)
        with pytest.raises(DiffersError):
            readers.target("assembled").read(seeds("assembled")[1].read_bytes(), place)
