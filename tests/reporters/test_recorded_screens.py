"""First screens of the commands that compile, at 80 and 120 columns: what they show of results that were kept.

Each command runs as it is; only the call that compiles is answered from ``screens/recorded``, so that no screen
depends on the Triton that is installed, on the machine's speed or on what its cache has.
"""

import json
import re
import sys
from typing import Any

import msgspec
import pytest

from kprof.api.advise import Advised
from kprof.api.analyze import Analysis
from kprof.api.check import CheckResult
from kprof.api.diff import Comparison, diff
from kprof.api.live.answers import OracleAnswer
from kprof.api.live.watch import Update
from kprof.api.measure import Measurements
from kprof.api.profile import Profile
from kprof.api.record import Recorded
from kprof.api.result import ReportResult
from kprof.api.tune import Tuned
from kprof.api.validate import Validation
from kprof.bench.document import BenchReport, Device, Error, MachinePeaks, Measurement, Timing
from kprof.captures.reader import read
from kprof.diffing.document import Diff
from kprof.diffing.reading import read_report
from kprof.errors import CompileError
from kprof.recording.command import Ended
from kprof.tuning.document import TuneReport
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.recorded.advise import AdvisedKernel
from kprof.tuning.recorded.answer import Answer
from kprof.tuning.trials.measure import Measure
from kprof.tuning.trials.trial import Trials
from kprof_analyzers.whole_step.document import ProfileDocument
from tests.reporters.test_screens import MNEMONIC, SCREENS, held, proper, run, screen

RECORDED = SCREENS / "recorded"


def kept(name: str) -> Any:
    """A document as JSON values."""
    return json.loads((RECORDED / f"{name}.json").read_text())


def document(name: str, kind: type) -> Any:
    """A document as the command has it."""
    return msgspec.json.decode((RECORDED / f"{name}.json").read_bytes(), type=kind)


def _trial(entry: dict[str, Any], report: Any = None) -> Evaluation:
    names = ("change", "config", "error", "time_us", "low_us", "high_us", "parts")
    measure = msgspec.convert(entry["measure"], Measure, strict=False)
    return Evaluation(**{name: entry[name] for name in names}, report=report, measure=measure)


def _trials(name: str, report: Any) -> Trials:
    """What ``kprof advise`` found, from its document."""
    found = kept(name)
    numbers = {key: found[key] for key in ("tried", "ranked_by", "why", "failed", "left", "settled", "seconds")}
    return Trials(_trial(found["start"], report), tuple(map(_trial, found["best"])), **numbers)


def advised() -> Advised:
    (start,) = read_report(SCREENS / "flash_attention.json").kernels
    return Advised(trials=_trials("advise", start))


def advised_of_a_program() -> Advised:
    (start,) = read_report(SCREENS / "flash_attention.json").kernels
    answer = Answer(
        "the launch at train.py:41", "BLOCK_M=128, BLOCK_N=64, num_warps=4", "BLOCK_M=128, BLOCK_N=32, num_warps=4"
    )
    trials = _trials("advise", start)
    unknown = AdvisedKernel(
        "capture::2", "scale", 3, "compiler options only: train.py changed", error="no time is known"
    )
    return Advised(kernels=[AdvisedKernel("capture::1", "attn_fwd", 12, "", trials, answer), unknown])


def updates():
    """A save that cures the spills, and one that does not compile."""
    first, second = (ReportResult(read_report(RECORDED / f"watch-{name}.json")) for name in ("old", "new"))
    yield Update(second, None, diff(first, second), first)
    why = CompileError("name 'totl' is not defined", path="softmax.py", place="line 41")
    yield Update(None, why, None, second)
    raise KeyboardInterrupt


