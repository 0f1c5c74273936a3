"""``kprof.advise``."""

import json
from pathlib import Path

import pytest

import kprof
from kprof.errors import InputError, KprofError, TargetError


@pytest.mark.triton
def test_knobs_are_tried_and_compared_with_the_start() -> None:
    seen: list[str] = []

    found = kprof.advise("softmax", arch="gfx942", budget=4.0, progress=lambda _done, what: seen.append(what))

    assert found.trials is not None
    assert found.trials.start.change == {}
    assert all(trial.time_us < found.trials.start.time_us for trial in found.best)
    document = json.loads(found.to_json())
    assert (document["schema"], document["kernel"], document["arch"]) == ("kprof.advice/1", "softmax", "gfx942")
    assert len(document["best"]) == len(found.best)
    frame = found.to_frame()
    assert frame["kind"].iloc[0] == "start"
    assert frame["time_us"].iloc[0] == found.trials.start.time_us
    assert len(frame) == 1 + len(found.best) + len(found.trials.dominated)
    assert [finding.rule for finding in found.findings] == [f.rule for f in found.trials.start.report.findings]
    assert "as it is" in found._repr_html_()
    assert found.summary in repr(found)


def test_what_cannot_be_done_is_told(compiled: Path, tmp_path: Path) -> None:
    with pytest.raises(KprofError, match="one --arch"):
        kprof.advise("softmax", arch="gfx942,gfx950")
    with pytest.raises(KprofError, match="nothing to do"):
        kprof.advise("softmax", search=False)
    with pytest.raises(InputError, match="no such file"):
        kprof.advise("softmax", counters=tmp_path / "none.csv", search=False)
    with pytest.raises(TargetError):
        kprof.advise(compiled)
