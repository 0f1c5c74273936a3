"""What a search found for a kernel stands on its first screen from then on."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from kprof.diffing.reading import read_report
from kprof.output.terminal import terminal
from kprof.reporters.console import ConsoleReporter
from kprof.tuning.known_advice import recall, remember
from tests.reporters.test_screens import SCREENS, screen


@dataclass
class _Measure:
    vgpr_spills: int


@dataclass
class _Trial:
    """What is kept of a trial."""

    time_us: float | None
    measure: _Measure
    report: Any = None
    change: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Trials:
    start: _Trial
    best: list[_Trial]
    told_apart: bool = True
    ranked_by: str = "time"


@pytest.fixture
def report(monkeypatch, tmp_path):
    """The README's kernel, and an empty cache."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))
    return read_report(SCREENS / "flash_attention.json")


def trials(kernel, **changed):
    """443 spilled VGPRs to none, 3.82 ms to 784 µs."""
    start = _Trial(3820.0, _Measure(443), kernel)
    best = _Trial(784.0, _Measure(0), None, {"BLOCK_N": 32}, {"BLOCK_M": 128, "BLOCK_N": 32, "num_warps": 4})
    return _Trials(**{"start": start, "best": [best], **changed})


@pytest.mark.parametrize("width", [80, 120])
def test_the_best_verified_change_is_the_second_thing(report, monkeypatch, width):
    """Below the verdict, with the line to paste."""
    (kernel,) = report.kernels
    remember(trials(kernel))
    text = screen(monkeypatch, width, lambda: ConsoleReporter(terminal()).show(report))
    verdict, rest = text.split("better, compiled by kprof advise: ")
    assert verdict.startswith("flash_attention on gfx942: 3.82 ms (model)")
    assert "KP301" not in verdict
    shown, paste = rest.split("\n  triton.Config(", 1)
    assert " ".join(shown.split()) == "BLOCK_N=32: 3.82 ms → 784 µs (model), 443 → 0 spilled VGPRs"
    assert paste.splitlines()[0].startswith("{'BLOCK_M': 128, 'BLOCK_N': 32}, num_warps=4)")


def test_other_code_or_another_launch_is_another_kernel(report):
    """Nothing that was found for what the kernel was before."""
    (kernel,) = report.kernels
    remember(trials(kernel))
    assert recall(kernel).best_us == 784.0
    assert recall(msgspec.structs.replace(kernel, compile_seconds=9.0, cached=False)) is not None
    assert recall(msgspec.structs.replace(kernel, launch={**(kernel.launch or {}), "grid": [1, 1, 1]})) is None
    resources = msgspec.structs.replace(kernel.resources, vgpr=1)
    assert recall(msgspec.structs.replace(kernel, resources=resources)) is None


@pytest.mark.parametrize(
    "changed",
    [{"best": []}, {"told_apart": False}, {"ranked_by": "resources"}],
    ids=["none", "not told apart", "no time"],
)
def test_what_is_no_answer_is_not_kept(report, changed):
    (kernel,) = report.kernels
    remember(trials(kernel, **changed))
    assert recall(kernel) is None
