"""Columns give back the records that were put in."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.torch_profiler import columns
from kprof.inputs.torch_profiler.columns import ELSEWHERE, NOTHING, Records, by_start


class Thing(msgspec.Struct):
    """One field of each kind that the tables have."""

    name: str
    start_ns: int
    duration_ns: int
    number: int | None = None
    size: tuple[int, int, int] | None = None
    flag: bool = False


_EDGES = st.sampled_from([NOTHING, ELSEWHERE, ELSEWHERE + 1, -NOTHING - 1, -NOTHING, 1 << 80, -1, 0])
_THING = st.builds(
    Thing,
    st.text(max_size=3),
    st.integers(0, 9),
    st.integers(0, 3),
    st.none() | st.integers() | _EDGES,
    st.none() | st.tuples(*[st.integers(1, 3)] * 3),
    st.booleans(),
)


@given(things=st.lists(_THING, max_size=20), together=st.integers(1, 7), data=st.data())
def test_a_list_and_its_columns_are_equal(things, together, data):
    """Numbers of any size and missing ones, blocks of any length; also after changes and after leaving rows out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_TOGETHER", together)
        table = Records(Thing, things)
        assert table == things
        assert [table[row] for row in range(-len(things), len(things))] == things + things
        assert table[1:4] == things[1:4]
        assert table.values("number") == [thing.number for thing in things]
        if not things:
            return
        row = data.draw(st.integers(0, len(things) - 1))
        value = data.draw(st.none() | st.integers() | _EDGES)
        table.update(row, number=value, name="changed")
        things[row] = msgspec.structs.replace(things[row], number=value, name="changed")
        table.append(things[0])
        things.append(things[0])
        assert table == things
        kept = data.draw(st.lists(st.integers(0, len(things) - 1), unique=True))
        table.keep(kept)
        assert list(table) == [things[row] for row in kept]
        expected = sorted(range(len(kept)), key=lambda row: (table[row].start_ns, -table[row].duration_ns))
        assert by_start(table, range(len(kept))) == expected


def test_missing_numbers_are_filled_in():
    """Ranks that only the end of the file tells."""
    table = Records(Thing, [Thing("a", 1, 2, None), Thing("b", 1, 2, 7), Thing("c", 1, 2, 1 << 70)])
    table.numbers("number").fill(3)
    assert [thing.number for thing in table] == [3, 7, 1 << 70]
    with pytest.raises(TypeError):
        table.numbers("name")
    with pytest.raises(TypeError):
        table.words("number")
