"""``--value NAME=N`` and ``--value NAME=FILE.json``."""

import json

import pytest

from kprof.errors import InputError, KprofError
from kprof.inputs import supplied_values as module
from kprof.inputs.supplied_values import supplied_values


def test_a_number_and_a_file(tmp_path):
    """Nested lists are taken in the order of memory, rows one after the other."""
    path = tmp_path / "lengths.json"
    path.write_text("[[1, 2], [3, [4, -5]]]")
    assert supplied_values([f"lengths={path}", "n=7"]) == {"lengths": (1, 2, 3, 4, -5), "n": 7}
    path.write_text("12")
    assert supplied_values([f"n={path}"]) == {"n": (12,)}


@pytest.mark.parametrize("value", ["true", "1.5", "lengths.txt"])
def test_what_is_neither_a_number_nor_a_file(value):
    """The message has the form that is taken, and what was given."""
    shown = {"true": "True"}.get(value, value)
    with pytest.raises(KprofError) as caught:
        supplied_values([f"n={value}"])
    assert caught.value.message == f"--value takes NAME=N or NAME=FILE.json, got n={shown}"


def test_what_assigns_nothing():
    """The option is named."""
    with pytest.raises(KprofError, match=r"^--value takes NAME=VALUE, got 'n'$"):
        supplied_values(["n"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        ("[1,", "is not JSON: Input data was truncated"),
        ("[[], []]", "has 0 numbers; a tensor has 1 to 4,194,304"),
        ("[1, true]", "contains a bool; values are integers or lists of integers"),
        ("[1, 2.5]", "contains a float; values are integers or lists of integers"),
        ('{"a": 1}', "contains a dict; values are integers or lists of integers"),
    ],
)
def test_a_file_that_has_no_integers(tmp_path, content, message):
    """Each with the file's name."""
    path = tmp_path / "v.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError) as caught:
        supplied_values([f"n={path}"])
    assert str(caught.value) == f"{path}: {message}"


def test_as_many_as_a_tensor_may_have(tmp_path, monkeypatch):
    """The limit itself is allowed, one more is not; larger files are not read."""
    path = tmp_path / "v.json"
    path.write_text(json.dumps(list(range(9))))
    monkeypatch.setattr(module, "MOST", 9)
    assert supplied_values([f"n={path}"])["n"] == tuple(range(9))
    monkeypatch.setattr(module, "MOST", 8)
    with pytest.raises(InputError, match="has 9 numbers; a tensor has 1 to 8"):
        supplied_values([f"n={path}"])


@pytest.mark.parametrize(("over", "refused"), [(0, False), (1, True)])
def test_a_file_of_64_mib_is_read(tmp_path, over, refused):
    """And one byte more is not."""
    path = tmp_path / "v.json"
    with path.open("wb") as file:
        file.write(b"[1]")
        file.write(b" " * ((64 << 20) - 3 + over))
    if not refused:
        assert supplied_values([f"n={path}"]) == {"n": (1,)}
        return
    with pytest.raises(KprofError):
        supplied_values([f"n={path}"])
