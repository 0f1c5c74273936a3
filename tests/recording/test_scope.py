"""``with kprof.capture(...)``: a recording inside a process that goes on after it."""

import os

import pytest

import kprof
from kprof.compiler.versions import installed
from kprof.errors import KprofError
from kprof.recording.settings import VARIABLE

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
def launch():
    """Launch the vector addition."""
    if (3, 5) <= installed().numbers <= (3, 7):
        pytest.importorskip("torch", reason="this Triton looks at arguments through torch")
    from tests.compiler.sample_kernels import add

    tensor = FakeTensor()

    def call(grid=4, **options):
        return add[(grid,)](tensor, tensor, tensor, 4096, BLOCK=1024, **options)

    return call


def test_each_recording_has_its_own_launches(tmp_path, launch):
    """Two after one another, for two architectures; Triton and the environment are as before."""
    import triton.compiler

    compiler, path = triton.compiler.compile, os.environ.get("PYTHONPATH")
    with kprof.capture(arch="gfx942", output=tmp_path / "first", jobs=1) as first:
        launch()
        assert VARIABLE in os.environ
    with kprof.capture(arch="gfx1100", output=tmp_path / "second", jobs=1) as second:
        launch(2)
        launch(3)
    assert triton.compiler.compile is compiler
    assert os.environ.get("PYTHONPATH") == path
    assert VARIABLE not in os.environ
    one, other = first.read(), second.read()
    assert (one.arch, one.launch_count, other.arch, other.launch_count) == ("gfx942", 1, "gfx1100", 2)
    assert [kernel.ok for kernel in (*one.kernels, *other.kernels)] == [True, True]
    assert one.kernels[0].metadata["warp_size"] == 64
    assert other.kernels[0].metadata["warp_size"] == 32
    assert (one.complete, one.notes) == (True, [])
    assert not (tmp_path / "first" / ".work").exists()


def test_what_a_library_asks_of_the_kernel_is_known(tmp_path, launch):
    """Registers and LDS after a wait; nothing of that for what does not exist."""
    with kprof.capture(arch="gfx942", output=tmp_path / "capture", jobs=1):
        kernel = launch()
        assert kernel.metadata.num_warps == 4
        assert kernel.metadata.shared == 0
        assert kernel.n_regs > 0
        assert kernel.n_spills == 0
        assert ".amdgcn_target" in kernel.asm["amdgcn"]
        assert not hasattr(kernel, "result")


def test_an_exception_leaves_a_usable_capture(tmp_path, launch):
    """The exception passes; what was launched before is there."""

    def fails():
        with kprof.capture(output=tmp_path / "capture", jobs=1) as recording:
            found.append(recording)
            launch()
            raise ZeroDivisionError

    found = []
    with pytest.raises(ZeroDivisionError):
        fails()
    assert found[0].read().launch_count == 1


def test_one_recording_at_a_time(tmp_path):
    """A second one inside is refused and does not end the first."""
    with kprof.capture(output=tmp_path / "outer"):
        with (
            pytest.raises(KprofError, match="already being recorded"),
            kprof.capture(output=tmp_path / "inner"),
        ):
            pytest.fail("never reached")
        assert VARIABLE in os.environ
