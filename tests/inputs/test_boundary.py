"""The one layer that bytes from outside pass: size, encoding, nesting, numbers."""

import gzip
import os
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import InputError, KprofError
from kprof.inputs import boundary


def test_what_is_no_plain_file_is_refused_at_once(tmp_path):
    """A pipe would wait for a writer, a device never end."""
    os.mkfifo(tmp_path / "pipe")
    for path, words in (
        (tmp_path / "pipe", "is not a file"),
        (tmp_path, "directory"),
        (tmp_path / "no", "no such file"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            boundary.read_bytes(path)
        assert caught.value.path == str(path)
    with pytest.raises(InputError, match="is not a file"):
        boundary.read_bytes("/dev/zero")
    with pytest.raises(InputError, match="cannot be read"):
        boundary.read_bytes("a\0b")


def test_size_is_bounded_and_the_bound_can_be_raised(tmp_path, monkeypatch):
    """By the reader's own bound, or by the user's."""
    path = tmp_path / "f"
    path.write_bytes(b"x" * 2000)
    assert len(boundary.read_bytes(path, most=2000)) == 2000
    with pytest.raises(InputError, match="too large: 2,000 bytes, and 1,999 are read at most"):
        boundary.read_bytes(path, most=1999)
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "1K")
    with pytest.raises(InputError) as caught:
        boundary.read_bytes(path)
    assert "KPROF_INPUT_LIMIT" in caught.value.hint
    for value in ("-1", "1 GB or so", "9" * 30):
        monkeypatch.setenv("KPROF_INPUT_LIMIT", value)
        with pytest.raises(KprofError, match="is no size"):
            boundary.read_bytes(path)


@pytest.mark.parametrize(
    ("text", "size"), [("5", 5), ("2K", 2048), ("3M", 3 << 20), ("4G", 4 << 30), ("1GiB", 1 << 30)]
)
def test_sizes(monkeypatch, text, size):
    """Bytes, or with a unit."""
    monkeypatch.setenv("KPROF_INPUT_LIMIT", text)
    assert boundary.limit() == size


def test_text_that_is_not_utf8_has_a_place(tmp_path):
    """File and offset; a byte order mark is none of the text."""
    path = tmp_path / "t"
    path.write_bytes(b"\xef\xbb\xbfabc")
    assert boundary.read_text(path) == "abc"
    path.write_bytes(b"abc\xff")
    with pytest.raises(InputError, match="not UTF-8 text") as caught:
        boundary.read_text(path)
    assert caught.value.place == "byte 3"


@pytest.mark.parametrize(
    "data",
    [b"[" * 100_000, b"9" * 100_000, b'"\xff"', b'{"a":', b'"\\ud800"', b"", b"NaN", b'"a\x00"', b'{"a": ' * 5000],
)
def test_json_is_refused_in_words(data):
    """Depth, digits, encoding, an end that is missing."""
    with pytest.raises(InputError, match=r"^f: no list: "):
        boundary.json_of(data, list[int], "f", "no list")


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "9" * 5000, "a", "[a]\n[a]", "a = \0"])
def test_toml_is_refused_in_words(text):
    """As JSON."""
    with pytest.raises(InputError, match=r"^f: is not valid TOML: "):
        boundary.toml_of(text, "f")


@given(st.binary(max_size=3000), st.integers(1, 3))
def test_gzip_unpacks_to_what_was_packed(data, members):
    """Of one member or several, padded or not."""
    packed = b"".join(gzip.compress(data) for _ in range(members)) + b"\0" * 7
    assert b"".join(boundary.gunzipped(packed, "f")) == data * members


def test_gzip_that_is_cut_or_damaged():
    """What came before has been given."""
    packed = gzip.compress(os.urandom(100_000))
    pieces = []
    with pytest.raises(EOFError):
        pieces.extend(boundary.gunzipped(packed[:-50_000], "f"))
    with pytest.raises(zlib.error):
        list(boundary.gunzipped(packed[:30] + b"\0" * 100 + packed[130:], "f"))


def test_bombs_are_met_before_they_are_unpacked():
    """By their ratio, and by their size."""
    bomb = gzip.compress(b"\0" * (80 << 20))
    pieces = []
    with pytest.raises(InputError, match="more than 64 MiB, 100 times its own"):
        pieces.extend(map(len, boundary.gunzipped(bomb, "f")))
    assert sum(pieces) <= 64 << 20
    with pytest.raises(InputError, match="more than 1 MiB"):
        list(boundary.gunzipped(bomb, "f", most=1 << 20))
