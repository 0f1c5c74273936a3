"""Advice for recorded kernels, from the capture to what is written."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import kprof
from kprof.errors import TargetError
from kprof.tuning.recorded.advise import AdvisedKernel, advise

pytestmark = pytest.mark.triton


def test_tiles_of_a_recorded_product(tiles: Path, at_most: Callable[[int], None]) -> None:
    """Each configuration is one that the program can launch, compiled; none is slower than what is recommended."""
    told: list[str] = []
    at_most(16)
    found = kprof.advise(f"{tiles}::product", budget=60, jobs=2, tell=told.append)
    (kernel,) = found.kernels
    assert found.trials is not None
    assert kernel.how == "compiler options, and tiles as the program launches them"
    assert "tiles.py again" in told[0]
    tried = {name for trial in found.trials.all for name in trial.change}
    assert tried & {"BLOCK_M", "BLOCK_N", "BLOCK_K"}
    assert not tried & {"K"}
    times = [trial.time_us for trial in found.trials.all if trial.time_us is not None]
    if found.trials.best:
        assert found.trials.best[0].time_us is not None
        assert found.trials.best[0].time_us <= 1.01 * min(times)
        assert kernel.answer is not None
        assert "tiles.py:" in kernel.answer.place
    assert found.document["kernel"] == "product"
    assert found.document["how"] == kernel.how


def test_without_its_program_only_options_change(tiles: Path, at_most: Callable[[int], None]) -> None:
    """Which the first line says."""
    at_most(12)
    found = kprof.advise(f"{tiles}::fixed", budget=20, jobs=2, run=False)
    assert found.trials is not None
    assert {name for trial in found.trials.all for name in trial.change} <= {
        "num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack",
        "AMDGCN_USE_BUFFER_OPS", "TRITON_HIP_USE_ASYNC_COPY", "TRITON_HIP_USE_BLOCK_PINGPONG",
    }  # fmt: skip
    assert "compiler options only: the program is not run" in found.summary


def test_a_recorded_kernel_is_tuned(tiles: Path) -> None:
    """Over the compiler's options where its program is not run; what is held stays."""
    held = {"waves_per_eu": 0, "kpack": 1, "matrix_instr_nonkdim": 0, "num_stages": 1}
    found = kprof.tune(f"{tiles}::partial", config=held, budget=60, jobs=2, run=False)
    (problem,) = found.problems
    configs = [config for one in problem.ranking for config in (one.config, *one.alike)]
    assert {config["num_warps"] for config in configs} == {2, 4, 8}
    assert {config["BLOCK_N"] for config in configs} == {256}
    assert all(config[name] == value for config in configs for name, value in held.items())
    assert "compiler options only: the program is not run" in found.document.space.notes
    assert found.answer is not None
    assert "tiles.py:" in found.answer.place


def test_what_a_capture_cannot_use_is_refused(tiles: Path) -> None:
    """Sizes are in the launch."""
    with pytest.raises(TargetError, match="does not use --shape"):
        kprof.advise(str(tiles), shape={"M": 3})
    with pytest.raises(TargetError, match="does not use --shape"):
        kprof.tune(f"{tiles}::fixed", shape={"M": 3})
    with pytest.raises(TargetError, match="the target holds 4 kernels"):
        kprof.tune(str(tiles))


def test_several_kernels_have_one_verdict(tiles: Path) -> None:
    """Each with its own answer in the document."""
    from kprof.reporters.recorded_text import verdict

    kernel = AdvisedKernel(f"{tiles}::fixed", "fixed", 1, "compiler options only: its program is gone")
    assert verdict([kernel, replace(kernel, name="other")]) == (
        "0 of 2 kernels get faster with other knobs (compiler options only: its program is gone)"
    )


def test_of_several_kernels_those_that_matter_are_searched_in_one_run_of_the_program(
    tiles: Path, at_most: Callable[[int], None]
) -> None:
    """Each with tiles; told are the run, what is left out and what is under way."""
    at_most(6)
    told: list[str] = []
    kernels = list(advise(str(tiles), arch="gfx942", jobs=2, tell=told.append))
    assert [kernel.name for kernel in kernels] == ["tuned", "partial", "fixed", "product"]
    assert {kernel.how for kernel in kernels} == {"compiler options, and tiles as the program launches them"}
    assert all(kernel.trials is not None and kernel.trials.tried for kernel in kernels)
    (ran,) = [text for text in told if text.startswith("running ")]
    assert ran.endswith("again, up to the launches of 4 kernels")
    assert sum(text.startswith("searching configurations of ") for text in told) == 4
