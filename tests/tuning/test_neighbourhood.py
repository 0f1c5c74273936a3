"""A search that climbs: what is looked at next, and when it ends."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from kprof.tuning import neighbourhood
from kprof.tuning.neighbourhood import Neighbourhood

Config = dict[str, int]


def single_steps(config: Config) -> Iterator[Config]:
    """Each knob one up or down, between 0 and 9."""
    for name, value in config.items():
        yield from ({name: other} for other in (value - 1, value + 1) if 0 <= other <= 9)


def search(start: Config, time: "dict[tuple[int, ...], float]", most: int = 400) -> tuple[list[Config], Neighbourhood]:
    """Everything that is given out, each answered at once."""
    queue = Neighbourhood(start, single_steps)
    seen: list[Config] = []
    assert queue.claim(start)
    queue.look_near(start, time[tuple(start.values())])
    for config in queue:
        seen.append(config)
        queue.look_near(config, time[tuple(config.values())])
        assert len(seen) <= most
    return seen, queue


def valley(centre: tuple[int, ...]) -> "dict[tuple[int, ...], float]":
    """Times that grow with the distance from a configuration."""
    return {(a, b): 1.0 + abs(a - centre[0]) + abs(b - centre[1]) for a in range(10) for b in range(10)}


@given(st.tuples(st.integers(0, 9), st.integers(0, 9)), st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_the_bottom_of_a_valley_is_found_without_looking_at_everything(
    start: tuple[int, int], centre: tuple[int, int]
) -> None:
    """From anywhere; and nothing is given out twice."""
    times = valley(centre)
    seen, queue = search({"a": start[0], "b": start[1]}, times)
    found = {tuple(config.values()) for config in seen} | {start}
    assert centre in found
    assert len(found) == len(seen) + 1
    assert len(found) < 100
    assert queue.settled
    assert len(queue) == 0
    assert queue.left > 0


def test_neighbours_of_the_fastest_come_first() -> None:
    """Not those of the start, whose other neighbours wait."""
    queue = Neighbourhood({"a": 5, "b": 5}, single_steps)
    queue.claim({"a": 5, "b": 5})
    queue.look_near({"a": 5, "b": 5}, 100.0)
    queue.look_near({"a": 6, "b": 5}, 10.0)
    assert next(queue) == {"a": 7, "b": 5}


def test_it_ends_when_nothing_better_comes() -> None:
    """After the patience and all single changes of the fastest, not before; improvements too small do not count."""
    flat = {(a, b): 50.0 - 0.0001 * (a + b) for a in range(10) for b in range(10)}
    seen, queue = search({"a": 5, "b": 5}, flat)
    assert queue.settled
    assert neighbourhood.PATIENCE <= len(seen) <= neighbourhood.PATIENCE + 4


def test_small_spaces_are_looked_at_whole() -> None:
    """Where there is less than the patience."""
    queue = Neighbourhood({"a": 0}, lambda config: [{"a": 1}] if config["a"] == 0 else [{"a": 0}])
    queue.claim({"a": 0})
    assert list(queue) == [{"a": 1}]
    assert not queue.settled


def test_all_single_changes_of_the_fastest_are_looked_at_before_it_ends() -> None:
    """However many changes of two knobs come before them."""
    pairs = [{"a": n, "b": n} for n in range(1, 60)]
    singles = [{"c": n} for n in range(1, 6)]
    queue = Neighbourhood({"a": 0, "b": 0, "c": 0}, lambda config: [*pairs, *singles] if not config["c"] else [])
    queue.claim({"a": 0, "b": 0, "c": 0})
    queue.look_near({"a": 0, "b": 0, "c": 0}, 10.0)
    seen = list(queue)
    assert {config["c"] for config in seen if not config["a"]} == {1, 2, 3, 4, 5}
    assert queue.settled
    assert len(seen) == neighbourhood.PATIENCE + len(singles)


def test_what_is_far_comes_between_neighbours_and_before_the_end() -> None:
    """One in three while there are any; the search goes on from them where they are better."""
    seeds = [{"a": 9, "b": n} for n in range(10)]
    queue = Neighbourhood({"a": 0, "b": 0}, single_steps, seeds=seeds)
    queue.claim({"a": 0, "b": 0})
    queue.look_near({"a": 0, "b": 0}, 10.0)
    first = [next(queue) for _ in range(4)]
    assert [config for config in first if config in seeds] == seeds[:2]
    assert (first[0], first[3]) == (seeds[0], seeds[1])
    rest = list(queue)
    assert all(seed in [*first, *rest] for seed in seeds)


def test_so_many_and_no_more() -> None:
    """Then none is left to be given out."""
    queue = Neighbourhood({"a": 0, "b": 0}, single_steps, seeds=[{"a": 9, "b": 9}], most=3)
    queue.claim({"a": 0, "b": 0})
    queue.look_near({"a": 0, "b": 0}, 10.0)
    assert len(list(queue)) == 3
    queue.look_near({"a": 5, "b": 0}, 1.0)
    assert (list(queue), len(queue)) == ([], 0)
    assert queue.left > 0


def test_a_better_one_that_comes_late_goes_on() -> None:
    """Answers may come after everything that was worth it was given out: then there is more."""
    queue = Neighbourhood({"a": 0}, lambda config: [{"a": config["a"] + step} for step in range(1, 60)])
    queue.claim({"a": 0})
    queue.look_near({"a": 0}, 10.0)
    first = list(queue)
    assert queue.settled
    queue.look_near({"a": 5}, 10.0)
    assert queue.settled, "no better than what was known"
    queue.look_near({"a": 100}, 5.0)
    assert not queue.settled
    assert next(queue) == {"a": 101}
    assert {"a": 101} not in first
