"""What ``kprof bench --keep`` writes: stages and metadata of the kernels that ran, kprof's report and the times."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from kprof.api import measure as api
from kprof.bench.document import BenchReport, Device, Measurement
from kprof.bench.worker import compiled_kernels, keep_kernels
from kprof.errors import KprofError

ASSEMBLY = Path(__file__).parents[1] / "artifacts"


@dataclass(frozen=True)
class Target:
    """As Triton describes a GPU."""

    backend: str
    arch: str


class Metadata(NamedTuple):
    """What Triton says of a compiled kernel."""

    name: str
    target: Any
    num_warps: int


class Compiled:
    """What a launch of Triton returns."""

    def __init__(self, name):
        self.metadata = Metadata(name, Target("hip", "gfx942"), 4)
        self.asm = {"ttgir": "module {}", "hsaco": b"\\x7fELF", "amdgcn": "s_endpgm", "other": object()}


class Jit:
    """Launches a kernel that was compiled before."""

    def __init__(self, compiled):
        self.compiled = compiled

    def run(self, *_args, **_options):
        """Launch it."""
        return self.compiled


def test_kernels_that_are_launched_are_collected_once():
    """Also those that were compiled long before; afterwards launches are as they were."""
    launch = Jit.run
    first, second = Jit(Compiled("a")), Jit(Compiled("b"))
    with compiled_kernels(Jit) as found:
        for one in (first, second, first, Jit(None)):
            one.run(1, grid=(1,))
    assert found == [first.compiled, second.compiled]
    assert Jit.run is launch


def test_stages_and_metadata_are_named_as_in_triton_s_cache(tmp_path):
    """Two kernels of one name do not write over each other; what is no text or bytes is left out."""
    keep_kernels([Compiled("scale"), Compiled("scale")], tmp_path / "new")
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    stems = ("scale", "scale_2")
    assert names == sorted(f"{stem}.{end}" for stem in stems for end in ("amdgcn", "hsaco", "json", "ttgir"))
    metadata = json.loads((tmp_path / "new/scale.json").read_text())
    assert metadata == {"name": "scale", "target": {"backend": "hip", "arch": "gfx942"}, "num_warps": 4}


def test_the_folder_must_be_new(tmp_path):
    """Files of another run would be taken for those of this one; a file is no folder."""
    api._make_folder(str(tmp_path / "a/b"))
    (tmp_path / "a/b/x").write_text("")
    with pytest.raises(KprofError, match="a new or an empty folder"):
        api._make_folder(str(tmp_path / "a/b"))
    with pytest.raises(KprofError, match="--keep"):
        api._make_folder(str(tmp_path / "a/b/x"))


def test_a_report_beside_each_kernel_and_the_times_beside_all(tmp_path):
    """Instructions that cannot be read become a note; the times are written in any case."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    for folder in (good, bad):
        folder.mkdir()
    source = next(path for path in sorted(ASSEMBLY.rglob("*.amdgcn")) if path.stat().st_size < 100_000)
    (good / "k.amdgcn").write_bytes(source.read_bytes())
    (bad / "k.amdgcn").write_text("no assembly")
    rows = [Measurement("k", "c", {}, "triton", "ok", kept=str(folder)) for folder in (good, bad)]
    rows.append(Measurement("k", "c", {}, "torch", "ok"))
    report = api._with_reports(BenchReport("1", Device("GPU", "rocm", "gfx942", {}, 1), rows), str(tmp_path))
    assert json.loads((good / "report.json").read_text())["schema"] == "kprof.report/1"
    assert [str(bad) in note for note in report.notes] == [True]
    assert msgspec.json.decode((tmp_path / "bench.json").read_bytes(), type=BenchReport) == report
