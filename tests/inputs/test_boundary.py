"""The one layer that bytes from outside pass: size, encoding, nesting, numbers."""

import gzip
import os
import re
import zlib
from types import SimpleNamespace

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
    with pytest.raises(InputError, match="too large: 2,000 bytes; the limit is 1,999"):
        boundary.read_bytes(path, most=1999)
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "1K")
    with pytest.raises(InputError) as caught:
        boundary.read_bytes(path)
    assert "KPROF_INPUT_LIMIT" in caught.value.hint
    for value in ("-1", "1 GB or so", "9" * 30):
        monkeypatch.setenv("KPROF_INPUT_LIMIT", value)
        with pytest.raises(KprofError, match="is not a size"):
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
    with pytest.raises(InputError, match="more than 64 MiB, 100 times its packed size"):
        pieces.extend(map(len, boundary.gunzipped(bomb, "f")))
    assert sum(pieces) <= 64 << 20
    with pytest.raises(InputError, match="more than 1 MiB"):
        list(boundary.gunzipped(bomb, "f", most=1 << 20))


def test_whole_numbers():
    """Decimal digits of ASCII, within the bound; nothing else is one."""
    assert [boundary.whole_number(text) for text in ("0", "7", "0042", "9223372036854775807")] == [
        0,
        7,
        42,
        (1 << 63) - 1,
    ]
    for text in (None, "", "-1", "+1", "1.0", "1e3", " 1", "٣", "9223372036854775808", "0" * 20, "9" * 5000):
        assert boundary.whole_number(text) is None
    assert boundary.whole_number("0" * 19) == 0
    assert [boundary.whole_number(text, 10) for text in ("9", "10", "11")] == [9, 10, None]


@given(st.integers(0, (1 << 63) - 1))
def test_every_whole_number_is_read(number):
    """As it was written."""
    assert boundary.whole_number(str(number)) == number


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("", 0),
        ("[]", 1),
        ("[[]", 2),
        ("][[", 1),
        ("{[}]", 2),
        ("[][]", 1),
        ("a: [b, {c: d}]", 2),
        ("]]]", 0),
        ("~", 0),
        ("[~[", 2),
    ],
)
def test_how_deep_brackets_are(text, depth):
    """The most that are open at once; what closes nothing counts against what opens later."""
    assert boundary.brackets(text) == depth


def test_the_ratio_can_be_raised(monkeypatch):
    """A whole number from 1 to 999999, anything else is an error that says what it takes."""
    monkeypatch.delenv("KPROF_INPUT_RATIO", raising=False)
    assert boundary.ratio() == 100
    for text, number in (("1", 1), ("1000", 1000), ("999999", 999_999), ("", 100)):
        monkeypatch.setenv("KPROF_INPUT_RATIO", text)
        assert boundary.ratio() == number
    for text in ("0", "-1", "1.5", "x", "1000000", "٣", "9" * 50):
        monkeypatch.setenv("KPROF_INPUT_RATIO", text)
        with pytest.raises(KprofError) as caught:
            boundary.ratio()
        assert caught.value.message == f"KPROF_INPUT_RATIO is not a number: {text[:40]!r}"
        assert caught.value.hint == "Use an integer such as 1000."


def test_a_size_that_is_none_says_what_one_is(monkeypatch):
    """With the text that was given."""
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "much")
    with pytest.raises(KprofError) as caught:
        boundary.limit()
    assert str(caught.value) == "KPROF_INPUT_LIMIT is not a size: 'much'\n  Use bytes, or a size such as 500M or 4G."
    for text, size in (("5T", 5 << 40), (" 2k ", 2048), ("7 MiB", 7 << 20), ("", 1 << 30), ("9" * 15, int("9" * 15))):
        monkeypatch.setenv("KPROF_INPUT_LIMIT", text)
        assert boundary.limit() == size
    monkeypatch.delenv("KPROF_INPUT_LIMIT")
    assert boundary.limit() == boundary.LIMIT == 1 << 30


def test_the_hint_is_for_the_limit_that_the_user_can_raise(tmp_path, monkeypatch):
    """A reader's own bound has none; a file is called as its user called it."""
    path = tmp_path / "f"
    path.write_bytes(b"x" * 11)
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "10")
    with pytest.raises(InputError) as caught:
        boundary.read_bytes(path, shown="theirs")
    assert caught.value == InputError(
        "too large: 11 bytes; the limit is 10",
        path="theirs",
        hint="set KPROF_INPUT_LIMIT=4G to read larger files",
    )
    with pytest.raises(InputError) as caught:
        boundary.read_bytes(path, most=10)
    assert caught.value == InputError("too large: 11 bytes; the limit is 10", path=str(path))
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "11")
    assert boundary.read_bytes(path) == b"x" * 11


