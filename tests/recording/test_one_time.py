"""Kernels of a capture have the same launches and one predicted time, whichever command is asked."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kprof.captures.reader import read
from tests.recording.conftest import capture_command, kprof_environment

pytestmark = [pytest.mark.triton, pytest.mark.slow]


@pytest.fixture(scope="module")
def capture(tmp_path_factory) -> Path:
    """The capture of ``tiles.py``: an autotuned kernel, a sum, a copy and a product."""
    pytest.importorskip("torch")
    output = tmp_path_factory.mktemp("one") / "capture"
    command = capture_command(output, "--operators", "tiles.py")
    ran = subprocess.run(command, capture_output=True, text=True, env=kprof_environment(), check=False)
    assert ran.returncode == 0, ran.stderr
    return output


def test_every_function_gives_the_same_times(capture):
    from validation.compare_times import differences, times_by_command

    found = times_by_command(capture)
    assert set(found) == {"analyze", "report", "check", "profile", "tune"}
    assert {len(times) for times in found.values()} == {4}
    assert all(time is not None and time > 1 for time in found["analyze"].values())
    assert differences(capture) == []


def test_every_command_gives_the_same_times(capture, kprof, tmp_path, monkeypatch):
    """To the digits that each document keeps; where a search starts, too."""

    def asked(*command):
        ran = kprof(*command, "--json", "-")
        assert ran.code == 0, ran.err
        return json.loads(ran.out)

    launches = {kernel.name: kernel.launches for kernel in read(capture).kernels if kernel.launches}
    times = {one["name"]: one["model"]["time_us"] for one in asked("analyze", capture, "--no-try")["kernels"]}
    assert set(times) == set(launches)
    rows = [row for row in asked("profile", capture)["rows"] if row["kind"] == "triton"]
    assert {row["name"]: row["calls"] for row in rows} == launches
    assert {row["name"]: row["us"] for row in rows} == pytest.approx({n: times[n] * launches[n] for n in times})
    for name in ("product", "tuned"):
        tuned = asked("tune", f"{capture}::{name}", "--budget", "1")
        assert tuned["problems"][0]["own"]["time_us"] == pytest.approx(times[name], abs=1e-4)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kprof.toml").write_text(
        f'arch = ["MI300X"]\nbaseline = "b.json"\n[[kernel]]\ntarget = "{capture.as_posix()}"\n'
    )
    ran = kprof("check", "--update-baseline")
    assert ran.code == 0, ran.out + ran.err
    kept = json.loads((tmp_path / "b.json").read_text())
    assert sorted(_times(kept)) == pytest.approx(sorted(times.values()), rel=1e-5)


def _times(part):
    """Predicted times in a baseline, wherever they stand."""
    if not isinstance(part, dict):
        return []
    own = [part["time_us"]] if isinstance(part.get("time_us"), float) else []
    return own + [time for inner in part.values() for time in _times(inner)]


def test_the_script_names_what_differs(capture, monkeypatch, capsys):
    """With the kernel and both times; its exit status says so, too."""
    from validation import compare_times

    monkeypatch.setattr(sys, "argv", ["compare_times.py", str(capture)])
    monkeypatch.setattr(compare_times, "_gated", lambda *_: {"other": 1.0})
    assert compare_times.main() == 1
    printed = capsys.readouterr().out
    assert "check lacks" in printed
    assert "other: None µs by analyze, 1.0 µs by check" in printed