def measured() -> Measurements:
    """Numbers that are made up: two providers, one of which has no memory for the second case."""
    limits = MachinePeaks(5300.0, {"fp16": 1307.4}, source={"memory_gbs": "published", "tflops": "published"})
    device = Device("AMD Instinct MI300X", "rocm", "gfx942", {"torch": "2.13.0", "triton": "3.9.0"}, 192 << 30, limits)
    right = [Error("out", [4096, 8192], 1e-3, 1e-4, 0.5, [3, 5], 1.0, 1.001, 1e-2, 1e-3, 0, 4096 * 8192)]

    def one(case: str, provider: str, ms: float, moved: float = 134.2) -> Measurement:
        timing = Timing(ms, 0.98 * ms, 1.05 * ms, 0.97 * ms, 100, "graph", 20, 3)
        return Measurement(
            "softmax", case, {}, provider, "ok", errors=right, timing=timing, gbs=moved / ms,
            percent=100 * moved / ms / 5300, bound="memory",
        )  # fmt: skip

    failed = Measurement("softmax", "rows_64k", {}, "torch", "out_of_memory", message="192 GiB are not enough")
    rows = [one("rows_8k", "triton", 0.0411), one("rows_8k", "torch", 0.0634), one("rows_64k", "triton", 0.331, 1073.7)]
    return Measurements(BenchReport("0.1.0", device, [*rows, failed]), "softmax")


SHOWN: dict[str, tuple[str, str, Any]] = {
    "advise": ("advise flash_attention --arch MI300X", "kprof.api.advise.advise", advised),
    "advise-program": ("advise -- python train.py", "kprof.api.advise.advise", advised_of_a_program),
    "tune": (
        "tune softmax --arch MI300X",
        "kprof.api.tune.tune",
        lambda: Tuned(document("tune", TuneReport)),
    ),
    "capture": (
        "capture -o recorded -- python train.py",
        "kprof.api.record.record",
        lambda: Recorded(read("capture"), Ended(0, interrupted=False, seconds=2.0)),
    ),
    "profile": (
        "profile --arch MI300X -- python train.py",
        "kprof.api.profile.profile",
        lambda: Profile(document("profile", ProfileDocument)),
    ),
    "validate": (
        "validate softmax --counters counters",
        "kprof.api.validate.validate",
        lambda: Validation(Analysis(read_report(RECORDED / "validate.json"))),
    ),
    "bench": ("bench softmax", "kprof.api.measure.measure", measured),
    "oracle": (
        "oracle right.py wrong.py --reference scale.py --arch MI300X",
        "kprof.api.oracle.oracle",
        lambda: msgspec.convert(kept("oracle")["answers"], list[OracleAnswer]),
    ),
    "analyze-watch": ("analyze softmax.py --watch", "kprof.api.live.watch.watch", updates),
    "check-captures": (
        "check",
        "kprof.api.check.check",
        lambda: CheckResult(read_report(RECORDED / "check.json")),
    ),
    "diff-programs": ("diff old new", "kprof.api.diff.diff", lambda: Comparison(document("programs", Diff))),
}
"""Screen to its command, the call that is answered, and with what."""

PASTED = re.compile(r"(?:\+ |- )?(?:triton\.Config|  triton\.Config)\(")
"""Lines that are there to be copied are as long as they are."""


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", SHOWN)
def test_first_screens_of_what_was_compiled(monkeypatch, capsys, name, width):
    """Each as it was read and found good; a clock is masked."""
    command, call, answer = SHOWN[name]
    monkeypatch.chdir(RECORDED)
    monkeypatch.setattr(call, lambda *_, **__: answer())

    def show() -> None:
        # A terminal has both.
        monkeypatch.setattr(sys, "stderr", sys.stdout)
        run(monkeypatch, command)

    text = screen(monkeypatch, width, show)
    text = re.sub(r"(?m)^\d\d:\d\d:\d\d: ", "12:00:00: ", text.replace("\x1b[2J\x1b[H", ""))
    held(name, width, text)
    for_people = text.partition("\n{\n")[0]
    proper("\n".join(line for line in for_people.splitlines() if not PASTED.match(line)), width)
    assert not re.search(rf"\b{MNEMONIC}", text)
    assert not re.search(r"(?<![\d.,])0 (the same|no good|pruned|alike|failed)", text)
