"""The queue against looking at every combination, and what is asked of a kernel's ``legal``."""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.tuning.order import Queue, identity
from kprof.tuning.pruning import Pruned
from kprof.tuning.space import Space
from kprof.tuning.watched_knobs import Watched, decisive

KNOBS = {"BLOCK_M": (16, 32, 64), "BLOCK_N": (16, 32), "num_warps": (2, 4), "GROUP": (1, 2, 4), "XCDS": (1, 8)}
BASE = {"BLOCK_M": 32, "GROUP": 2, "XCDS": 8, "num_stages": 2, "OTHER": True}


def legal(rules: list[tuple[str, str, int]]) -> Callable[[Mapping[str, Any]], str | None]:
    """A function that looks at knobs in order and stops at the first rule that is broken."""

    def ask(config: Mapping[str, Any]) -> str | None:
        for left, right, limit in rules:
            if config[left] * config[right] > limit:
                return f"{left} x {right}"
        return None

    return ask


RULES = st.lists(
    st.tuples(st.sampled_from(sorted(KNOBS)), st.sampled_from(sorted(KNOBS)), st.integers(4, 4096)), max_size=3
)


@given(rules=RULES)
def test_every_legal_configuration_once(rules: list[tuple[str, str, int]]) -> None:
    """What comes out, and what is counted as pruned, is what trying all combinations gives."""
    ask, pruned = legal(rules), Pruned()
    queue = Queue(Space("s", KNOBS), BASE, ask, lambda c: c["BLOCK_M"] * c["BLOCK_N"], pruned)
    every = [{**BASE, **dict(zip(KNOBS, values, strict=True))} for values in product(*KNOBS.values())]
    expected = {identity(config) for config in every if ask(config) is None}

    given_out = [identity(config) for config in queue]

    assert len(given_out) == len(set(given_out)) == queue.size == len(expected)
    assert set(given_out) == expected
    assert pruned.total == len(every) - len(expected)


def test_the_cheapest_first_and_defaults_before_others() -> None:
    """The cost orders; among knobs that it ignores, the kernel's own values come first."""
    queue = Queue(Space("s", KNOBS), BASE, lambda _: None, lambda c: float(c["BLOCK_M"] * c["BLOCK_N"]), Pruned())

    first = next(queue)

    assert (first["BLOCK_M"], first["BLOCK_N"], first["GROUP"], first["XCDS"]) == (16, 16, 2, 8)
    assert first["OTHER"] is True


def test_neighbours_of_a_good_one_come_soon() -> None:
    """One knob away, legal, and not given out twice."""
    ask = legal([("BLOCK_M", "BLOCK_M", 32 * 32)])
    queue = Queue(Space("s", KNOBS), BASE, ask, lambda c: float(c["BLOCK_N"]), Pruned())
    good = {**BASE, "BLOCK_M": 32, "BLOCK_N": 32, "num_warps": 4, "GROUP": 4, "XCDS": 1}
    queue.look_near(good, 1.0)

    soon = [next(queue) for _ in range(10)]

    near = [{n for n in KNOBS if config[n] != good[n]} for config in soon]
    assert all({name} in near for name in ("BLOCK_M", "BLOCK_N", "num_warps"))
    assert {"GROUP"} in near or {"XCDS"} in near
    assert all(config["BLOCK_M"] <= 32 for config in soon)


def test_different_tiles_come_before_variants_of_one() -> None:
    """Of costs that are alike, each tile is seen once before any is seen twice, and the tiles are counted."""
    knobs = {**KNOBS, "num_stages": (1, 2, 3)}
    queue = Queue(Space("s", knobs), BASE, lambda _: None, lambda c: 100 + c["BLOCK_M"] / 100, Pruned())

    first = [next(queue) for _ in range(queue.tiles)]

    tiles = {(c["BLOCK_M"], c["BLOCK_N"], c["num_warps"]) for c in first}
    assert len(tiles) == queue.tiles == 12
    assert {c["num_stages"] for c in first} == {2}


def test_the_neighbours_of_the_fastest_come_first() -> None:
    """What was found later but is faster is looked around before what was found earlier."""
    queue = Queue(Space("s", KNOBS), BASE, lambda _: None, lambda _: 1.0, Pruned())
    queue.look_near({**BASE, "BLOCK_M": 16, "BLOCK_N": 16, "num_warps": 2, "XCDS": 1}, 9.0)
    queue.look_near({**BASE, "BLOCK_M": 64, "BLOCK_N": 32, "num_warps": 4, "XCDS": 1}, 3.0)

    first = next(queue)

    assert sum(first[n] != v for n, v in {"BLOCK_M": 64, "BLOCK_N": 32, "num_warps": 4}.items()) == 1


def test_a_list_is_ordered_too() -> None:
    """Listed configurations are completed with the kernel's own knobs, and sorted by cost."""
    listed = ({"BLOCK_M": 64}, {"BLOCK_M": 16}, {"BLOCK_M": 128})
    pruned = Pruned()
    ask = legal([("BLOCK_M", "BLOCK_M", 64 * 64)])
    queue = Queue(Space("s", listed=listed), BASE, ask, lambda c: float(c["BLOCK_M"]), pruned)

    assert [config["BLOCK_M"] for config in queue] == [16, 64]
    assert pruned.reasons == {"BLOCK_M x BLOCK_M": 1}


def test_only_what_is_read_decides() -> None:
    """A function's answer depends on the knobs that it reads on some path; reading all of them is seen too."""
    assert decisive(legal([("BLOCK_M", "num_warps", 64)]), KNOBS, BASE) == {"BLOCK_M", "num_warps"}
    assert decisive(lambda c: None if {**c} else "x", KNOBS, BASE) == set(KNOBS)
    assert decisive(lambda c: c.get("nothing"), KNOBS, BASE) == set()
    assert "XCDS" in Watched({"XCDS": 1})


def test_too_many_questions_are_refused() -> None:
    """A rule over many long lists would be asked for hours."""
    knobs = {f"K{i}": tuple(range(100)) for i in range(4)}

    with pytest.raises(KprofError, match="100,000,000 combinations"):
        decisive(lambda c: None if sum(c[f"K{i}"] for i in range(4)) else "x", knobs, {})
