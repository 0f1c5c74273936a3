"""Values that loops depend on: kept where they are known, and nothing is timed where they are not."""

import json
import subprocess
from importlib.util import find_spec

import pytest

from kprof.captures.reader import launches
from kprof.recording.steering import steering_arguments
from tests.recording.conftest import capture_command, kprof_environment

pytestmark = [pytest.mark.triton, pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")]

HELPERS = """@triton.jit
def walk(b, n):
    for i in range(n):
        tl.store(b, i)
@triton.jit
def last(a):
    return tl.load(a) - 1
"""
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
    first, _, last, _ = launches(recorded)
    assert first.arguments["lengths"].values == tuple(LENGTHS)
    assert last.arguments["lengths"].values is None
    assert all(launch.arguments["ids"].values is None for launch in (first, last))


def test_longer_tensors_are_left_out_by_choice(tmp_path):
    """Three integers at most: none of the four lengths."""
    command = capture_command(tmp_path / "capture", "--keep-values=3", "lengths.py")
    assert subprocess.run(command, capture_output=True, env=kprof_environment(), check=False).returncode == 0
    assert next(launches(tmp_path / "capture")).arguments["lengths"].values is None


def test_bounds_are_evaluated_from_them(recorded, kprof):
    """Iterations are those of Python's own range; without values there is no time, and what is missing is named."""
    ran = kprof("analyze", "kernel", recorded, "--json", "-")
    known, _, unknown, _ = json.loads(ran.out)["kernels"]
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
    assert loop["missing"] == ["values of lengths"]
    assert loop["elements_per_iteration"] == 256
    assert unknown["model"]["cycles"] is None
    assert not unknown["model"]["traffic"]
    text = " ".join(kprof("analyze", "kernel", recorded).out.split())
    assert f"{loop['cycles_per_iteration'] / 256:,.3g} for each element of lengths" in text
    assert "--value lengths=FILE.json supplies it" in text
    assert "time not known: the number of iterations of a loop is not" in text
    assert "not known: values of lengths" in text


def test_branches_and_searches_are_evaluated(recorded, kprof):
    """Workgroups that return at once iterate no loop; a sequence that a loop has searched for is known after it."""
    loops = json.loads(kprof("analyze", "kernel", f"{recorded}::ragged", "--json", "-").out)["kernels"][0]["model"][
        "loops"
    ]
    lengths, starts = [1024, 512, 1024, 0], [0, 16, 32, 64]
    rows = []
    for row in range(64):
        sequence = max(n for n, start in enumerate(starts) if start <= row)
        length = lengths[sequence]
        rows.append(0 if row - starts[sequence] >= length // 64 else len(range(0, length, 256)))
    assert all(loop["trips_known"] for loop in loops)
    assert loops[-1]["trips"] == pytest.approx(sum(rows) / len(rows))
    assert 0 in rows


def test_values_are_supplied(recorded, kprof, tmp_path):
    """One number for all, or a file; the time is the one of a launch whose values were known."""
    file = tmp_path / "lengths.json"
    file.write_text(json.dumps([LENGTHS[:2], LENGTHS[2:]]), encoding="utf-8")
    kernels = json.loads(kprof("analyze", "kernel", recorded, "--json", "-", "--value", f"lengths={file}").out)[
        "kernels"
    ]
    (known,), (supplied,) = kernels[0]["model"]["loops"], kernels[2]["model"]["loops"]
    assert supplied["trips"] == known["trips"]
    assert kernels[2]["model"]["time_us"] > 0
    kernels = json.loads(kprof("analyze", "kernel", recorded, "--json", "-", "--value", "lengths=2048").out)["kernels"]
    assert kernels[2]["model"]["loops"][0]["trips"] == 8


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("zzz=3", "has no run-time argument 'zzz'"),
        ("stride=3", "stride of sums is known to be 4096"),
        ("stride=FILE", "is a single number, not a tensor"),
        ("lengths=2.5", "--value takes NAME=N or NAME=FILE.json"),
        ("lengths=missing.json", "missing.json: no such file"),
        ("lengths=BAD", "values are integers or lists of integers"),
    ],
)
def test_wrong_values_are_errors(recorded, kprof, tmp_path, value, words):
    """One sentence, exit status 2."""
    (tmp_path / "file.json").write_text("[1, 2]", encoding="utf-8")
    (tmp_path / "bad.json").write_text('{"a": 1.5}', encoding="utf-8")
    given = value.replace("FILE", str(tmp_path / "file.json")).replace("BAD", str(tmp_path / "bad.json"))
    ran = kprof("analyze", "kernel", f"{recorded}::sums", "--value", given)
    assert ran.code == 2
    assert words in " ".join((ran.out + ran.err).split())


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
        ("if tl.program_id(0) >= tl.load(a):\n        return\n    tl.store(b, 1)", {"a"}),
        ("t = tl.load(a)\n    if t == 0:\n        return\n    tl.store(b, 1)", set()),
        ("e = tl.load(a)\n    i = tl.arange(0, 16)\n    tl.store(b + e * c + i[:, None] + i[None, :], 1)", {"a"}),
        ("e = tl.load(a)\n    i = tl.arange(0, 16)\n    tl.store(b + e * c + i, 1)", set()),
        ("e = tl.load(a + tl.arange(0, 16))\n    tl.store(b + e[:, None] * c + tl.arange(0, 16)[None, :], 1)", set()),
        ("walk(b, tl.load(a))", {"a"}),
        ("n = last(a)\n    for i in range(n):\n        tl.store(b, i)", {"a"}),
        ("for i in range(c):\n        tl.store(b, tl.load(a + i))", set()),
        # A binary search: its bounds move by what is compared with a loaded value. ``c`` is part of the address.
        (
            (
                "low = 0\n    high = c\n    while low < high:\n        mid = (low + high) // 2\n"
                "        if tl.load(a + mid) <= 3:\n            low = mid + 1\n        else:\n            high = mid\n"
                "    tl.store(b, low)"
            ),
            {"a", "c"},
        ),
        (
            "n = 0\n    for i in range(c):\n        if tl.load(a + i) > 0:\n            n += 1\n    tl.store(b, n)",
            set(),
        ),
    ],
)
def test_arguments_that_loops_depend_on(body, expected, tmp_path):
    """Bounds, early returns, places of tiles, through names, sums and helpers; not labels, rows or blocks."""
    import importlib.util

    path = tmp_path / "kernel.py"
    path.write_text(
        f"import triton\nimport triton.language as tl\n{HELPERS}@triton.jit\ndef kernel(a, b, c):\n    {body}\n",
        encoding="utf-8",
    )
    spec = importlib.util.spec_from_file_location("kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert steering_arguments(module.kernel) == expected
