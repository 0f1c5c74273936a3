"""A model of many layers from runs with few: the oracle is the run with all of them."""

import json
import sys

import pytest

import kprof as kp
from kprof.api.profile_layers import Layers, layers_of

pytestmark = pytest.mark.triton

PROGRAM = """
import sys, torch

class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(256, 512), torch.nn.Linear(512, 256)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))

layers = int(sys.argv[1].removeprefix("--layers="))
with torch.device("cuda"):
    model = torch.nn.Sequential(*[Layer() for _ in range(layers)], torch.nn.Linear(256, 1000))
    x = torch.empty(128, 256)
optimizer = torch.optim.AdamW(model.parameters())
if layers == 1:
    torch.fft.rfft(x)
model(x).pow(2).mean().backward()
optimizer.step()
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    pytest.importorskip("torch")
    path = tmp_path_factory.mktemp("layers") / "step.py"
    path.write_text(PROGRAM)
    return [sys.executable, str(path), "--layers={layers}"]


def test_the_line_through_two_runs_goes_through_the_third(program):
    line = kp.profile(program, arch="MI300X", by="module,name", layers="2,3,7")
    whole = kp.profile([*program[:2], "--layers=7"], arch="MI300X", by="module,name").document
    found = line.document
    assert found.us == pytest.approx(whole.us)
    # What is stretched keeps its limit, and so its place among the errors that add up.
    assert (found.low_us, found.high_us) == (pytest.approx(whole.low_us, 0.05), pytest.approx(whole.high_us, 0.05))
    assert (found.calls, found.unknown_calls, found.peak_bytes) == (whole.calls, whole.unknown_calls, whole.peak_bytes)
    assert {(row.module, row.name): row.calls for row in found.rows} == {
        (row.module, row.name): row.calls for row in whole.rows
    }
    # Calls of the optimizer grow past what counts as short.
    assert [one.what for one in found.changes] == [one.what for one in whole.changes]
    assert "for 7 layers from runs with 2 and 3" in line.summary
    assert any("each layer beyond 2" in note for note in found.notes)
    trace = json.loads(line.to_kineto())
    kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
    assert len(kernels) == whole.calls - whole.unknown_calls
    assert sum(event["dur"] for event in kernels) == pytest.approx(whole.us, rel=1e-3)
    said = trace["kprof"]["layers"]
    assert (said["first_run"], said["second_run"], said["model"]) == (2, 3, 7)
    # Layers 4 to 7 are the third once more, in its place: forward in one piece, backward in another.
    repetitions = [event["args"].get("repetition", 0) for event in kernels]
    assert max(repetitions) == 4
    assert repetitions.count(1) == repetitions.count(4) > 0
    first = repetitions.index(1)
    assert repetitions[first - 1] == 0
    assert 2 in repetitions[first:]


def test_what_does_not_grow_is_named(program):
    """The program does more with one layer than with two."""
    found = kp.profile(program, arch="MI300X", layers="3").document
    assert any("smaller with 2 layers than with 1" in note and "_fft_r2c" in note for note in found.notes)


def test_numbers_of_layers():
    assert layers_of("32") == Layers(1, 2, 32)
    assert layers_of(" 4, 8,32").steps == 7
    for wrong in ("", "many", "4,8", "8,4,32", "0,1,2", "4,8,30", "1,2,1"):
        with pytest.raises(kp.KprofError):
            layers_of(wrong)


def test_a_page_and_a_trace_of_many_layers(kprof, program, tmp_path):
    page, trace = tmp_path / "page.html", tmp_path / "trace.json"
    ran = kprof("profile", "--layers", "12", "--by", "shapes", "--html", page, "-o", trace, "--", *program)
    assert ran.code == 0, ran.err
    assert "for 12 layers from runs with 1 and 2" in page.read_text()
    read = kprof("trace", "breakdown", trace)
    assert read.code == 0, read.err
    assert "GEMM" in read.out


def test_what_is_of_one_run_is_refused(kprof, program, tmp_path):
    ran = kprof("profile", "--layers", "3", "--advise", "5", "--", *program)
    assert ran.code == 2
    assert "--layers and --advise cannot be combined" in ran.err
    ran = kprof("profile", "--layers", "3", "--", sys.executable, program[1], "--layers=1")
    assert ran.code == 2
    assert "no argument of the program contains {layers}" in ran.err
    ran = kprof("profile", "--layers", "3", tmp_path)
    assert ran.code == 2
    assert "--layers cannot be used with a capture" in ran.err
