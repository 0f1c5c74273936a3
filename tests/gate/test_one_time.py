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


def test_a_kernel_without_cases_has_a_time_where_its_grid_is_given(kprof, tmp_path, monkeypatch):
    """The same as that of ``analyze``, counted by the same formulas; a name that is no size is refused."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef scale(x, y, n, B: tl.constexpr):\n"
        "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
        "    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)\n"
    )
    own = ("own.py::scale", "--signature", "*fp16:16,*fp16:16,67108864", "--constexpr", "B=1024")
    ran = kprof("analyze", *own, "--grid", "cdiv(n,B)", "--arch", "MI300X", "--no-try", "--json", "-")
    (alone,) = (kernel["model"]["time_us"] for kernel in json.loads(ran.out)["kernels"])
    assert alone > 5
    entry = '[[kernel]]\ntarget = "own.py::scale"\nsignature = "*fp16:16,*fp16:16,67108864"\nconstexpr = {B = 1024}\n'
    config = tmp_path / "kprof.toml"
    config.write_text(f'arch = ["MI300X"]\nbaseline = "b.json"\n{entry}grid = ["cdiv(n,B)"]\n')
    assert kprof("check", "--update-baseline").code == 0
    assert _times(json.loads((tmp_path / "b.json").read_text())) == [pytest.approx(alone, rel=1e-5)]
    config.write_text(f'arch = ["MI300X"]\nbaseline = "b.json"\n{entry}grid = ["cdiv(n,B)", 40]\n')
    ran = kprof("check")
    assert ran.code == 1
    assert "predicted, the baseline has" in ran.out
    config.write_text(f'arch = ["MI300X"]\nbaseline = "b.json"\n{entry}grid = ["cdiv(rows,B)"]\n')
    ran = kprof("check")
    assert ran.code == 2
    assert "the grid uses rows, which is neither a knob nor a size that was given" in ran.out
