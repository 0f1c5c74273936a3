"""One call of a kernel has one predicted time, whichever command is asked."""

import json

import pytest

from kprof.output.quantities import duration

pytestmark = pytest.mark.triton


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gemm_skinny_fp8", "mlstm_chunkwise", "rmsnorm_residual_fp8"])
def test_every_command_predicts_the_same_time(name, kprof, tmp_path, monkeypatch):
    """All launches of the call, to the digits that each document keeps."""

    def asked(*command):
        ran = kprof(*command, name, "--arch", "MI300X", "--json", "-")
        assert ran.code == 0, ran.err
        return json.loads(ran.out)

    times = [kernel["model"]["time_us"] for kernel in asked("analyze", "--no-try")["kernels"]]
    total = sum(times)
    assert total > 1
    assert asked("tune", "--budget", "1")["problems"][0]["own"]["time_us"] == pytest.approx(total, abs=1e-4)
    assert asked("advise", "--budget", "1")["start"]["time_us"] == pytest.approx(total, abs=1e-4)
    page = tmp_path / "page.html"
    assert kprof("report", name, "--arch", "MI300X", "-o", page).code == 0
    assert all(duration(time) in page.read_text() for time in times)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kprof.toml").write_text(f'arch = ["MI300X"]\nbaseline = "b.json"\n[[kernel]]\ntarget = "{name}"\n')
    assert kprof("check", "--update-baseline").code == 0
    held = sum(_times(json.loads((tmp_path / "b.json").read_text())))
    assert held == pytest.approx(total, rel=1e-5)


def _times(part):
    """Predicted times in a baseline, wherever they stand."""
    if not isinstance(part, dict):
        return []
    own = [part["time_us"]] if isinstance(part.get("time_us"), float) else []
    return own + [time for inner in part.values() for time in _times(inner)]
