"""What a launch raises, and how long an autotuner is waited for."""

import subprocess
from importlib.util import find_spec

import pytest

from kprof.captures.reader import read
from kprof.recording.describe import names_in_program
from tests.recording.conftest import capture_command, kprof_environment

pytestmark = [pytest.mark.triton, pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")]


def recorded(folder, *arguments):
    """A capture of ``handles.py``, compiled anew, and what was printed."""
    result = subprocess.run(
        capture_command(folder / "capture", "--no-cache", "-j1", "handles.py", *arguments),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return read(folder / "capture"), result


def test_a_launch_beyond_the_lds_raises_as_on_a_device(tmp_path):
    """The program falls back to a smaller tile; only that is a launch, and the other one is told."""
    capture, result = recorded(tmp_path)
    assert result.stdout.startswith("too much for 256: 131072 of 65536 bytes of shared memory\nlaunched 64\nall fine\n")
    assert capture.launch_count == 1
    (refused,) = [kernel for kernel in capture.kernels if not kernel.launches]
    assert [problem.resource for problem in refused.launch_problems] == ["lds"]


def test_an_autotuned_program_goes_on_with_one_configuration(tmp_path):
    """The others are compiled behind it, and all are there in the end."""
    capture, result = recorded(tmp_path, "tune")
    then = int(result.stdout.partition("compiled by then: ")[2].split()[0])
    assert 1 <= then <= 4
    assert len(capture.kernels) == 12
    assert all(kernel.ok for kernel in capture.kernels)
    assert "more kernels" in result.stderr


def test_names_of_the_program_that_runs():
    """Only frames that are being executed count."""

    def inner(*, handled):
        if handled:
            try:
                return names_in_program(frozenset({"ZeroDivisionError"}))
            except ZeroDivisionError:
                return False
        return names_in_program(frozenset({"FloatingPointError"}))

    assert inner(handled=True)
    assert not inner(handled=False)
