"""The page that compares bundled kernels with AITER's operators: complete, and what its script writes."""

import sys
from pathlib import Path
from typing import Any

import pytest

from kprof.targets.library import bundled

ROOT = Path(__file__).parents[2]


@pytest.fixture(name="script", scope="module")
def _script() -> Any:
    sys.path.insert(0, str(ROOT / "validation"))
    try:
        import parity
    finally:
        sys.path.remove(str(ROOT / "validation"))
    return parity


def test_the_page_is_what_the_script_writes(script: Any) -> None:
    """From the results beside it, without AITER."""
    text = script.page(script.read(), sorted(bundled()))

    assert script.PAGE.read_text(encoding="utf-8") == text, "python validation/parity.py --page"


def test_nothing_is_left_out(script: Any) -> None:
    """Each bundled kernel is compared or has its reason, and each row has a ratio or says why not."""
    rows = {f"{pair} | {case} | {gpu}" for pair, case, gpu in script.keys(list(script.PAIRS), script.GPUS)}

    assert sorted({*map(script.kernel_of, script.PAIRS), *script.ALONE}) == sorted(bundled())
    assert set(script.read()) == rows
    for row in script.rows_of(script.read()):
        assert row.why or row.ratio > 0, row.place


def test_slower_rows_have_reasons(script: Any) -> None:
    """And no row has a reason that needs none."""
    rows = [row for row in script.rows_of(script.read()) if not row.why]
    slower = {(row.pair, row.case, row.gpu) for row in rows if row.ratio > script.LIMIT}

    assert slower == {place for place in slower if script.reason(*place)}
    assert all(any(script.matches(place, one) for one in slower) for place in script.REASONS)


def test_rows_are_of_the_configurations_that_are_shipped(script: Any) -> None:
    """A default that was changed has to be predicted again, for which AITER is not needed."""
    for row in script.rows_of(script.read()):
        kernel, config = script.kernel_of(row.pair), row.found["ours"].get("config")
        assert config is None or config == script.shipped(kernel, row.case, row.gpu), (
            f"{kernel} ships another configuration for {row.case} on an {row.gpu} than the page has: "
            f"python validation/parity.py --ours --only {row.pair}"
        )
