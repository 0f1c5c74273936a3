"""JSON with places, compared with Python's reader."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof_servers.configs.json_text import JsonError, parse, repeated

_LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


def _strict(text):
    def refuse(name):
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


@given(value=_VALUES, indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans())
def test_reads_what_python_writes(value, indent, ascii_only):
    """Any value comes back as it was, with any layout."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert parse(text).plain() == json.loads(text.encode("utf-8", "replace").decode())


@given(value=_VALUES, at=st.integers(0, 400), damage=st.text(alphabet="{}[],:\"'\\/#tfn0123.eE-+ \n\x00é", max_size=3))
def test_takes_exactly_what_python_takes(value, at, damage):
    """A damaged text is accepted if, and only if, Python's reader accepts it, and then gives the same."""
    text = json.dumps(value, indent=1)
    at %= len(text) + 1
    broken = text[:at] + damage + text[at + 1 :]
    try:
        expected = _strict(broken)
    except ValueError:
        with pytest.raises(JsonError):
            parse(broken)
        return
    # Half of a surrogate pair is replaced: it could not be written out again.
    assert parse(broken).plain() == _writable(expected)


def _writable(value):
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_writable(name): _writable(item) for name, item in value.items()}
    return [_writable(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('{"a": 1,\n "b": 2,\n}', 2, 8, "a comma before }"),
        ('{"a": [1, 2,]}', 1, 12, "a comma before ]"),
        ('{"a": 1\n "b": 2}', 2, 2, "a comma or } is expected"),
        ("{'a': 1}", 1, 2, "single quotes"),
        ('{"a": True}', 1, 7, "JSON writes true"),
        ('{"a": NaN}', 1, 7, "a value is expected, not NaN"),
        ('{"a": 1} // why', 1, 10, "there is text after"),
        ('{\n  // why\n  "a": 1}', 2, 3, "no comments"),
        ('{"a": 1', 1, 8, "the file ends here"),
        ('{"a"', 1, 5, "a colon is expected"),
        ('{"a": 01}', 1, 7, "not a valid JSON number"),
        ('{"a": 12px}', 1, 7, "not a valid JSON number"),
        ('{"a": "x\n"}', 1, 7, "no end"),
        ("", 1, 1, "the file ends too early"),
    ],
)
def test_mistakes_are_told_with_their_place(text, line, column, words):
    """Line, column and what is wrong."""
    with pytest.raises(JsonError, match=words) as caught:
        parse(text)
    assert caught.value.place == (line, column)


def test_nesting_is_bounded():
    """A thousand brackets are an answer, not a stack overflow."""
    with pytest.raises(JsonError, match="nested deeper"):
        parse("[" * 1000)


def test_repeated_keys_keep_their_places():
    """The first and each later one, at every level; the last one counts."""
    node = parse('{"a": {"x": 1,\n "x": 2},\n "a": {"y": [{"z": 1, "z": 1}]}}')
    found = [(path, first.place, second.place) for path, first, second in repeated(node)]
    assert found == [(("a",), (1, 8), (2, 2)), ((), (1, 2), (3, 2)), (("a", "y", "0"), (3, 15), (3, 23))]
    assert node.plain() == {"a": {"y": [{"z": 1}]}}
