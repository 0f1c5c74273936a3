"""Launches whose trace names Inductor's file, joined with kernels that are compiled from such a file."""

from types import SimpleNamespace

import pytest

from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.measured import launches
from kprof_analyzers.profiles.measured.join import CompiledIdentity, confidence
from kprof_analyzers.profiles.timeline.launch_shapes import launch_shapes

NAME = "triton_poi_fused_0"
MINE, OTHER = f"c{'a' * 51}", f"c{'b' * 51}"


def traced(tmp_path, kineto, kernel_file: str, operator: str = NAME):
    builder = kineto.Builder()
    builder.op(operator, 0.0, 30.0, 1, kernel_file=kernel_file, kernel_hash="h", num_warps=4, num_stages=1)
    builder.run(NAME, 20.0, 5.0, api="hipModuleLaunchKernel", grid=[8, 1, 1], block=[256, 1, 1])
    (launch,) = launch_shapes(load(builder.write(tmp_path / "t.json"))).launches
    return launch


def keys(launch, source: str | None):
    subject = CompiledIdentity(NAME, 64, 4, 0, None, source=source)
    return launches._keys(launch, SimpleNamespace(identity=subject))


@pytest.mark.parametrize(("stem", "agrees"), [(MINE, True), (OTHER, False)])
def test_the_same_text_has_the_same_hash(tmp_path, kineto, stem, agrees):
    launch = traced(tmp_path, kineto, f"/tmp/torchinductor_me/aa/{MINE}.py")
    found = keys(launch, f"/elsewhere/{stem}.py")
    assert [(key.name, key.agrees) for key in found if key.name == "source"] == [("source", agrees)]
    assert (confidence(found) == "sure") <= agrees


@pytest.mark.parametrize("source", ["/home/me/kernels.py", None])
def test_a_file_that_is_not_inductor_s_is_not_compared(tmp_path, kineto, source):
    launch = traced(tmp_path, kineto, f"/tmp/{MINE}.py")
    assert launch.source == f"/tmp/{MINE}.py"
    assert "source" not in {key.name for key in keys(launch, source)}


def test_another_text_is_told_and_does_not_hide_the_prediction(tmp_path, kineto):
    """Inductor writes versions and paths into its files, so that another text may be the same kernel."""
    launch = traced(tmp_path, kineto, f"/tmp/{MINE}.py")
    report = SimpleNamespace(
        product="MI300X", launch={"grid": launch.workgroups}, model=SimpleNamespace(time_us=1.0)
    )  # fmt: skip
    one = SimpleNamespace(identity=CompiledIdentity(NAME, 64, 4, 0, None, source=f"/tmp/{OTHER}.py"), report=report)
    trace = SimpleNamespace(issues=())
    assert launches._doubt(trace, launch, launches._keys(launch, one), one, "MI300X") == ""


def test_an_operator_of_another_name_tells_no_source(tmp_path, kineto):
    assert traced(tmp_path, kineto, f"/tmp/{MINE}.py", operator="call_0").source is None
