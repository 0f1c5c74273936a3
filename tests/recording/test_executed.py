"""Recording kernels that run, with a driver that stands for the one of a GPU."""

import json

import pytest

from kprof.captures import layout
from kprof.captures.reader import read
from kprof.recording.settings import Settings
from kprof.simulation.gpu import gpu_of

pytestmark = [pytest.mark.triton, pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")]


class FakeTensor:
    """What Triton needs of a tensor."""

    dtype = "fp32"
    shape = (4096,)

    def data_ptr(self):
        return 4096

    def ptr_range(self):
        return 1 << 20

    def stride(self):
        return (1,)


@pytest.fixture
def ran():
    """What the driver was asked to launch."""
    return []


@pytest.fixture
def device(ran):
    """A driver like that of a real machine, active for a test; its launches are noted instead of done."""
    import triton

    from kprof.simulation.driver import make_driver

    driver = make_driver(gpu_of("gfx942"), lambda: 0, lambda _index: 0, None)
    driver.launcher_cls = lambda _source, _metadata: lambda x, y, z, *rest: ran.append((x, y, z))
    before = triton.runtime.driver.__dict__.copy()
    triton.runtime.driver.set_active(driver)
    yield driver
    triton.runtime.driver.__dict__.update(before)


def test_what_runs_is_recorded_and_still_runs(tmp_path, device, ran):
    """Launches reach the device; the capture has them, and what Triton itself compiled."""
    from kprof.compiler.versions import find_linker, installed, linker
    from kprof.recording.recorder import Recorder
    from kprof.recording.triton_hooks import observe
    from kprof.simulation.patches import Patches
    from tests.compiler.sample_kernels import add

    if (3, 5) <= installed().numbers <= (3, 7):
        pytest.importorskip("torch", reason="this Triton looks at arguments through torch")
    if installed().numbers < (3, 6) and find_linker() is None:
        pytest.skip("this Triton needs ld.lld")
    (tmp_path / layout.HEAD).write_text(json.dumps({"schema": layout.SCHEMA, "arch": "gfx942"}))
    recorder, patches = Recorder(Settings(str(tmp_path), gpu_of("gfx942"))), Patches()
    recorder.executes = True
    observe(recorder, patches)
    tensor = FakeTensor()
    try:
        with linker(installed().numbers, {}):
            for _ in range(2):
                add[(4,)](tensor, tensor, tensor, 4096, BLOCK=1024)
    finally:
        patches.undo()
        add.device_caches.clear()
    recorder.finish()
    assert ran == [(4, 1, 1), (4, 1, 1)]
    capture = read(tmp_path)
    assert capture.executed
    (kernel,) = capture.kernels
    assert kernel.ok
    assert (kernel.name, kernel.launches, kernel.grids) == ("add", 2, {(4, 1, 1): 2})
    assert kernel.request.constexprs == {"BLOCK": 1024}
    assert kernel.request.attributes["n"] == {"divisibility": 16}
    assert ".amdgcn_target" in kernel.text("amdgcn")
    assert kernel.metadata["num_warps"] == 4
