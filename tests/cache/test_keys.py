"""Keys: equal for equal parts, different for all others."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from kprof.cache.keys import key

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(JSON, max_size=3), st.lists(JSON, max_size=3))
def test_keys_are_equal_when_the_parts_are(one, other):
    """As JSON has them: true is not 1, and 1 is not 1.0."""
    assert (key(*one) == key(*other)) is (repr_of(one) == repr_of(other))


def test_the_order_of_members_does_not_count():
    """That of parts does, and so does where one ends."""
    assert key({"a": 1, "b": 2}) == key({"b": 2, "a": 1})
    assert key("a", "b") != key("b", "a")
    assert key("ab") != key("a", "b")
    assert key(["a"], "b") != key(["a", "b"])


def repr_of(value):
    """A value in words that tell bool, int and float apart, members in order."""
    if isinstance(value, dict):
        return ("dict", sorted((name, repr_of(member)) for name, member in value.items()))
    if isinstance(value, list):
        return ("list", [repr_of(member) for member in value])
    return (type(value).__name__, repr(value))


def test_a_key_is_what_it_was():
    """SHA-256 of the parts as the shortest JSON, so that another release finds what this one has kept."""
    text = '[{"a":[1,2.5,null],"b":"\\u00e4"},true]'
    assert key({"b": "ä", "a": [1, 2.5, None]}, True) == hashlib.sha256(text.encode()).hexdigest()
    assert len({key("\udcff"), key("\\udcff"), key("")}) == 3
