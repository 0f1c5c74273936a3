"""A budget of seconds, with a clock that the test moves."""

from itertools import count

import pytest

from kprof import deadline
from kprof.deadline import Deadline


@pytest.fixture
def clock(monkeypatch):
    """The time now, which a test sets."""
    now = [100.0]
    monkeypatch.setattr(deadline.time, "monotonic", lambda: now[0])
    return now


def test_it_is_over_when_its_seconds_are_spent(clock):
    """What is left is never negative."""
    budget = Deadline(10.0)
    assert (budget.left, budget.spent, budget.over()) == (10.0, 0.0, False)
    clock[0] = 109.0
    assert (budget.left, budget.share(2), budget.over()) == (1.0, 0.5, False)
    clock[0] = 130.0
    assert (budget.left, budget.spent, budget.over()) == (0.0, 30.0, True)


def test_without_a_limit_it_never_ends(clock):
    """A year later, too."""
    budget = Deadline(None)
    clock[0] += 365 * 86400
    assert not budget.over()


def test_nothing_is_asked_for_after_it(clock):
    """The item that is being worked on at the end is the last one, and those behind it are never made."""
    made = []

    def items():
        for number in count():
            made.append(number)
            yield number

    for _ in Deadline(3.0).taking(items()):
        clock[0] += 1.0
    assert made == [0, 1, 2]
    assert list(Deadline(3.0).taking("ab")) == ["a", "b"]
    assert list(Deadline(0.0).taking(items())) == []


def test_the_first_are_taken_whatever_the_time(clock):
    """So many, and no more."""
    assert list(Deadline(0.0).taking("abc", at_least=2)) == ["a", "b"]
