"""Values that loops depend on: kept where they are known, and nothing is timed where they are not."""

import json
import subprocess
from importlib.util import find_spec

import pytest

from kprof.captures.reader import launches
from kprof.recording.steering import steering_arguments
from tests.recording.conftest import capture_command, kprof_environment

pytestmark = [pytest.mark.triton, pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")]

LENGTHS = [256, 512, 1024, 2048]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The capture of ``lengths.py``."""
    output = tmp_path_factory.mktemp("lengths") / "capture"
    result = subprocess.run(
        capture_command(output, "lengths.py"), capture_output=True, text=True, env=kprof_environment(), check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return output


def test_only_known_values_that_loops_need_are_kept(recorded):
    """Lengths; neither what a kernel would have written, nor tokens."""
    first, _, last = launches(recorded)
    assert first.arguments["lengths"].values == tuple(LENGTHS)
    assert last.arguments["lengths"].values is None
    assert all(launch.arguments["ids"].values is None for launch in (first, last))


def test_bounds_are_evaluated_from_them(recorded, kprof):
    """Iterations are those of Python's own range; without values there is no time, and what is missing is named."""
    ran = kprof("analyze", "kernel", recorded, "--json", "-")
    known, _, unknown = json.loads(ran.out)["kernels"]
    (loop,) = known["model"]["loops"]
    assert loop["trips_known"]
    assert loop["trips"] == sum(len(range(0, length, 256)) for length in LENGTHS) / len(LENGTHS)
    assert known["model"]["time_us"] > 0

    (loop,) = unknown["model"]["loops"]
    assert not loop["trips_known"]
    assert "values of lengths" in loop["trips_from"]
    assert loop["cycles_per_iteration"] > 0
    for name in ("time_us", "low_us", "high_us", "speed_of_light_us", "speed_of_light_percent"):
        assert unknown["model"][name] is None, name
    text = " ".join(kprof("analyze", "kernel", recorded).out.split())
    assert "time not known: how often a loop iterates is not" in text
    assert "not known: values of lengths" in text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for i in range(tl.load(a)):\n        tl.store(b, i)", {"a"}),
        ("n = tl.load(a + tl.program_id(0)) - 1\n    for i in tl.range(0, n, 16):\n        tl.store(b, i)", {"a"}),
        ("p = a + 4\n    while tl.load(p) > 0:\n        tl.store(b, 1)", {"a"}),
        ("o = tl.load(a)\n    n = tl.load(b + o)\n    for i in range(n):\n        tl.store(b, i)", {"a", "b"}),
        ("t = tl.load(a)\n    tl.store(b, tl.load(b + t))", set()),
        ("t = tl.load(a)\n    if t == 0:\n        tl.store(b, 1)", set()),
        ("n = tl.sum(tl.load(a + tl.arange(0, 64)))\n    for i in range(n):\n        tl.store(b, i)", set()),
        ("for i in range(c):\n        tl.store(b, tl.load(a + i))", set()),
    ],
)
def test_arguments_that_loops_depend_on(body, expected, tmp_path):
    """Bounds and conditions of loops, through names and sums; not branches, addresses or blocks."""
    import importlib.util

    path = tmp_path / "kernel.py"
    path.write_text(
        f"import triton\nimport triton.language as tl\n@triton.jit\ndef kernel(a, b, c):\n    {body}\n",
        encoding="utf-8",
    )
    spec = importlib.util.spec_from_file_location("kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert steering_arguments(module.kernel) == expected