@pytest.mark.parametrize("most", [5, 12, 19])
def test_a_file_that_grows_is_read_as_it_is_then(tmp_path, monkeypatch, most):
    """Or refused, when it has become too large; never cut to what it was."""
    path = tmp_path / "f"

    def grown(number):
        status = os.fstat(number)
        path.write_bytes(b"x" * 20)
        return status

    monkeypatch.setattr(boundary, "os", SimpleNamespace(fstat=grown, environ={}))
    path.write_bytes(b"x" * 5)
    assert boundary.read_bytes(path, most=20) == b"x" * 20
    path.write_bytes(b"x" * 5)
    with pytest.raises(InputError, match=f"too large: 20 bytes; the limit is {most}"):
        boundary.read_bytes(path, most=most)


def test_what_is_too_large_is_not_read(tmp_path):
    """A gigabyte of nothing is refused for its size."""
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="too large: 1,099,511,627,776 bytes"):
        boundary.read_bytes(path)


def test_a_file_that_shrinks_is_read_as_it_is_then(tmp_path, monkeypatch):
    """Less than it had is no error."""
    path = tmp_path / "f"

    def shrunk(number):
        status = os.fstat(number)
        path.write_bytes(b"x" * 3)
        return status

    path.write_bytes(b"x" * 5)
    monkeypatch.setattr(boundary, "os", SimpleNamespace(fstat=shrunk, environ={}))
    assert boundary.read_bytes(path, most=20) == b"x" * 3


def test_messages_of_files_that_cannot_be_read(tmp_path):
    """Each in its own words."""
    (tmp_path / "f").touch()
    os.mkfifo(tmp_path / "pipe")
    for name, words in (
        ("none", "no such file"),
        ("", "this is a directory"),
        ("pipe", "is not a file"),
        ("f/below", "cannot be read: Not a directory"),
        ("a\0b", "cannot be read: there is a null byte in its name"),
    ):
        with pytest.raises(InputError) as caught:
            boundary.read_bytes(f"{tmp_path}/{name}")
        assert caught.value == InputError(words, path=f"{tmp_path}/{name}")


def test_a_text_has_its_own_bound(tmp_path):
    """What a person writes is far below it."""
    path = tmp_path / "t"
    path.write_text("ab")
    assert boundary.read_text(path, most=2) == "ab"
    with pytest.raises(InputError, match="too large"):
        boundary.read_text(path, most=1)
    assert boundary.TEXT_LIMIT == boundary.FREE == 64 << 20
    with pytest.raises(InputError) as caught:
        boundary.text_of(b"ab\xc3", "f")
    assert caught.value == InputError("is not UTF-8 text", path="f", place="byte 2")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[" * 100_000, "no list: nested too deep"),
        (b'["\xff"]', "no list: not UTF-8 (invalid start byte)"),
        (b"[1,", "no list: Input data was truncated"),
        (b'["a"]', "no list: Expected `int`, got `str` - at `$[0]`"),
    ],
)
def test_json_that_is_refused_says_why(data, words):
    """With the file and what to do."""
    with pytest.raises(InputError) as caught:
        boundary.json_of(data, list[int] if b'"a"' in data else list, "f", "no list", hint="Write one.")
    assert caught.value == InputError(words, path="f", hint="Write one.")
    assert boundary.json_of(b"[1]", list[int], "f", "no list") == [1]


def test_toml_that_is_refused_says_why(monkeypatch):
    """Too deep, or what the parser says."""
    assert boundary.toml_of("a = 1", "f") == {"a": 1}
    with pytest.raises(InputError) as caught:
        boundary.toml_of("a = " + "[" * 5000, "f")
    assert caught.value.path == "f"
    # Python's own reader says it itself from some version on.
    assert re.fullmatch("is not valid TOML: (nested too deep|.*nested more than.*)", caught.value.message)
    with pytest.raises(InputError) as caught:
        boundary.toml_of("a", "f")
    assert caught.value.message.startswith("is not valid TOML: Expected '='")
    assert caught.value.path == "f"


