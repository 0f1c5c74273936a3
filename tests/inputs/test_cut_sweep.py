"""The sweep over cut files, small: fixtures instead of samples, and the sweep's own judgement."""

import importlib.util
import json
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = sorted(p for p in (ROOT / "tests/artifacts/rocprof").rglob("*") if p.suffix in {".csv", ".json", ".db"})


@pytest.fixture(scope="module")
def script():
    """``scripts/cut_sweep.py`` as a module."""
    specification = importlib.util.spec_from_file_location("cut_sweep", ROOT / "scripts/cut_sweep.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", FIXTURES, ids=lambda p: str(p.relative_to(ROOT / "tests/artifacts/rocprof")))
def test_cut_measurements_are_flagged_or_refused(script, tmp_path, file):
    """Ten cuts of every fixture: nothing is lost in silence, nothing ends in a traceback."""
    step = max(1, file.stat().st_size // 10)
    found = Counter(script.sweep(file, tmp_path, largest=10**9, step=step))
    assert not found["silent"]
    assert not found["traceback"]


def test_cut_traces_are_flagged_or_refused(script, tmp_path):
    """A Kineto trace cut at every 37th byte; every cut inside the events is seen."""
    events = [
        {"ph": "X", "cat": "kernel", "name": f"k{n}", "pid": 0, "tid": 7, "ts": n * 10, "dur": 5, "args": {"device": 0}}
        for n in range(40)
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = Counter(script.sweep(path, scratch, largest=10**9, step=37))
    assert found["flagged"] > 50
    assert set(found) <= {"flagged", "message"}


def test_silence_and_tracebacks_are_seen(script, tmp_path):
    """A reader that loses rows without a word, one that breaks, one that tells and one that loses nothing."""

    def broken(path: Path):
        raise ZeroDivisionError

    whole = (10, Counter({"odd": 1}))

    def judged(reader, *, at_line_end=False):
        return script.outcome(reader, tmp_path, whole, at_line_end=at_line_end)

    assert judged(lambda _: (9, Counter({"odd": 1}))) == "silent"
    assert judged(lambda _: (9, Counter({"odd": 1})), at_line_end=True) == "line-end"
    assert judged(lambda _: (9, Counter({"odd": 2}))) == "flagged"
    assert judged(lambda _: whole) == "whole"
    assert judged(broken) == "traceback"


def test_places(script):
    """Every thousandth byte of a small file, as many of a large one."""
    assert list(script.places(3500, 10_000)) == [1000, 2000, 3000]
    assert len(script.places(10_000_000, 50_000)) == pytest.approx(50, abs=1)


def test_a_file_cut_inside_a_quoted_text_is_flagged(tmp_path):
    """The torn record is nowhere in the table, and the missing line end alone would not tell."""
    from kprof.inputs import rocprof

    whole = (ROOT / "tests/artifacts/rocprof/v1/results.stats.csv").read_bytes()
    path = tmp_path / "cut.csv"
    path.write_bytes(whole[: whole.rindex(b'"void') + 3])
    assert "cut-record" in {issue.kind for issue in rocprof.read(path).issues}
