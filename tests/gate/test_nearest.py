"""Which accepted entry a kernel whose knobs changed is compared with, and how the change is told."""

import msgspec
import pytest

from kprof.gate.nearest import nearest
from kprof.gate.subject import CheckSubject
from tests.gate.test_without_baseline import accepted, tile


@pytest.mark.parametrize("value", ["ieee", 0, None])
def test_what_is_no_positive_number_is_far_away(value):
    """A word or a zero for a number counts for more than some doublings of a number."""
    knobs = [{"precision": value}, {"precision": 8}]
    now = _with(tile(), {"precision": 64})
    base = accepted(*(_with(tile(bk=32), each) for each in knobs if each["precision"] is not None))
    assert nearest(base, now).change == "precision 8 → 64"


def _with(found, options):
    """The same kernel with other options."""
    spec = msgspec.structs.replace(found.report.specialization, options=options)
    return CheckSubject(found.entry, msgspec.structs.replace(found.report, specialization=spec))


def test_a_knob_that_was_left_out_is_a_change(tmp_path):
    """From its value to none, and the other way round."""
    plain, set_ = tile(), tile()
    spec = set_.report.specialization
    options = msgspec.structs.replace(spec, options={**spec.options, "waves_per_eu": 2})
    set_ = CheckSubject(set_.entry, msgspec.structs.replace(set_.report, specialization=options))
    assert nearest(accepted(set_), plain).change == "waves_per_eu 2 → unset"
    assert nearest(accepted(plain), set_).change == "waves_per_eu unset → 2"


@pytest.mark.parametrize(
    ("one", "other", "nearer"),
    [
        (1, 64, 1),  # two doublings to 4, not far away
        ("ieee", 4 * 2**7, 4 * 2**7),  # a word is as far as eight doublings
        ("ieee", 4 * 2**9, "ieee"),
    ],
)
def test_how_far_a_value_is(one, other, nearer):
    base = accepted(_with(tile(bk=32), {"depth": one}), _with(tile(bk=32), {"depth": other}))
    assert nearest(base, _with(tile(bk=32), {"depth": 4})).change == f"depth {nearer} → 4"


def test_of_two_that_are_as_near_the_first_by_name_is_taken():
    """Whatever order the baseline has them in; all knobs that differ are named."""
    found = {nearest(accepted(*pair), tile(bk=32)).change for pair in ((tile(16), tile(64)), (tile(64), tile(16)))}
    assert len(found) == 1
    assert nearest(accepted(tile(16, warps=2)), tile(32, warps=4)).change == "BK 16 → 32, num_warps 2 → 4"
