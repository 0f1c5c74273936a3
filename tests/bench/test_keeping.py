"""What ``kprof bench --keep`` writes: stages and metadata of the kernels that ran, kprof's report and the times."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from kprof.api import measure as api
from kprof.bench import worker
from kprof.bench.document import BenchReport, Device, Measurement
from kprof.bench.kept import read_call
from kprof.bench.worker import KernelLaunch, keep_launches, kernel_launches
from kprof.errors import KprofError

torch = pytest.importorskip("torch")

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

    arg_names = ("x", "lengths", "n", "BLOCK", "EVEN")

    def run(self, *_args, **_options):
        """Launch it."""
        return self.compiled


def test_launches_are_collected_in_their_order():
    """With their grids and arguments, also of kernels compiled long before; afterwards launches are as they were."""
    launch = Jit.run
    first, second = Jit(Compiled("a")), Jit(Compiled("b"))
    lengths, wide = torch.tensor([[3, 5]], dtype=torch.int32), torch.ones(8, dtype=torch.float16)
    with kernel_launches(Jit) as found:
        first.run(wide, lengths, 7, BLOCK=64, num_warps=4, grid=lambda meta: (meta["n"], meta["BLOCK"]))
        second.run(wide, lengths, 0.5, EVEN=True, grid=(2,))
        first.run(wide, None, float("inf"), grid=(1, 2, 3))
        Jit(None).run(1, grid=(1,))
        first.run(wide, lengths, 7, grid=(1,), warmup=True)
    assert [one.compiled for one in found] == [first.compiled, second.compiled, first.compiled]
    assert [one.grid for one in found] == [(7, 64), (2,), (1, 2, 3)]
    assert [one.arguments for one in found] == [{"n": 7, "BLOCK": 64}, {"n": 0.5, "EVEN": 1}, {}]
    assert [one.contents for one in found] == [{"lengths": [3, 5]}, {"lengths": [3, 5]}, {}]
    assert Jit.run is launch


def test_stages_and_metadata_are_named_as_in_triton_s_cache(tmp_path):
    """Two kernels of one name do not write over each other; what is no text or bytes is left out."""
    first, second = Compiled("scale"), Compiled("scale")
    made = [KernelLaunch(one, (4, 2), {"n": 9}, {}) for one in (first, second, first)]
    keep_launches(made, tmp_path / "new", 1000)
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    stems = ("scale", "scale_2")
    kernels = [f"{stem}.{end}" for stem in stems for end in ("amdgcn", "hsaco", "json", "ttgir")]
    assert names == sorted([*kernels, "launches.json"])
    metadata = json.loads((tmp_path / "new/scale.json").read_text())
    assert metadata == {"name": "scale", "target": {"backend": "hip", "arch": "gfx942"}, "num_warps": 4}
    call = read_call(tmp_path / "new")
    assert [(one.file, one.grid, one.arguments) for one in call.launches] == [
        (file, [4, 2], {"n": 9}) for file in ("scale", "scale_2", "scale")
    ]
    assert call.set_bytes == 1000


def test_a_kernel_does_not_take_the_name_of_another_document(tmp_path):
    """The launches and the report are files of the folder, too."""
    keep_launches([KernelLaunch(Compiled(name), (1,), {}, {}) for name in ("launches", "report")], tmp_path)
    assert [one.file for one in read_call(tmp_path).launches] == ["launches_2", "report_2"]


def test_a_call_is_kept_from_a_run_of_its_own(tmp_path, monkeypatch):
    """On a copy of the inputs, which the call may change."""
    jit, seen = Jit(Compiled("scale")), []
    monkeypatch.setattr(worker, "kernel_launches", lambda: kernel_launches(Jit))
    inputs = {"x": torch.zeros(4)}

    def call(given):
        seen.append(given["x"])
        given["x"] += 1
        jit.run(given["x"], None, 4, grid=(1,))

    assert worker.keep_call(call, inputs, tmp_path / "kept", 32)
    assert seen[0] is not inputs["x"]
    assert inputs["x"].tolist() == [0, 0, 0, 0]
    assert [one.grid for one in read_call(tmp_path / "kept").launches] == [[1]]
    assert not worker.keep_call(lambda _given: None, inputs, tmp_path / "none", 32)
    assert not (tmp_path / "none").exists()


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
