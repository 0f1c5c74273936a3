"""What is done with numpy for many intervals is what is done one by one for few."""

from hypothesis import given
from hypothesis import strategies as st

from kprof_analyzers.profiles.timeline import intervals
from kprof_analyzers.profiles.timeline.intervals import Disjoint, IntervalSet
from kprof_analyzers.profiles.timeline.pictures import utilisation

# Wall-clock times in ns, which a double does not hold.
_EPOCH = 1_610_366_728_298_146_123
_PAIRS = st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 300)), min_size=1, max_size=40)


def of(pairs) -> Disjoint:
    collected = IntervalSet()
    collected.add_many([_EPOCH + start for start, _ in pairs], [_EPOCH + start + length for start, length in pairs])
    return collected.disjoint()


@given(_PAIRS, st.integers(1, 30))
def test_unions_and_shares_are_the_same(pairs, bins):
    """To the last bit."""
    one_by_one = of(pairs)
    before = intervals._MANY
    intervals._MANY = 0
    try:
        assert list(of(pairs)) == list(one_by_one)
    finally:
        intervals._MANY = before
    if not len(one_by_one):
        return
    first, last = one_by_one.starts[0], one_by_one.ends[-1]
    width = max(1, last - first) / bins
    shares = utilisation._binned(one_by_one, first, last, bins)
    assert utilisation._binned_at_once(one_by_one, first, width, bins) == shares
    assert abs(sum(shares) * width - one_by_one.length()) < 1e-6 * (last - first)
