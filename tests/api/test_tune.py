"""``kprof.tune``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kprof
from kprof.errors import HardwareError, KprofError, TargetError
from kprof.tuning import request
from kprof.tuning.work import Judge


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The length of the code stands for a predicted time; see ``tests/tuning/kprof_stub_judge.py``."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "tuning"))
    monkeypatch.setattr(request, "judge", lambda: Judge("kprof_stub_judge:judge", "1"))


@pytest.mark.triton
@pytest.mark.usefixtures("counted")
def test_configurations_are_ranked_as_by_the_command(tmp_path: Path, run: Callable[..., Any]) -> None:
    (tmp_path / "space.json").write_text(json.dumps({"BLOCK": [512, 1024], "num_warps": [4]}))
    how = {"arch": "MI300X", "space": tmp_path / "space.json", "config": {"waves_per_eu": 0}, "jobs": 1}

    found = kprof.tune("memory_copy", **how, output=tmp_path / "out", write="triton", resume=False)

    assert found.ok
    assert not found.interrupted
    assert found.best is found.problems[0].ranking[0]
    assert found.best.config["BLOCK"] in {512, 1024}
    options = ("--arch", "MI300X", "--space", tmp_path / "space.json", "--config", "waves_per_eu=0", "-j", 1)
    written = json.loads(run("tune", "memory_copy", *options, "--no-resume", "--json", "-").out)
    assert json.loads(found.to_json())["problems"] == written["problems"]

    assert not (tmp_path / "out" / "result.json").exists()
    notes = found.write()
    assert json.loads((tmp_path / "out" / "result.json").read_text())["schema"] == "kprof.tune/1"
    assert any("triton" in note for note in notes)

    frame = found.to_frame()
    assert list(frame["rank"]) == list(range(1, len(found.problems[0].ranking) + 1))
    assert list(frame["BLOCK"]) == [one.config["BLOCK"] for one in found.problems[0].ranking]
    assert frame["time_us"].is_monotonic_increasing
    assert f"BLOCK={found.best.config['BLOCK']}" in found._repr_html_()


@pytest.mark.triton
def test_what_cannot_be_done_is_told(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="memory_cop"):
        kprof.tune("memory_cop")
    with pytest.raises(HardwareError, match="no architecture"):
        kprof.tune("memory_copy", arch="gfx0")
    with pytest.raises(KprofError, match="one --arch"):
        kprof.tune("memory_copy", arch="gfx942,gfx950")
    with pytest.raises(KprofError, match="needs an output folder"):
        kprof.tune("memory_copy", write=["triton"])
    with pytest.raises(TargetError, match="can only measure"):
        kprof.tune(object(), verify=True)
