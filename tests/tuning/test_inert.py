"""Knobs that need no compile, learnt from those that were compiled."""

from itertools import product
from typing import Any

import pytest

from kprof.tuning.evaluation import Evaluation
from kprof.tuning.inert import ENOUGH, Inert

KNOBS = {
    "BLOCK_M": (32, 64, 128, 256),
    "GROUP_M": (1, 2, 4),
    "waves_per_eu": (0, 2, 4),
    "num_stages": (1, 2),
    "kpack": (1, 2),
}


def scored(time: float, waves: float = 8.0, **config: Any) -> Evaluation:
    """A compiled configuration."""
    own = {"BLOCK_M": 64, "GROUP_M": 1, "waves_per_eu": 0, "num_stages": 2, **config}
    resources = {"vgpr_spills": 0, "lds_bytes": 1024, "waves_per_simd": waves, "num_warps": 4}
    return Evaluation(
        own, time_us=time, low_us=0.8 * time, high_us=1.2 * time, bound="matrix", resources=resources, codes=("isa",)
    )


def test_two_values_count_as_one_when_enough_tiles_agree() -> None:
    """Not before; then of other tiles only one has to be compiled."""
    inert = Inert(KNOBS)
    for seen, tile in enumerate(KNOBS["BLOCK_M"][:ENOUGH]):
        assert inert.stand_in(scored(1.0, BLOCK_M=256, GROUP_M=2).config) is None, seen
        inert.learn(scored(100.0 + tile, BLOCK_M=tile, GROUP_M=1))
        inert.learn(scored(100.5 + tile, BLOCK_M=tile, GROUP_M=2))
    assert inert.knobs == ("GROUP_M",)
    assert inert.stand_in(scored(1.0, BLOCK_M=256, GROUP_M=2).config) is None, "nothing of this tile is known"
    known = scored(500.0, BLOCK_M=256, GROUP_M=1)
    inert.learn(known)
    assert inert.stand_in({**known.config, "GROUP_M": 2}) == known
    assert inert.stand_in({**known.config, "GROUP_M": 4}) is None
    assert inert.stand_in({**known.config, "num_stages": 1}) is None


def test_what_counts_as_one_with_a_third_counts_as_one() -> None:
    """1 with 2 and 2 with 4, and so 1 with 4."""
    inert = Inert(KNOBS)
    for tile, group in product(KNOBS["BLOCK_M"][:ENOUGH], (1, 2)):
        inert.learn(scored(tile, BLOCK_M=tile, GROUP_M=group))
    for tile, group in product(KNOBS["BLOCK_M"][1:], (2, 4)):
        inert.learn(scored(tile, BLOCK_M=tile, GROUP_M=group))
    found = inert.stand_in(scored(1.0, BLOCK_M=32, GROUP_M=4).config)
    assert found is not None
    assert found.config["BLOCK_M"] == 32


@pytest.mark.parametrize("other", [scored(102.0, GROUP_M=2), scored(100.0, waves=4.0, GROUP_M=2)])
def test_one_tile_that_differs_is_enough_against_it(other: Evaluation) -> None:
    """In its time by more than 1 %, or in what it needs."""
    inert = Inert(KNOBS)
    for tile, group in product((32, 128, 256), (1, 2)):
        inert.learn(scored(tile, BLOCK_M=tile, GROUP_M=group))
    assert inert.knobs == ("GROUP_M",)
    inert.learn(scored(100.0))
    inert.learn(other)
    assert inert.knobs == ()
    assert inert.stand_in(scored(1.0, BLOCK_M=32, GROUP_M=4).config) is None


def test_waves_that_the_registers_do_not_allow_say_nothing() -> None:
    """What asks for more wavefronts than there fit gets other registers; where they fit it is the same."""
    inert = Inert(KNOBS)
    for tile, eu in product((32, 64, 128), (0, 2, 4)):
        inert.learn(scored(tile, BLOCK_M=tile, waves_per_eu=eu))
    tight = scored(500.0, waves=3.0, BLOCK_M=256)
    inert.learn(tight)
    assert inert.stand_in({**tight.config, "waves_per_eu": 2}) == tight
    assert inert.stand_in({**tight.config, "waves_per_eu": 4}) is None
    inert.learn(scored(900.0, waves=4.0, BLOCK_M=256, waves_per_eu=4))
    assert "waves_per_eu" in inert.knobs


def test_knobs_of_the_loop_are_never_taken_for_inert() -> None:
    """Tiles, stages and how operands are packed, whatever their times."""
    inert = Inert(KNOBS)
    for tile, value in product(KNOBS["BLOCK_M"], (1, 2)):
        inert.learn(scored(10.0, BLOCK_M=tile, num_stages=value))
        inert.learn(scored(10.0, BLOCK_M=tile, kpack=value))
    assert inert.knobs == ()
    assert inert.stand_in(scored(1.0, BLOCK_M=512).config) is None
