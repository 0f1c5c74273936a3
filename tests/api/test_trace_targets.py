"""``kprof.trace_ops`` with targets: the model's time and the best configuration beside what was measured."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import UnsetType

import kprof
from kprof.errors import InputError, TargetError

pytestmark = pytest.mark.triton

ARTIFACTS = Path(__file__).parents[1] / "artifacts"
SLOW = {"BLOCK": 128, "TILES": 1, "num_warps": 8}
"""Half of the lanes of a copy have nothing to do."""
CALLS, STEPS, MICROSECONDS = 4, 3, 1500.0


def make_trace(folder: Path, name: str, grid: int, *, threads: int = 512) -> Path:
    """A kernel launched as Triton launches it, ``CALLS`` times in each of ``STEPS`` steps and once outside."""
    spec = importlib.util.spec_from_file_location("kineto_builder_targets", ARTIFACTS / "kineto/builder.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    builder = module.Builder()
    at = 1000.0
    for step in range(STEPS + 1):
        calls = CALLS if step < STEPS else 1
        if step < STEPS:
            builder.add("user_annotation", f"ProfilerStep#{step}", at, calls * 2000)
        for call in range(calls):
            start = at + 10 + call * 1900
            correlation = builder.launch(start, 2, api="hipModuleLaunchKernel")
            builder.kernel(
                name, start + 5, MICROSECONDS, correlation, grid=[grid, 1, 1], block=[threads, 1, 1],
                **{"shared memory": 0},
            )  # fmt: skip
        at += calls * 2000
    written: Path = builder.write(folder / "trace.json")
    return written


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """The copy of a gibibyte in blocks of 128."""
    return make_trace(tmp_path, "memory_copy", 2**28 // 128)


@pytest.fixture
def space(tmp_path: Path) -> Path:
    """Two configurations."""
    path = tmp_path / "space.json"
    path.write_text(json.dumps({"BLOCK": [128, 4096], "TILES": [1], "num_warps": [8], "waves_per_eu": [0]}))
    return path


def test_launches_stand_beside_the_model_and_the_search(trace: Path, space: Path) -> None:
    """What is modelled is what ``analyze`` says, what is given back what ``tune`` says; a step has its own calls."""
    (kernel,) = kprof.analyze("memory_copy", arch="MI300X", config=SLOW).kernels
    best = kprof.tune("memory_copy", arch="MI300X", space=space).best
    assert best is not None
    assert best.time_us is not None
    model = kernel.model
    assert not isinstance(model, UnsetType)
    assert model.time_us is not None
    assert model.speed_of_light_us is not None

    found = kprof.trace_ops(trace, targets="memory_copy", config=SLOW, tune=True, space=space)

    assert found.targets is not None
    (one,) = found.targets
    assert one.confidence == "sure"
    assert one.modelled_us == model.time_us
    assert (one.launch.calls, one.launch.step_calls, one.steps) == (CALLS * STEPS + 1, CALLS * STEPS, STEPS)
    measured = 1000 * MICROSECONDS * one.launch.calls
    assert one.launch.total_ns == measured
    assert one.lost_ns == pytest.approx(measured - 1000 * model.speed_of_light_us * one.launch.calls)
    assert one.tuned is not None
    assert one.tuned.config == best.config
    assert one.tuned.gain_ns == pytest.approx(measured * (1 - best.time_us / model.time_us), rel=1e-4)
    assert one.in_a_step(measured) == pytest.approx(CALLS * 1000 * MICROSECONDS)
    assert best.time_us < 0.6 * model.time_us

    frame = found.to_frame("targets")
    assert list(frame["modelled_us"]) == [model.time_us]
    assert list(frame["gain_ns"]) == [one.tuned.gain_ns]
    assert json.loads(found.to_json())["targets"][0]["tuned"]["config"] == best.config


def test_the_command_says_it_in_a_sentence(trace: Path, space: Path, run: Callable[..., Any]) -> None:
    how = ("--target", "memory_copy", "--config", "BLOCK=128,TILES=1,num_warps=8", "--tune", "--space", space)
    ran = run("trace", "ops", trace, *how)
    assert ran.code == 0, ran.err
    (told,) = [line for line in ran.out.splitlines() if line.startswith("memory_copy: ")]
    # 4 calls of 1,500 us, of which 5.3 TB/s for 2 GiB leave 405.2 each.
    assert told.startswith("memory_copy: these 4 calls lose 4.379 ms a step; BLOCK=4096 ")
    assert "is predicted to save 3.623, the most of 2 configurations" in told


def test_the_best_configuration_has_nothing_to_give_back(tmp_path: Path, space: Path) -> None:
    trace = make_trace(tmp_path, "memory_copy", 2**28 // 4096)
    found = kprof.trace_ops(
        trace, targets=["memory_copy"], config={**SLOW, "BLOCK": 4096}, tune=True, space=space
    ).targets
    assert found is not None
    assert found[0].tuned is not None
    assert found[0].tuned.as_good
    assert found[0].tuned.gain_ns == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"config": SLOW, "shape": {"N": 2**27}}, "another launch: 2,097,152 workgroups measured, 1,048,576 modelled"),
        ({"config": {**SLOW, "num_warps": 4}}, "another build: num_warps 8, compiled 4"),
        ({"config": SLOW, "arch": "MI325X"}, ""),
    ],
)
def test_another_launch_or_build_gets_no_time(trace: Path, options: dict[str, Any], words: str) -> None:
    found = kprof.trace_ops(trace, targets="memory_copy", **options).targets
    assert found is not None
    (one,) = found
    assert one.doubt == words
    assert (one.modelled_us is None) == bool(words)
    assert (one.lost_ns is None) == bool(words)


def test_a_function_is_searched_by_the_expression_of_its_grid(tmp_path: Path) -> None:
    """The same launch by a number of workgroups and by an expression."""
    source = tmp_path / "double.py"
    source.write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
        "def double(source, target, N, BLOCK: tl.constexpr):\n"
        "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(target + at, 2 * tl.load(source + at, mask=at < N), mask=at < N)\n"
    )
    (tmp_path / "space.json").write_text(json.dumps({"BLOCK": [128, 4096], "num_warps": [8]}))
    trace = make_trace(tmp_path, "double", 2**28 // 128)
    launch: dict[str, Any] = {
        "targets": f"{source}::double", "signature": "*fp32:16,*fp32:16,i32", "shape": {"N": 2**28},
        "config": {"BLOCK": 128, "num_warps": 8},
    }  # fmt: skip
    plain = kprof.trace_ops(trace, **launch, grid=[2**28 // 128]).targets
    searched = kprof.trace_ops(trace, **launch, grid="cdiv(N,BLOCK)", tune=True, space=tmp_path / "space.json").targets
    assert plain is not None
    assert searched is not None
    assert plain[0].modelled_us == searched[0].modelled_us
    assert plain[0].modelled_us is not None
    assert searched[0].tuned is not None
    assert searched[0].tuned.config["BLOCK"] == 4096
    assert searched[0].tuned.gain_ns > 0


def test_assembly_is_compared_and_cannot_be_searched(tmp_path: Path, compiled: Path) -> None:
    """Its grid is in no file: nothing is compared, and why is said."""
    found = kprof.trace_ops(make_trace(tmp_path, "matmul", 64, threads=256), targets=str(compiled), tune=True).targets
    assert found is not None
    assert [one.tuned for one in found] == [None]
    assert "number of workgroups" in found[0].doubt or "another build" in found[0].doubt


def test_what_cannot_be_answered_is_an_error(trace: Path, run: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match=r"no kernel softmax_kernel in the traces"):
        kprof.trace_ops(trace, targets="softmax")
    with pytest.raises(TargetError, match=r"shape can only be used with a target"):
        kprof.trace_ops(trace, shape={"N": 1})
    with pytest.raises(TargetError, match=r"budget can only be used with --tune"):
        kprof.trace_ops(trace, targets="memory_copy", budget=3)
    nameless = trace.with_name("nameless.json")
    nameless.write_text(trace.read_text().replace("AMD Instinct MI300X", ""))
    with pytest.raises(InputError, match=r"does not name one GPU") as raised:
        kprof.trace_ops(nameless, targets="memory_copy")
    assert "nameless.json" in str(raised.value)
    ran = run("trace", "ops", trace, "--tune")
    assert ran.code == 2
    assert "--target" in ran.err
