"""Advice by predicted time, with a kernel and times that are made up."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.tuning.evaluation import Evaluation
from kprof.tuning.trials import Trials
from kprof.tuning.trials.climb import _trial, preferred

BASE = {"BLOCK_M": 128, "num_warps": 4, "kpack": 1}


def trial(time: float | None, **change: Any) -> Evaluation:
    return Evaluation({**BASE, **change}, change, time_us=time)


def scored(config: Mapping[str, Any], *alike: Mapping[str, Any]) -> Evaluation:
    return Evaluation(
        config,
        time_us=10.0,
        low_us=8.0,
        high_us=12.0,
        bound="matrix",
        codes=("isa",),
        parts={"reduce": 2.0},
        alike=alike,
    )


def test_of_configurations_hardly_apart_the_one_with_fewest_changes_comes_first() -> None:
    """Within 1 %; beyond it the fastest."""
    near = [trial(100.0, BLOCK_M=64, num_warps=8), trial(100.9, BLOCK_M=64), trial(120.0, num_warps=8)]
    assert [one.time_us for one in preferred(near)] == [100.9, 100.0, 120.0]
    far = [trial(100.0, BLOCK_M=64, num_warps=8), trial(101.1, BLOCK_M=64)]
    assert [one.time_us for one in preferred(far)] == [100.0, 101.1]


@given(st.lists(st.tuples(st.floats(1, 1e6), st.integers(0, 3)), max_size=12))
def test_the_first_is_never_more_than_a_hundredth_off_the_fastest(times: list[tuple[float, int]]) -> None:
    """And nothing is lost."""
    ranked = sorted((trial(time, **{f"k{n}": n for n in range(count)}) for time, count in times),
                    key=lambda one: one.time_us or 0.0)  # fmt: skip
    found = preferred(ranked)
    assert sorted(map(id, found)) == sorted(map(id, ranked))
    if found:
        assert found[0].time_us <= 1.01 * ranked[0].time_us


def test_of_configurations_that_are_one_program_the_smallest_change_is_told() -> None:
    """With its time, its range and what is launched beside it."""
    found = _trial(BASE, scored({**BASE, "kpack": 2, "num_warps": 8}, {**BASE, "num_warps": 8}))
    assert found.change == {"num_warps": 8}
    assert (found.time_us, found.low_us, found.high_us, found.parts) == (10.0, 8.0, 12.0, {"reduce": 2.0})


@pytest.mark.parametrize(("after", "apart"), [(96.0, False), (88.0, True)])
def test_a_gain_that_the_model_cannot_tell_is_said_to_be_none(after: float, apart: bool) -> None:
    """Predicted times have to differ by what the page finds three of four pairs right from."""
    found = Trials(trial(100.0), (trial(after, BLOCK_M=64),), tried=1, ranked_by="time")
    assert found.gain == pytest.approx(100 / after)
    assert found.told_apart is apart


def test_without_predictions_there_is_no_gain() -> None:
    """Resources tell no time."""
    found = Trials(trial(None), (trial(None, BLOCK_M=64),), tried=1)
    assert found.gain is None
    assert not found.told_apart
    assert Trials(trial(5.0), (), tried=0).gain is None


@pytest.mark.triton
def test_reduction_of_split_products_counts() -> None:
    """A configuration that splits K launches its reduction too, and its time is part of the answer."""
    pytest.importorskip("triton")
    from kprof.hardware.machine import load
    from kprof.options.groups import CompileOptions
    from kprof.targets.library import load as load_kernel
    from kprof.tuning.trials import advise

    shape = {"M": 64, "N": 256, "K": 8192}
    config = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "SPLIT_K": 8}
    trials = advise(load_kernel("gemm"), load("gfx942"), CompileOptions(shape=shape, config=config, jobs=2), budget=1)
    parts = trials.start.parts
    assert parts
    assert 0 < sum(parts.values()) < trials.start.time_us


@pytest.mark.triton
def test_the_kernels_own_configurations_are_looked_at_from_everywhere() -> None:
    """With the starting point's switches, each legal, and then tiles of its space that look cheap."""
    from kprof.hardware.machine import load
    from kprof.targets.library import load as load_kernel
    from kprof.tuning.trials.climb import CHEAPEST, seeds

    kernel, machine = load_kernel("gemm"), load("gfx942")
    problem = kernel.problem("gfx942", None, {"M": 4096, "N": 4096, "K": 4096})
    start = {**kernel.configure("gfx942", {"BLOCK_M": 32, "kpack": 2}, problem), "AMDGCN_USE_BUFFER_OPS": "0"}
    found = seeds(kernel, machine, problem, start, lambda config: 1e6 / (config["BLOCK_M"] * config["BLOCK_N"]))
    own = kernel.configure("gfx942", None, problem)
    assert found[0] == {**own, "kpack": 2, "AMDGCN_USE_BUFFER_OPS": "0"}
    assert all(config["AMDGCN_USE_BUFFER_OPS"] == "0" for config in found)
    assert all(kernel.legal(problem, config, "gfx942") is None for config in found)
    for place, listed in enumerate(kernel.configs, start=1):
        assert {**found[place], **listed} == found[place]
    assert len(found) == 1 + len(kernel.configs) + CHEAPEST


def test_advice_says_how_certain_it_is_and_what_to_measure() -> None:
    """The share of the page for the best trial, and which ones only the GPU can tell apart."""
    near = Trials(trial(100.0), (trial(80.0, BLOCK_M=64), trial(82.0, BLOCK_M=32)), tried=2, ranked_by="time")
    assert near.told_apart
    assert [one.change for one in near.to_measure] == [{"BLOCK_M": 64}, {"BLOCK_M": 32}]
    alone = Trials(trial(100.0), (trial(80.0, BLOCK_M=64), trial(95.0, BLOCK_M=32)), tried=2, ranked_by="time")
    assert alone.to_measure == ()
    tie = Trials(trial(100.0), (trial(96.0, BLOCK_M=64),), tried=1, ranked_by="time")
    assert [one.change for one in tie.to_measure] == [{"BLOCK_M": 64}, {}]
