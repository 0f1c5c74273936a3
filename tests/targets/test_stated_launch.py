"""Launches of compiled code that the user states: by options, and for each kernel in a file."""

import json
from pathlib import Path

import pytest

import kprof as kp
from kprof.errors import KprofError

MATMUL = Path(__file__).resolve().parents[1] / "artifacts" / "gfx942" / "matmul.triton-3.9.0.amdgcn"


@pytest.fixture
def alone(tmp_path):
    """The assembly of a product, without the TTGIR beside it."""
    file = tmp_path / "matmul.amdgcn"
    file.write_bytes(MATMUL.read_bytes())
    return file


@pytest.fixture
def stated(tmp_path):
    """``stated(launches)``: the path of a launch file."""

    def written(launches):
        file = tmp_path / "launches.json"
        file.write_text(launches if isinstance(launches, str) else json.dumps(launches))
        return str(file)

    return written


def test_a_file_says_the_same_as_the_options(alone, stated):
    """Grid, wavefronts, LDS and the value of an argument, by which the loop's iterations are counted."""
    launch = {"grid": [64, 2], "num_warps": 8, "lds": 32768, "values": {"arg4": 4096}}
    options = {"arch": ["MI300X"], "try_cures": False}

    (by_file,) = kp.analyze(alone, launch=stated({"matmul": launch}), **options).kernels
    value = {"arg4": 4096}
    (by_options,) = kp.analyze(alone, grid="64;2", num_warps=8, lds=32768, value=value, **options).kernels

    assert by_file.model == by_options.model
    assert by_file.time_us is not None
    assert by_file.model.workgroups == 128
    (loop,) = by_file.model.loops
    assert loop.trips_known
    assert loop.trips_from == "executing the code for one lane"
    (longer,) = kp.analyze(alone, launch=stated({"matmul": launch}), value={"arg4": 8192}, **options).kernels
    assert longer.model.loops[0].trips == pytest.approx(2 * loop.trips, abs=2)


def test_without_the_value_the_argument_is_named(alone):
    """What has to be supplied is said with the option that supplies it."""
    (kernel,) = kp.analyze(alone, arch=["MI300X"], grid=64, try_cures=False).kernels

    assert kernel.time_us is None
    assert kernel.model.loops[0].missing == ["arg4"]


@pytest.mark.parametrize(
    ("launches", "said"),
    [
        ("{", "a launch file: Input data was truncated"),
        ([], "a launch file: Expected `object`"),
        ({}, "a launch for at least one kernel"),
        ({"matmul": {"grid": []}}, "length >= 1"),
        ({"matmul": {"grid": [0]}}, ">= 1"),
        ({"matmul": {"num_warps": "8"}}, "Expected `int"),
        ({"matmul": {"warps": 8}}, "unknown field `warps`"),
        ({"matmul": {"values": {"arg4": 1.5}}}, "Expected `int | array`"),
        ('{"matmul": {"grid": [1]}, "matmul": {"grid": [2]}}', "matmul"),
        ({"matmull": {"grid": [1]}}, "describes a launch of 'matmull'"),
        ({"matmul": {"values": {"arg99": 1}}}, "no run-time argument 'arg99'"),
        ({"matmul": {"values": {"arg0": 1}}}, "arg0 of matmul is a pointer"),
        ({"matmul": {"values": {"arg4": [1, 2]}}}, "arg4 of matmul is a single number"),
    ],
)
def test_what_a_launch_file_may_not_say(alone, stated, launches, said):
    """Each fault is one message with the place in the file, the kernel or the argument."""
    with pytest.raises(KprofError) as caught:
        kp.analyze(alone, arch=["MI300X"], launch=stated(launches), try_cures=False, keep_going=False)

    assert said in str(caught.value)


def test_a_missing_file_is_named(alone, tmp_path):
    """The launch file's path is in the message."""
    with pytest.raises(KprofError, match="no-such"):
        kp.analyze(alone, arch=["MI300X"], launch=str(tmp_path / "no-such.json"), try_cures=False)
