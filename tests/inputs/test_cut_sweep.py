"""The sweep over cut files, small: fixtures instead of samples, and the sweep's own judgement."""

import importlib.util
import json
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = sorted(p for p in (ROOT / "tests/artifacts/rocprof").rglob("*") if p.suffix in {".csv", ".json", ".db"})


@pytest.fixture(scope="module")
def script():
    """``validation/cut_sweep.py`` as a module."""
    specification = importlib.util.spec_from_file_location("cut_sweep", ROOT / "validation/cut_sweep.py")
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


_ATT = "Codeobj, Vaddr, Instruction, Hitcount, Latency, Source\n" + "".join(
    f'1, {4096 + 8 * n}, "v_add_f32 v{n}, v1, v2", {n + 10}, {n * 100 + 40}, "kernel.py:{n}"\n' for n in range(12)
)
_TUNED = "Validator,PT_VERSION,2.6.0\nValidator,GCN_ARCH_NAME,gfx1151\n" + "".join(
    f"GemmTunableOp_float_TN,tn_{64 * (n + 1)}_128_256,Gemm_Rocblas_{n},{0.0125 + n}\n" for n in range(12)
)
_CODE = json.dumps({"code": [[f"v_add_f32 v{n}", 0, n, "kernel.py:3", 1, 4096 + n, n, 40 * n] for n in range(12)]})


@pytest.mark.parametrize(
    ("name", "text"), [("att.csv", _ATT), ("tunableop_results0.csv", _TUNED), ("code.json", _CODE)]
)
def test_cut_thread_traces_and_tuning_results_are_flagged_or_refused(script, tmp_path, name, text):
    """At every third byte: a time that has lost its last digits is told."""
    path = tmp_path / name
    path.write_text(text)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = Counter(script.sweep(path, scratch, largest=10**9, step=3))
    assert sum(found.values()) > 100
    assert not found["silent"]
    assert not found["traceback"]


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
