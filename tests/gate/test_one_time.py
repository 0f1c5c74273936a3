"""One call of a kernel has one predicted time, whichever command is asked."""

import json

import pytest

import kprof as kp
from kprof.hardware.machine import load_gpu
from kprof.output.quantities import duration
from kprof.targets.library import catalogue
from kprof.tuning.choice.kernels import load
from kprof.tuning.choice.predicting import bundled, predictions

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
    chosen = asked("select", "--predict")["candidates"]
    (own,) = (one for one in chosen if one["implementation"] == name and one["basis"] == "predicted")
    assert own["ms"] == pytest.approx(total / 1000, abs=1e-6)
    page = tmp_path / "page.html"
    assert kprof("report", name, "--arch", "MI300X", "-o", page).code == 0
    assert all(duration(time) in page.read_text() for time in times)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kprof.toml").write_text(f'arch = ["MI300X"]\nbaseline = "b.json"\n[[kernel]]\ntarget = "{name}"\n')
    assert kprof("check", "--update-baseline").code == 0
    held = sum(_times(json.loads((tmp_path / "b.json").read_text())))
    assert held == pytest.approx(total, rel=1e-5)


@pytest.mark.slow
def test_all_bundled_kernels_have_one_time(kprof, tmp_path, monkeypatch):
    """Every launch of each call: as it is analysed, gated, and chosen among others."""
    names = [one.name for one in catalogue()]
    monkeypatch.chdir(tmp_path)
    entries = "".join(f'[[kernel]]\ntarget = "{name}"\n' for name in names)
    (tmp_path / "kprof.toml").write_text(f'arch = ["MI300X"]\nbaseline = "b.json"\n{entries}')
    assert kprof("check", "--update-baseline").code == 0
    held = json.loads((tmp_path / "b.json").read_text())
    launches = kp.analyze(*names, arch=["MI300X"], try_cures=False).kernels
    times = [one.time_us for one in launches]
    assert all(time is not None and time > 0.1 for time in times)
    assert sorted(_times(held)) == pytest.approx(sorted(times), rel=1e-5)
    for name, one in _chosen(names).items():
        own = sum(one.time_us for one in launches if one.name.partition("::")[0] == name)
        guessed = one.ms is None and one.reason.startswith("not predicted: ")
        assert guessed or one.ms == pytest.approx(own / 1000, abs=1e-6), f"{name}: {one.reason}"


def _chosen(names):
    """Kernels as ``kprof select`` considers them, each with the time of its own defaults."""
    machine, product = load_gpu("MI300X")
    kernels = [load(name) for name in names]
    shapes = [kernel.problem(machine.name, None, {}) for kernel in kernels]
    asked = [(bundled(kernel, shape, machine.name)[:1], shape) for kernel, shape in zip(kernels, shapes, strict=True)]
    return {name: found for name, (found,) in zip(names, predictions(asked, machine, product), strict=True)}


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
