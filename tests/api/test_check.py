"""``kprof.check``."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kprof
from kprof.errors import HardwareError, KprofError


@pytest.fixture
def config(compiled: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gate over one compiled kernel; the working directory is its folder."""
    path = compiled.parent / "kprof.toml"
    path.write_text('arch = ["gfx942"]\nbaseline = "base.json"\n\n[[kernel]]\ntarget = "matmul.amdgcn"\n')
    monkeypatch.chdir(path.parent)
    return path


def test_a_baseline_is_written_and_holds(config: Path) -> None:
    missing = kprof.check()
    assert missing.document.verdict.status == "cannot_tell"
    assert "--update-baseline" in missing.notes[0]

    written = kprof.check(update_baseline=True)
    assert written.ok
    assert written.baseline == config.parent / "base.json"
    assert "written, 1 check" in written.summary

    assert kprof.check().ok
    assert kprof.check(config, arch="gfx942").ok


def test_the_document_is_the_commands(config: Path, run: Callable[..., Any]) -> None:
    kprof.check(update_baseline=True)
    printed = run("check", "--json", "-")

    assert json.loads(kprof.check().to_json()) == json.loads(printed.out)


def test_it_saves_by_the_ending(config: Path) -> None:
    found = kprof.check()
    written = [found.save(f"result.{ending}") for ending in ("json", "md", "html", "sarif", "csv")]

    assert [path.name for path in written if path.stat().st_size] == [path.name for path in written]
    assert json.loads(Path("result.sarif").read_text())["version"] == "2.1.0"
    with pytest.raises(KprofError, match=r"'\.pdf'"):
        found.save("result.pdf")
    assert not os.path.exists("result.pdf")  # noqa: PTH110 - no more is asked


def test_what_cannot_be_read_is_told(config: Path) -> None:
    with pytest.raises(KprofError, match=r"no such file|cannot be read"):
        kprof.check("elsewhere.toml")
    with pytest.raises(HardwareError, match="no architecture"):
        kprof.check(arch="gfx0")
    config.write_text('arch = ["gfx942"]\n\n[[kernel]]\ntarget = "matmul.amdgcn"\n')
    with pytest.raises(KprofError, match="no baseline file"):
        kprof.check(update_baseline=True)
