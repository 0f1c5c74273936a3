"""What messages say beyond the rule: words that depend on the case."""

import pytest

from kprof.inputs.mlir import TensorType
from kprof.inputs.mlir.layouts import Blocked
from kprof_analyzers.rules.layouts.convert_in_loop import _names


def tensor(size, order, lanes):
    """A 64x64 tile in a blocked layout."""
    return TensorType(shape=(64, 64), element="f16", layout=Blocked(size, lanes, (4, 1), order))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (((1, 4), (1, 0)), ((4, 1), (0, 1)), "a blocked layout along axis 1 to one along axis 0"),
        (((1, 4), (1, 0)), ((1, 1), (1, 0)), "a blocked layout with 4 elements a lane in a row to one with 1"),
        (((1, 4), (1, 0)), ((1, 4), (1, 0)), "one blocked layout to another"),
    ],
)
def test_two_blocked_layouts_are_told_apart(before, after, words):
    """By the axis that they run along, else by the width of a lane's piece."""
    assert _names(tensor(*before, (8, 8)), tensor(*after, (8, 8))) == words