def test_a_file_may_unpack_to_what_is_always_free_or_to_its_ratio(monkeypatch):
    """Whichever is more, up to the limit; the message says which of them it was."""
    monkeypatch.setattr(boundary, "FREE", 1000)
    packed = gzip.compress(b"\0" * 5000)
    assert len(packed) < 50
    monkeypatch.setenv("KPROF_INPUT_RATIO", str(-(-5000 // len(packed))))
    assert b"".join(boundary.gunzipped(packed, "f")) == b"\0" * 5000
    monkeypatch.setenv("KPROF_INPUT_RATIO", "60")
    with pytest.raises(InputError) as caught:
        list(boundary.gunzipped(packed, "f"))
    assert caught.value == InputError(
        f"unpacks to more than 0 MiB, 60 times its packed size of {len(packed)} bytes",
        path="f",
        hint="set KPROF_INPUT_RATIO=600 if this size is intended, or unpack the file yourself",
    )
    monkeypatch.setattr(boundary, "FREE", 5000)
    assert b"".join(boundary.gunzipped(packed, "f")) == b"\0" * 5000
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "4999")
    with pytest.raises(InputError) as caught:
        list(boundary.gunzipped(packed, "f"))
    assert caught.value == InputError(
        "unpacks to more than 0 MiB",
        path="f",
        hint="set KPROF_INPUT_LIMIT=4G to read larger files; or unpack it yourself and read the plain file",
    )


def test_a_reader_s_own_bound_for_what_is_unpacked():
    """To the byte, whatever the ratio."""
    packed = gzip.compress(b"\0" * (3 << 20))
    assert sum(map(len, boundary.gunzipped(packed, "f", most=3 << 20))) == 3 << 20
    with pytest.raises(InputError, match=r"^f: unpacks to more than 2 MiB\n  set KPROF_INPUT_LIMIT=4G"):
        list(boundary.gunzipped(packed, "f", most=(3 << 20) - 1))


def test_pieces_are_bounded():
    """However much one byte unpacks to; nothing at all is no gzip data that was cut off."""
    pieces = [len(piece) for piece in boundary.gunzipped(gzip.compress(b"\0" * (5 << 20)), "f")]
    assert max(pieces) == 1 << 20
    assert sum(pieces) == 5 << 20
    with pytest.raises(EOFError):
        list(boundary.gunzipped(gzip.compress(b"abc")[:-1], "f"))
    with pytest.raises(zlib.error):
        list(boundary.gunzipped(gzip.compress(b"abc") + b"more", "f"))


def test_what_is_packed_in_another_way_is_no_gzip():
    """As the first member or behind one; nor are zero bytes before it padding."""
    for before in (b"", gzip.compress(b"abc")):
        with pytest.raises(zlib.error):
            list(boundary.gunzipped(before + zlib.compress(b"abc"), "f"))
    with pytest.raises(zlib.error):
        list(boundary.gunzipped(b"\0" + gzip.compress(b"abc"), "f"))


def test_what_refers_far_back_is_unpacked():
    """As far as gzip may, in each member."""
    data = os.urandom(30_000) * 2
    assert b"".join(boundary.gunzipped(gzip.compress(data) * 2, "f")) == data * 2


@pytest.mark.parametrize(("open_", "close"), [("[", "]"), ("{a: ", "}")])
def test_yaml_may_be_fifty_deep(open_, close):
    """And no deeper: what is open is looked at again for each further one."""
    made = boundary.yaml_of(open_ * 50 + close * 50, "f")
    assert isinstance(made, list | dict)
    with pytest.raises(InputError) as caught:
        boundary.yaml_of(open_ * 51 + close * 51, "f")
    assert caught.value == InputError("is not valid YAML: nested too deep", path="f")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &x 1\nb: *x\n", "aliases are not allowed"),
        ("\n".join(" " * n + "- " for n in range(3000)), "nested too deep"),
        ("a: [1", 'while parsing a flow sequence in "<unicode string>", line 1, column 4: a: [1'),
        ("a: 2001-99-99", "month must be in 1..12"),
        ("a: b: c", 'mapping values are not allowed here in "<unicode string>", line 1, column 5: a: b: c'),
    ],
)
def test_yaml_that_is_refused_says_why(text, words):
    """In one line, with the file."""
    with pytest.raises(InputError) as caught:
        boundary.yaml_of(text, "f")
    assert caught.value == InputError(f"is not valid YAML: {words}", path="f")


def test_yaml_that_is_read():
    """An anchor that nobody refers to is no alias; what looks like one in a text is none."""
    assert boundary.yaml_of("a: &x [1, '*x']\nb: 2", "f") == {"a": [1, "*x"], "b": 2}
    assert boundary.yaml_of("", "f") is None


def test_members_that_are_larger_than_a_piece_of_the_file(monkeypatch):
    """Their borders fall where they like."""
    monkeypatch.setattr(boundary, "_CHUNK", 16)
    data = os.urandom(100)
    for padding in (b"", b"\0" * 5, b"\0" * 40):
        packed = gzip.compress(data) + gzip.compress(b"second") + gzip.compress(b"") + padding
        assert b"".join(boundary.gunzipped(memoryview(packed), "f")) == data + b"second"
