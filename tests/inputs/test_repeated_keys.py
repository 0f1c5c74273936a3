"""A key that is twice in a file on which a verdict rests: each reader refuses it, and names the key."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kprof.captures import reader
from kprof.diffing import reading
from kprof.errors import KprofError
from kprof.gate import baseline, config
from kprof.inputs import model_config
from kprof.inputs.boundary import refuse_repeated_keys
from kprof.tuning import dispatch_table, space_file
from kprof_analyzers.profiles.timeline.categories import load_categories
from tests.captures.conftest import END, KERNEL, LAUNCH, make

assert make

HEAD_TWICE = '{"schema": "kprof.capture/1", "arch": "gfx90a", "arch": "gfx942"}'
KERNEL_TWICE = json.dumps(KERNEL).replace('"name": "f"', '"name": "f", "name": "g"') + "\n"


def written(folder: Path, name: str, text: str) -> Path:
    """A file with this text."""
    path = folder / name
    path.write_text(text)
    return path


READERS: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "baseline": ("b.json", '{"schema": "kprof.baseline/1", "kernels": {"k": {}, "k": {}}}', baseline.read),
    "report": (
        "r.json",
        '{"schema": "kprof.report/1", "kprof": "1", "kernels": [], "kernels": []}',
        reading.read_report,
    ),
    "kprof.toml": ("kprof.toml", 'arch = ["gfx942"]\narch = ["gfx950"]\n', config.load),
    "a budget": ("kprof.toml", "[budget]\nmax_vgpr_spills = 0\nmax_vgpr_spills = 9\n", config.load),
    "a table": ("kprof.toml", "[budget]\nmax_sgpr = 1\n[budget]\nmax_sgpr = 2\n", config.load),
    "pyproject.toml": ("pyproject.toml", "[tool.kprof]\nfail_on = 'never'\nfail_on = 'error'\n", config.load),
    "a model's configuration": ("config.json", '{"hidden_size": 1, "hidden_size": 2}', model_config.read),
    "a dispatch table": ("t.json", '{"schema": "kprof.dispatch/1", "entries": [], "entries": []}', dispatch_table.read),
    "a space": ("s.json", '{"BLOCK": [1], "BLOCK": [2]}', lambda path: space_file.read(str(path))),
    "a space of TOML": ("s.toml", "BLOCK = [1]\nBLOCK = [2]\n", lambda path: space_file.read(str(path))),
    "categories": (
        "c.toml",
        "[gemm]\npatterns = ['a']\n[gemm]\npatterns = ['b']\n",
        load_categories,
    ),
}
NAMES = ("k", "kernels", "arch", "max_vgpr_spills", "budget", "fail_on", "hidden_size", "entries", "BLOCK", "gemm")


@pytest.mark.parametrize("reader_name", READERS)
def test_a_file_that_has_a_key_twice_is_refused(tmp_path: Path, reader_name: str) -> None:
    """JSON by its key; TOML in the words of the parser, with the line."""
    name, text, read = READERS[reader_name]
    path = written(tmp_path, name, text)
    with pytest.raises(KprofError) as caught:
        read(path)

    message = str(caught.value)
    assert str(path) in message
    if path.suffix == ".json":
        assert "occurs twice in one object" in message
        assert any(f"{key!r}" in message for key in NAMES)
    else:
        assert "line" in message


def test_a_head_of_a_capture_that_has_a_key_twice_is_refused(make: Any) -> None:
    """Nothing of the capture is read."""
    with pytest.raises(KprofError, match=r"capture\.json.*'arch' occurs twice in one object"):
        reader.read(make([KERNEL, LAUNCH, END], HEAD_TWICE))


def test_a_line_of_a_journal_that_has_a_key_twice_ends_it(make: Any) -> None:
    """As a damaged line does: the capture is not complete, so that a gate cannot tell, and a note has the key."""
    found = reader.read(make(KERNEL_TWICE + json.dumps(END) + "\n"))
    assert not found.complete
    assert found.kernels == []
    assert any("line 1" in note and "'name' occurs twice in one object" in note for note in found.notes)


def test_a_result_and_metadata_that_have_a_key_twice_do_not_count(make: Any) -> None:
    """They are left out with a note, as damaged ones are."""
    result = '{"status": "ok", "status": "failed", "metadata": {}}'
    found = reader.read(make([KERNEL, LAUNCH, END], result=result))
    assert [kernel.result for kernel in found.kernels] == [None]
    assert any("'status' occurs twice" in note for note in found.notes)

    from kprof.inputs.triton_metadata import decoded

    metadata, notes = decoded(b'{"shared": 1, "num_warps": 4, "shared": 65536}', "k.json")
    assert metadata == {}
    assert "'shared' occurs twice" in notes[0]


@pytest.mark.parametrize(
    "text", [b'{"a": {"x": 1}, "b": {"x": 2}}', b'[{"a": 1}, {"a": 2}]', b'{"a": "a", "b\\"": "a"}']
)
def test_the_same_key_in_two_objects_is_no_repetition(text: bytes) -> None:
    """Neither is a text that is written like a key."""
    refuse_repeated_keys(text, None, "x")


def test_another_spelling_of_a_key_is_the_same_key() -> None:
    """JSON spells letters by their numbers, too."""
    with pytest.raises(KprofError, match="the key 'ab' occurs twice"):
        refuse_repeated_keys(b'{"ab": 1, "a\\u0062": 2}', None, "x")
