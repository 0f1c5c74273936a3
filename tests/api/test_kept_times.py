"""``kprof validate`` of a folder that ``kprof bench --keep`` wrote: predicted beside measured, without a GPU."""

import json
from types import SimpleNamespace

import msgspec
import pytest

import kprof as package
from kprof.bench.document import BenchReport, Device, Measurement, Timing
from kprof.bench.kept import KeptCall, KeptLaunch, is_kept, write_call
from kprof.bench.worker import KernelLaunch, keep_launches
from kprof.errors import KprofError
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load

pytestmark = pytest.mark.triton


def compiled(kernel):
    """A kernel as Triton's launch returns it."""
    return SimpleNamespace(metadata=dict(kernel.metadata), asm=dict(kernel.stages))


def launches(name, shape):
    """The launches of a bundled kernel, as a GPU would have made them."""
    kernels = list(load(name, CompileOptions(arch=("MI300X",), shape=[shape])))
    return [KernelLaunch(compiled(one), one.grid, one.arguments, one.contents) for one in kernels]


def measured(name, place, median_ms, **more):
    """A measurement whose kernels are in a folder."""
    timing = Timing(median_ms, median_ms, median_ms, median_ms, 20, "graph", 10, 4)
    fields = {"shape": {}, "provider": "triton", "status": "ok", "timing": timing, "kept": f"/elsewhere/{place}"}
    return Measurement(name, "custom", **{**fields, **more})


def write(folder, *measurements, device="AMD Instinct MI300X"):
    """The times of a folder."""
    report = BenchReport("1", Device(device, "rocm", "gfx942", {}, 1), list(measurements))
    (folder / "bench.json").write_bytes(msgspec.json.encode(report))


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder with a kernel of one launch and one of two, each with its predicted time for a measured one."""
    folder = tmp_path_factory.mktemp("kept")
    keep_launches(launches("softmax", {"M": 4096, "N": 4096}), folder / "one", 1 << 26)
    keep_launches(launches("rmsnorm_backward", {"M": 4096, "N": 4096}), folder / "two", 1 << 27)
    write(folder, measured("softmax", "one", 1.0), measured("rmsnorm_backward", "two", 1.0))
    times = {name: one.comparisons[0].modelled for name, _, one in package.validate(folder).kernels}
    one, two = times.values()
    write(
        folder,
        measured("softmax", "one", one / 1000),
        measured("rmsnorm_backward", "two", 10 * two / 1000),
        measured("softmax", "", 1.0, provider="torch", kept=None),
        measured("softmax", "one", 1.0, timing=None, status="wrong"),
    )
    return folder


def test_each_measured_kernel_has_its_prediction(kept):
    """Within the range, and far outside; what launched no Triton kernel or was not timed is left out."""
    found = package.validate(kept)
    names = [name for name, _, _ in found.kernels]
    assert names[0] == "softmax custom triton"
    assert names[1].startswith("rmsnorm_backward custom triton, launch 1: ")
    assert len(names) == 2
    first, second = (one for _, _, one in found.kernels)
    assert first.gpu == "AMD Instinct MI300X"
    assert first.comparisons[0].standing == "confirmed"
    assert second.comparisons[0].standing == "refuted"
    assert second.comparisons[0].title == "time of a call of 2 launches"
    assert second.notes == ["the measured time covers the whole call: rmsnorm_backward, add_parts"]
    assert found.standing == "refuted"


def test_the_prediction_is_that_of_the_launch(kept):
    """As of the kernel itself with the same data in the caches: the grid and the arguments were kept."""
    (entry, *_) = package.validate(kept).analysis.kernels
    (own,) = package.analyze("softmax", arch="MI300X", shape={"M": 4096, "N": 4096}).kernels
    assert entry.model.workgroups == own.model.workgroups
    assert entry.model.time_us == pytest.approx(own.model.time_us, rel=0.5)
    assert entry.product == "MI300X"


def test_one_kernel_can_be_named(kept):
    """The others are left out; one that was not timed is an error."""
    assert len(package.validate(kept, kernel="softmax").kernels) == 1
    with pytest.raises(KprofError, match="no kept kernel 'gemm' was timed here"):
        package.validate(kept, kernel="gemm")


def test_other_kernels_of_a_call_make_it_doubtful(tmp_path):
    """A library may launch more than Triton kernels."""
    keep_launches(launches("softmax", {"M": 4096, "N": 4096}), tmp_path / "one", 1 << 26)
    write(tmp_path, measured("softmax", "one", 1.0, provider="vllm"))
    ((_, _, found),) = package.validate(tmp_path).kernels
    assert found.comparisons[0].standing == "cannot tell"
    assert found.comparisons[0].words == "vllm may launch kernels that were not kept"


def test_options_of_a_compile_are_refused(kept):
    """The folder says itself how its kernels were launched."""
    with pytest.raises(KprofError, match="does not use --arch and --case"):
        package.validate(kept, arch="MI300X", case="rows_128")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "one/launches.json").unlink(), "has no launches.json"),
        (lambda folder: (folder / "one/launches.json").write_text("{}"), "was not written by kprof bench --keep"),
        (lambda folder: write_call(folder / "one", KeptCall([KeptLaunch("../x", [1])])), "has no file"),
        (lambda folder: write_call(folder / "one", KeptCall([KeptLaunch("softmax_kernel", [0])])), "no workgroups"),
        (lambda folder: write_call(folder / "one", KeptCall([KeptLaunch("other", [1])])), "only kernels of AMD GPUs"),
        (lambda folder: (folder / "bench.json").write_text("[]"), "was not written by kprof bench"),
        (lambda folder: write(folder, measured("softmax", "..", 1.0, kept="/x/..")), "no kept kernel was timed here"),
        (lambda folder: write(folder, measured("softmax", "one", 1.0), device="MI355X"), "MI355X was measured"),
    ],
)
def test_a_damaged_folder_says_what_is_wrong(tmp_path, change, message):
    """Nothing outside of the folder is read."""
    keep_launches(launches("softmax", {"M": 4096, "N": 4096}), tmp_path / "one", 1 << 26)
    write(tmp_path, measured("softmax", "one", 1.0))
    change(tmp_path)
    with pytest.raises(KprofError, match=message):
        package.validate(tmp_path)


def test_the_command(kprof, kept, tmp_path):
    """A table, the document and the exit code."""
    ran = kprof("validate", kept, "--kernel", "softmax", "--json", tmp_path / "found.json")
    assert ran.code == 0
    assert "softmax custom triton" in ran.out
    document = json.loads((tmp_path / "found.json").read_text())
    assert document["schema"] == "kprof.validation/1"
    assert document["standing"] == "confirmed"
    assert is_kept(kept)
