"""Advice and tuning where a loop's bound is not known, of a launch whose grid follows the tile."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import kprof
from kprof.hardware.machine import find_product

pytestmark = pytest.mark.triton

ROOT = Path(__file__).resolve().parents[3]
ROWS = 8192


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture of ``rows.py``."""
    pytest.importorskip("triton")
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("rows")
    (folder / "rows.py").write_bytes((ROOT / "tests" / "recording" / "programs" / "rows.py").read_bytes())
    path = [str(ROOT), str(ROOT / "analyzers"), os.environ.get("PYTHONPATH", "")]
    ran = subprocess.run(
        [sys.executable, "-m", "kprof", "capture", "-o", "capture", "-j2", "--", sys.executable, "rows.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return folder / "capture"


def test_advice_is_by_cycles_an_element(rows: Path, at_most: Callable[[int], None]) -> None:
    """No time anywhere; with flushed caches no fewer cycles than an element's bytes take at the memory's peak."""
    at_most(16)
    found = kprof.advise(f"{rows}::sums", budget=60, jobs=2, condition="flushed")
    assert found.trials is not None
    assert found.trials.ranked_by == "cycles"
    assert "--value length=FILE.json" in found.trials.why
    every = [found.trials.start, *found.trials.all]
    assert all((one.time_us, one.low_us, one.high_us) == (None, None, None) for one in every)
    product = find_product("MI300X")
    assert product is not None
    assert product.clock_mhz is not None
    assert product.compute_units is not None
    a_cycle = 1e3 * (product.memory["hbm"].bandwidth_gbs or 0) / product.compute_units / product.clock_mhz
    least = ROWS / product.compute_units * 4 / a_cycle
    costs = [one.cost for one in every if one.cost is not None]
    assert costs
    assert min(costs) >= 0.9 * least
    assert any("BLOCK_M" in one.change for one in found.trials.all)
    assert "cycles per element of length" in found.summary


def test_the_order_is_that_of_a_long_extent(rows: Path, at_most: Callable[[int], None]) -> None:
    """With the longest extent that a row has there are times: what they tell apart is in the order of cycles.

    A longer one than the stride makes rows overlap, and the caches serve them.
    """
    at_most(16)
    by_cycles = kprof.advise(f"{rows}::sums", budget=40, jobs=2, condition="flushed").trials
    by_time = kprof.advise(f"{rows}::sums", budget=40, jobs=2, value={"length": 4096}, condition="flushed").trials
    assert by_cycles is not None
    assert by_time is not None
    assert by_time.ranked_by == "time"
    times = {repr(sorted(one.config.items())): one.time_us for one in by_time.all if one.time_us is not None}
    both = [(one.cost, times[key]) for one in by_cycles.all if (key := repr(sorted(one.config.items()))) in times]
    pairs = [(a, b) for i, a in enumerate(both) for b in both[:i] if abs(a[1] - b[1]) > 0.1 * min(a[1], b[1])]
    assert pairs
    right = sum(((a[0] or 0) < (b[0] or 0)) == (a[1] < b[1]) for a, b in pairs)
    assert right >= 0.9 * len(pairs)


def test_tuning_says_the_same(rows: Path) -> None:
    """Cycles in the ranking, no time in the document."""
    held = {"waves_per_eu": 0, "kpack": 1, "matrix_instr_nonkdim": 0, "num_stages": 1}
    found = kprof.tune(f"{rows}::sums", config=held, budget=60, jobs=2, run=False)
    (problem,) = found.problems
    assert problem.ranking
    assert all(one.time_us is None and one.axis == "length" for one in problem.ranking)
    costs = [one.cost for one in problem.ranking]
    assert costs == sorted(costs)
    assert any("--value length=FILE.json" in said for said in problem.assumptions)
