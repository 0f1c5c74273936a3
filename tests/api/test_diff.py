"""``kprof.diff``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kprof
from kprof.api.result import ReportResult
from kprof.diffing.reading import read_report
from kprof.errors import CompileError, KprofError, TargetError


@pytest.fixture
def reports(compiled: Path, tmp_path: Path, run: Callable[..., Any]) -> tuple[Path, Path]:
    """A report, and the same with spills."""
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    assert run("analyze", "kernel", compiled, "--json", old).code == 0
    document = json.loads(old.read_text())
    document["kernels"][0]["resources"]["vgpr_spills"] = 77
    new.write_text(json.dumps(document))
    return old, new


def test_files_are_compared_as_the_command_does(reports: tuple[Path, Path], run: Callable[..., Any]) -> None:
    written = run("diff", *reports, "--json", "-")

    found = kprof.diff(*reports)

    assert json.loads(found.to_json()) == json.loads(written.out)
    assert not found.ok
    assert [kernel.name for kernel in found.worse] == ["matmul"]


def test_results_are_compared_without_files(reports: tuple[Path, Path]) -> None:
    old, new = (ReportResult(read_report(path)) for path in reports)

    found = kprof.diff(old, new)

    assert [side.label for side in found.document.sides] == ["old", "new"]
    changes = {change.metric: (change.old, change.new) for change in found.kernels[0].steps[0].changes}
    assert changes["vgpr_spills"] == (0, 77)
    assert kprof.diff(new, old).ok
    assert kprof.diff(old, new, tolerance={"vgpr_spills": 77}).ok


def test_the_frame_has_a_row_a_change(reports: tuple[Path, Path]) -> None:
    frame = kprof.diff(*reports).to_frame()

    row = frame[frame["metric"] == "vgpr_spills"].iloc[0]
    assert (row["kernel"], row["old"], row["new"], row["effect"]) == ("matmul", 0, 77, "worse")


def test_what_does_not_go_together_is_refused(reports: tuple[Path, Path]) -> None:
    old, new = reports
    with pytest.raises(TargetError, match="two targets"):
        kprof.diff(old)
    with pytest.raises(TargetError, match="name one target"):
        kprof.diff(old, new, triton=["3.6.0", "3.9.0"])
    with pytest.raises(CompileError, match="not enough for a comparison"):
        kprof.diff("gemm", triton="3.6.0")
    with pytest.raises(KprofError, match="--fail-on"):
        kprof.diff(old, new, fail_on="grave")


def test_the_notebook_shows_changes_escaped(reports: tuple[Path, Path]) -> None:
    old, new = (read_report(path) for path in reports)
    hostile = msgspec.structs.replace(
        new, kernels=[msgspec.structs.replace(k, name="<script>x</script>") for k in new.kernels]
    )
    plain = msgspec.structs.replace(
        old, kernels=[msgspec.structs.replace(k, name="<script>x</script>") for k in old.kernels]
    )

    html = kprof.diff(ReportResult(plain), ReportResult(hostile))._repr_html_()

    assert "77" in html
    assert "<script" not in html
    assert "&lt;script&gt;" in html
