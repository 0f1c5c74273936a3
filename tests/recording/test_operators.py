"""Operators that a program registers for the GPU run; what else answers is listed. The oracle: its own counts."""

import json
import subprocess
from importlib.util import find_spec

import pytest

from kprof.captures.reader import launches, read
from tests.recording.conftest import capture_command, kprof_environment

pytestmark = [pytest.mark.triton, pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The capture, what the command gave, and what the program has counted."""
    output = tmp_path_factory.mktemp("registered") / "capture"
    result = subprocess.run(
        capture_command(output, "--strict", "registered.py"),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    counted = [line for line in result.stdout.splitlines() if line.startswith("counted ")]
    assert counted, result.stdout + result.stderr
    return read(output), result, json.loads(counted[0].removeprefix("counted "))


def test_every_launch_is_in_the_capture(ran):
    """A counter in Triton's own entry, put there by the program."""
    capture, _, counted = ran
    assert counted["launched"] > 10
    assert len(list(launches(capture.path))) == capture.launch_count == counted["launched"]


def test_every_call_of_a_registered_operator_ran_or_is_listed(ran):
    """Each call of the program, by name, is one of the two."""
    capture, _, counted = ran
    unrun = {operator.name: operator.calls for operator in capture.unrun}
    for name, calls in counted["called"].items():
        assert capture.ran.get(name, 0) + unrun.get(name, 0) == calls, name
    entered = {name: calls for name, calls in capture.ran.items() if name in counted["ran"]}
    assert entered == counted["ran"]


def test_what_answered_without_running_is_told_apart(ran):
    """Zeros, another device's kernel, an endless recursion; code for any device has run."""
    capture, _, _ = ran
    assert {(o.name, o.how, o.calls) for o in capture.unrun} == {
        ("mine::faked", "zeros", 3),
        ("mine::on_cpu", "cpu kernel", 1),
        ("mine::alone", "shape", 1),
        ("aten::cosh", "recursion", 1),
    }
    assert all(operator.site[0].file.endswith("registered.py") for operator in capture.unrun)


def test_calls_that_launched_nothing_are_named(ran):
    """Of the registered operators those that a GPU would run without Triton; of torch's own all but views."""
    capture, result, _ = ran
    assert dict(capture.silent) == {"mine::idle": 2, "mine::anywhere": 1, "aten::cosh": 16}
    assert capture.torch["aten::neg"] == 2
    assert not {"aten::view", "aten::empty.memory_format", "aten::exp"} & set(capture.torch)
    assert "19 calls of registered operators ran without launching a Triton kernel: " in result.stdout
    assert "mine::idle 2" in result.stdout
    assert "of torch's own operators launch no Triton kernel: " in " ".join(result.stdout.split())


def test_it_is_said_and_strict_fails(ran):
    """In the first lines and in the verdict."""
    _, result, _ = ran
    assert result.returncode == 2
    lines = [line for line in result.stdout.splitlines() if not line.startswith("counted ")]
    assert lines[1].startswith("4 operators answered without running: mine::faked (3 calls, zeros)")
    assert "4 operators answered without running" in lines[-1]


def test_every_analysis_says_it(ran, kprof):
    """In the verdict's line and in the document."""
    capture, _, _ = ran
    said = kprof("analyze", "kernel", str(capture.path), "--json", "-")
    document = json.loads(said.out)
    assert "4 operators answered without running: mine::faked" in document["verdict"]["summary"]
    assert all("mine::faked" in kernel["unrecorded"] for kernel in document["kernels"])


def test_comparisons_say_it(ran, kprof):
    """Of each side."""
    path = str(ran[0].path)
    notes = json.loads(kprof("diff", path, path, "--json", "-").out)["notes"]
    assert sum("4 operators answered without running: mine::faked" in note for note in notes) == 2


def test_a_program_without_them_passes_strict(tmp_path, kprof):
    """Nothing to list, nothing to fail."""
    program = tmp_path / "program.py"
    text = "import torch, triton, triton.language as tl\n@triton.jit\ndef k(x):\n    tl.store(x, 1.0)\n"
    launch = "k[(1,)](torch.ones(4, device='cuda').exp())\n"
    program.write_text(
        f"{text}{launch}import sys\nprint('Dynamo:', 'torch._dynamo' in sys.modules)\n", encoding="utf-8"
    )
    result = subprocess.run(
        capture_command(tmp_path / "capture", "--strict", str(program)),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "answered without running" not in result.stdout
    assert not read(tmp_path / "capture").unrun
    # Its import takes as long as that of all the rest of torch.
    assert "Dynamo: False" in result.stdout


def test_a_program_without_torch_does_not_import_it(tmp_path):
    """Triton would, to ask whether an argument is a tensor; sizes that arguments tell are looked at all the same."""
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, triton, triton.language as tl\n"
        "class Tensor:\n    dtype = 'fp32'\n"
        "    def __init__(self, size): self.size = size\n"
        "    def data_ptr(self): return 4096\n"
        "    def ptr_range(self): return self.size\n"
        "@triton.jit\ndef k(x, y):\n    tl.store(x, tl.load(y))\n"
        "k[(1,)](Tensor((1 << 31) - 1), Tensor(1 << 31))\n"
        "print('torch:', 'torch' in sys.modules)\n",
        encoding="utf-8",
    )
    result = subprocess.run(
        capture_command(tmp_path / "capture", str(program)),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "torch: False" in result.stdout
    (kernel,) = read(tmp_path / "capture").kernels
    listing = next((tmp_path / "capture").rglob("*.ttir")).read_text(encoding="utf-8")
    signature = next(line for line in listing.splitlines() if "tt.func" in line)
    assert kernel.name == "k"
    assert signature.count("tt.pointer_range = 32") == 1
