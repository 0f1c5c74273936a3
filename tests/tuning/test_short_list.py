"""The short list has each tile once, and everything that was measured."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kprof.knobs import tile_names, tile_of
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.short_list import short_list, variants


def scored(time: float, **config: Any) -> Evaluation:
    """A program that takes so long."""
    return Evaluation(
        config, time_us=time, low_us=0.8 * time, high_us=1.2 * time, bound="matrix", codes=(repr(config),)
    )


def test_each_tile_once_then_variants() -> None:
    """Eight variants of the best tile do not fill the list; those left out are counted where they tie."""
    best = [scored(100 + 3.5 * n, BLOCK_M=256, num_warps=8, GROUP_M=n) for n in range(8)]
    others = [scored(150.0, BLOCK_M=128, num_warps=8, GROUP_M=1), scored(160.0, BLOCK_M=128, num_warps=4, GROUP_M=1)]
    ranked = [*best, *others]

    assert short_list(ranked, 3) == [0, 8, 9]
    assert short_list(ranked, 5) == [0, 1, 2, 8, 9]
    assert variants(ranked, 0, [0, 8, 9]) == 3
    assert variants(ranked, 8, [0, 8, 9]) == 0


def test_what_was_measured_is_the_list() -> None:
    """Wrong results, too, in the order that measuring gave."""
    ranked = [scored(float(n), BLOCK_M=2**n) for n in range(1, 6)]
    ranked[0] = replace(ranked[0], measured_ms=1.0)
    ranked[1] = replace(ranked[1], note="wrong: off by 3")

    assert short_list(ranked, 4) == [0, 1]


@given(times=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), max_size=20), top=st.integers(1, 25))
def test_the_list_is_part_of_the_ranking(times: list[tuple[int, int]], top: int) -> None:
    """In order, without repeats, as long as it may be, and no tile is missing while another stands twice."""
    ranked = [scored(float(i), BLOCK_M=16 * m, GROUP_M=g) for i, (m, g) in enumerate(times, 1)]

    chosen = short_list(ranked, top)

    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(top, len(ranked))
    assert chosen[:1] == [0][: len(ranked)]
    tiles = [tile_of(ranked[place].config) for place in chosen]
    if len(set(tiles)) < len(tiles):
        assert set(tiles) == {tile_of(one.config) for one in ranked}


def test_a_tile_is_blocks_and_wavefronts() -> None:
    """By the names that kernels use; the rest is finer."""
    names = ("BM", "BLOCK_SIZE_K", "GROUP_SIZE_M", "SPLIT_K", "num_warps", "num_stages", "TILE", "kpack")

    assert tile_names(names) == ("BM", "BLOCK_SIZE_K", "num_warps", "TILE")
    assert tile_of({"GROUP": 3}) == ()
