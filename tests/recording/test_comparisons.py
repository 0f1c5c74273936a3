"""A program's own checks of what kernels would have written let it go on; wider types are computed with."""

import json
import subprocess
from importlib.util import find_spec

import pytest

from tests.recording.conftest import capture_command, kprof_environment

pytestmark = [pytest.mark.triton, pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")]


def test_checks_of_unknown_values_hold_and_are_told(tmp_path):
    """The program ends well; each such look is counted, and nothing is answered by zeros."""
    summary = tmp_path / "summary.json"
    command = capture_command(tmp_path / "capture", "checks_itself.py")
    place = command.index("--")
    command[place:place] = ["--json", str(summary)]
    ran = subprocess.run(command, capture_output=True, text=True, env=kprof_environment(), check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not json.loads(summary.read_text(encoding="utf-8"))["operators"]["answered_without_running"]
    journal = "".join(path.read_text() for path in (tmp_path / "capture" / "journal").iterdir())
    told = {json.loads(line)["what"] for line in journal.splitlines() if json.loads(line)["t"] == "read"}
    assert {"allclose (assumed true)", "isclose (assumed true)", "equal (assumed true)"} <= told


ADDRESSES = """
import torch, triton, triton.language as tl

@triton.jit
def fill(table, count, BLOCK: tl.constexpr):
    for each in range(count):
        place = tl.load(table + each).to(tl.pointer_type(tl.float32))
        tl.store(place + tl.arange(0, BLOCK), tl.full((BLOCK,), 1.0, tl.float32))

outs = [torch.zeros(64, device="cuda") for _ in range(2)]
other = torch.zeros(64, device="cuda")
other.data_ptr()
table = torch.tensor([out.data_ptr() for out in outs], device="cuda")
fill[(1,)](table, 2, BLOCK=64)
assert all(torch.allclose(out, torch.ones(64, device="cuda")) for out in outs)
assert not torch.allclose(other, torch.ones(64, device="cuda")), "nothing was given its address"
"""


def test_what_is_at_addresses_in_a_table_counts_as_written(tmp_path):
    """As in grouped products: a kernel reads where to write from a tensor."""
    program = tmp_path / "grouped.py"
    program.write_text(ADDRESSES, encoding="utf-8")
    command = capture_command(tmp_path / "capture", str(program))
    ran = subprocess.run(command, capture_output=True, text=True, env=kprof_environment(), check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
