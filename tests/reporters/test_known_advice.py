"""What a search found for a kernel stands in its report from then on, and so wherever one is shown."""

import json
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

import kprof
from kprof.api.live.answers import Analyzed
from kprof.api.live.editor import pasteable, remarks
from kprof.api.live.mcp_server import text as in_words
from kprof.api.live.questions import kernel_answer
from kprof.api.live.view.application import words as said_on_the_page
from kprof.api.result import ReportResult
from kprof.diffing.reading import read_report
from kprof.output.terminal import terminal
from kprof.reporters.console import ConsoleReporter
from kprof.reporters.html import HtmlReporter
from kprof.tuning.known_advice import remember, with_advice
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


BETTER = "better, compiled by kprof advise: BLOCK_N=32: 3.82 ms → 784 µs (model), 443 → 0 spilled VGPRs"
PASTE = "triton.Config({'BLOCK_M': 128, 'BLOCK_N': 32}, num_warps=4)"


@pytest.fixture
def advised(report):
    """The report of the kernel after a search."""
    (kernel,) = report.kernels
    remember(trials(kernel))
    return msgspec.structs.replace(report, kernels=[with_advice(kernel)])


@pytest.mark.parametrize("width", [80, 120])
def test_the_best_verified_change_is_the_second_thing(advised, monkeypatch, width):
    """Below the verdict, with the line to paste."""
    text = screen(monkeypatch, width, lambda: ConsoleReporter(terminal()).show(advised))
    verdict, rest = text.split("better, compiled by kprof advise: ")
    assert verdict.startswith("flash_attention on gfx942 (MI300X assumed): 3.82 ms predicted (likely ")
    assert "KP301" not in verdict
    shown, paste = rest.split("\n  triton.Config(", 1)
    assert " ".join(shown.split()) == "BLOCK_N=32: 3.82 ms → 784 µs (model), 443 → 0 spilled VGPRs"
    assert paste.splitlines()[0].startswith("{'BLOCK_M': 128, 'BLOCK_N': 32}, num_warps=4)")


def test_the_document_has_it(advised):
    """JSON, a page and a notebook tell the same."""
    result = ReportResult(advised)
    (told,) = json.loads(result.to_json())["kernels"]
    assert told["advised"] == {
        "change": {"BLOCK_N": 32},
        "config": {"BLOCK_M": 128, "BLOCK_N": 32, "num_warps": 4},
        "code": PASTE,
        "start_us": 3820.0,
        "best_us": 784.0,
        "start_spills": 443,
        "best_spills": 0,
    }
    for page in (HtmlReporter({}, {}).render(advised), result._repr_html_()):
        assert BETTER in page
        assert PASTE in unescape(page)


def test_editors_and_agents_have_it(advised):
    """The diagnostic of the kernel says it, its code action pastes it; an agent's answer has change and words."""
    (kernel,) = json.loads(ReportResult(advised).to_json())["kernels"]
    whole, *_ = remarks(kernel, "kernel.py")
    assert whole.message.endswith(f"\n{BETTER}")
    assert pasteable(kernel["advised"]).code == f"{PASTE}  # {BETTER}"
    answer = kernel_answer(kernel)
    assert (answer.better.change, answer.better.best_us) == ({"BLOCK_N": 32}, 784.0)
    assert f"  {BETTER}\n" in in_words(Analyzed("one", [answer]))
    assert said_on_the_page({"kernels": [kernel]})[0]["better"] == BETTER


def test_a_switch_of_the_environment_is_not_pasted_into_python(advised):
    (kernel,) = json.loads(ReportResult(advised).to_json())["kernels"]
    code = pasteable({**kernel["advised"], "code": f"AMDGCN_USE_BUFFER_OPS=0\n{PASTE}"}).code
    assert code == f"{PASTE}  # {BETTER}; with AMDGCN_USE_BUFFER_OPS=0"


def test_other_code_or_another_launch_is_another_kernel(report):
    """Nothing that was found for what the kernel was before."""
    (kernel,) = report.kernels
    remember(trials(kernel))
    changed = msgspec.structs.replace
    assert with_advice(kernel).advised.best_us == 784.0
    assert with_advice(changed(kernel, compile_seconds=9.0, cached=False)).advised is not UNSET
    assert with_advice(changed(kernel, launch={**(kernel.launch or {}), "grid": [1, 1, 1]})).advised is UNSET
    assert with_advice(changed(kernel, resources=changed(kernel.resources, vgpr=1))).advised is UNSET


@pytest.mark.parametrize(
    "changed",
    [{"best": []}, {"told_apart": False}, {"ranked_by": "resources"}],
    ids=["none", "not told apart", "no time"],
)
def test_what_is_no_answer_is_not_kept(report, changed):
    (kernel,) = report.kernels
    remember(trials(kernel, **changed))
    assert with_advice(kernel).advised is UNSET


@pytest.mark.triton
def test_from_the_search_to_the_next_look(tmp_path, monkeypatch):
    """What is kept of a search's own start is found for the same target, also by a session that has answered before.

    The start is the best that there is, so that the search itself keeps nothing.
    """
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))
    target = {"target": "softmax", "arch": "MI300X", "config": {"BLOCK": 2048, "num_warps": 1}}
    with kprof.Session(jobs=1) as session:
        (before,) = session.ask("report", **target)["kernels"]
        assert "advised" not in before
        searched = kprof.advise(**target, budget=1).trials
        remember(trials(searched.start.report))
        session.ask("advise", **target, budget=1)
        (after,) = session.ask("report", **target)["kernels"]
        assert after["advised"]["config"] == {"BLOCK_M": 128, "BLOCK_N": 32, "num_warps": 4}
    for programs in (True, False):
        (kernel,) = kprof.analyze(
            "softmax", arch="MI300X", config={"BLOCK": 2048, "num_warps": 1}, keep_programs=programs
        ).kernels
        assert kernel.advised.code == PASTE
