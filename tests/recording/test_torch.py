"""PyTorch without a GPU, answering as if it had one."""

import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

import kprof as kp
from kprof.captures.reader import launches, read
from tests.recording.conftest import capture_command, kprof_environment

pytestmark = [pytest.mark.triton, pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The program, recorded."""
    output = tmp_path_factory.mktemp("torch") / "capture"
    result = subprocess.run(
        capture_command(output, "on_torch.py"),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    return output, result


def test_a_program_that_insists_on_a_gpu_runs(ran):
    """Its own assertions hold."""
    _, result = ran
    assert "all fine" in result.stdout, result.stderr
    assert result.returncode == 0


def test_backward_kernels_and_streams_are_recorded(ran):
    """Forward, backward, and a launch on a stream of its own."""
    capture = read(ran[0])
    found = list(launches(capture.path))
    assert [launch.stream for launch in found].count(0) == 2
    assert len(found) == 3
    functions = [[place.function for place in launch.site] for launch in found]
    assert functions[1][:2] == ["run", "forward"]
    assert functions[2][:2] == ["run", "backward"]
    assert functions[2][-1] == "<module>"
    assert found[1].arguments["x"].dtype == "float32"
    assert found[1].arguments["x"].shape == (8, 64)


def test_looking_at_a_value_that_was_not_computed_is_told(ran):
    """``loss.item()`` follows a kernel that did not run; what was computed on the way is not told."""
    capture = read(ran[0])
    assert capture.reads_count == 1
    ((what, site),) = capture.reads
    assert (what, site[0].function) == ("item", "training")
    assert "looked at 1 value" in " ".join(ran[1].stdout.split())


@pytest.mark.slow
def test_matrix_products_can_be_left_out(tmp_path):
    """Zeros of the right type and shape, on the GPU as before; what depends on them is not known."""
    ran = subprocess.run(
        capture_command(tmp_path / "capture", "--no-arithmetic", "on_torch.py"),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    assert "all fine" in ran.stdout, ran.stderr
    assert read(tmp_path / "capture").launch_count == 3


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The program of torch.compile, recorded with its operators: launches are the same without them."""
    output = tmp_path_factory.mktemp("compiled") / "capture"
    result = subprocess.run(
        capture_command(output, "--operators", "compiled.py"),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    return output, result


@pytest.mark.slow
def test_inductors_kernels_are_recorded(compiled):
    """Forward and backward graphs are; one that cannot be runs as plain torch, and a note says so."""
    output, ran = compiled
    assert "all fine" in ran.stdout, ran.stderr
    capture = read(output)
    launched = {kernel.name: kernel for kernel in capture.kernels if kernel.launches}
    assert all(name.startswith("triton_") and kernel.ok for name, kernel in launched.items())
    (forward,) = (kernel for name, kernel in launched.items() if "gelu" in name)
    assert forward.launches == 2
    # The sum over the rows is the bias' gradient; the derivative of softmax is its own operator.
    assert any("_softmax_backward_data" in name for name in launched)
    assert any(name.startswith(("triton_per_fused_sum", "triton_poi_fused_sum")) for name in launched), sorted(launched)
    assert not any("sin" in name for name in launched)
    assert any("split as on the CPU" in note for note in capture.notes)
    assert any("a graph runs as plain torch" in note for note in capture.notes)


@pytest.mark.slow
def test_generated_code_has_the_line_that_called_it(compiled):
    """The line is one of the program, not of the file that Inductor generates, whose name is a digest.

    It is said to be compiled, also where it calls an operator, and the program's own calls are not.
    """
    found = kp.profile(compiled[0], arch="MI300X")
    kernels = [call for call in found.calls if call.timed.kind == "triton"]
    assert len(kernels) > 3
    assert {Path(call.scope.place.file).name for call in kernels} == {"compiled.py"}
    assert all(call.compiled for call in kernels)
    assert any(call.compiled for call in found.calls if call.timed.kind == "product")
    assert not any(call.compiled for call in found.calls if call.timed.name == "aten::randn")


@pytest.mark.slow
def test_what_inductor_tries_is_no_launch_and_has_no_time(tmp_path):
    """With max-autotune: trial kernels are left out, and no table of invented times is printed."""
    ran = subprocess.run(
        capture_command(tmp_path / "capture", "max_autotune.py"),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    assert "all fine" in ran.stdout, ran.stderr
    assert "1.0000 ms" not in ran.stderr
    capture = read(tmp_path / "capture")
    launched = [kernel.name for kernel in capture.kernels if kernel.launches]
    assert launched
    assert "triton_" not in launched
    assert any("choices for" in note and "none is timed" in note for note in capture.notes), capture.notes


@pytest.mark.slow
@pytest.mark.parametrize(("what", "kernels"), [("window", 1), ("training", 3), ("bias", 3), ("decoding", 5)])
def test_attention_with_a_mask_of_its_own_has_a_time(what, kernels, tmp_path):
    """Forward alone, and with a backward pass; the numbers of blocks are values of the program, or of Inductor's."""
    ran = subprocess.run(
        capture_command(tmp_path / "capture", "flexible.py", what),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    assert "all fine" in ran.stdout, ran.stderr
    capture = read(tmp_path / "capture")
    launched = [kernel for kernel in capture.kernels if kernel.launches]
    assert len({kernel.name for kernel in launched}) == kernels
    assert not any("a graph runs as plain torch" in note for note in capture.notes)
    found = kp.analyze(tmp_path / "capture")
    times = {kernel.name: kernel.time_us for kernel in found.kernels}
    assert len(times) == kernels
    assert all(time is not None and time > 1 for time in times.values()), times
