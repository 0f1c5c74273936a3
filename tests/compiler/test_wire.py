"""Frames between processes arrive whole, in pieces, or not at all."""

from hypothesis import given
from hypothesis import strategies as st

from kprof.compiler.wire import pack, unpack

BLOBS = st.dictionaries(st.text(max_size=5), st.one_of(st.binary(max_size=50), st.text(max_size=20)), max_size=3)


@given(st.dictionaries(st.text(max_size=5).filter(lambda k: k != "blobs"), st.integers(), max_size=3), BLOBS)
def test_frames_come_back(head, blobs):
    """Text stays text and bytes stay bytes."""
    buffer = bytearray(b"".join(pack(head, blobs)))
    assert unpack(buffer) == (head, blobs)
    assert not buffer


@given(BLOBS, st.data())
def test_part_of_a_frame_is_left_alone(blobs, data):
    """A frame that is not complete yet is neither read nor lost."""
    whole = b"".join(pack({"n": 1}, blobs))
    cut = data.draw(st.integers(0, len(whole) - 1))
    buffer = bytearray(whole[:cut])
    assert unpack(buffer) is None
    assert bytes(buffer) == whole[:cut]


def test_two_frames_in_one_buffer():
    """Frames follow each other without gap."""
    buffer = bytearray(b"".join(pack({"n": 1}, {"a": b"1"}) + pack({"n": 2})))
    assert [unpack(buffer), unpack(buffer), unpack(buffer)] == [({"n": 1}, {"a": b"1"}), ({"n": 2}, {}), None]
