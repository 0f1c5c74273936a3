"""How a measurement ends, whatever the kernel does; the device is a stand-in, so that this runs without one."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the worker works on tensors")

from kprof.bench import timing as bench_timing  # noqa: E402
from kprof.bench import worker as bench_worker  # noqa: E402
from kprof.bench.document import BenchTask, Device, MachinePeaks, Measurement, Timing  # noqa: E402
from kprof.bench.providers.prepared import need  # noqa: E402
from kprof.bench.worker import Bench  # noqa: E402
from kprof.errors import KprofError  # noqa: E402
from kprof.kernel_spec import Kernel, Launch  # noqa: E402

SHAPE = {"N": 8, "dtype": "fp32"}
DEVICE = Device("Some GPU", "rocm", "gfx942", {}, 1 << 36, MachinePeaks(1000.0, {"fp32": 10.0}, 1 << 20))
SPEED = {16: 2.0, 32: 1.0, 64: 3.0}

Run = Callable[[Mapping[str, Any], Any, Any], Any]


def kernel(run: Run, **fields: Any) -> Kernel:
    """Twice the input, computed by ``run``."""
    base: dict[str, Any] = {
        "name": "toy",
        "entry": None,
        "summary": "",
        "launch": lambda _shape, _config: Launch({}, (1,)),
        "shapes": {"plain": SHAPE},
        "config": {"BLOCK": 16},
        "configs": ({"BLOCK": 32}, {"BLOCK": 64}),
        "run": run,
        "inputs": lambda shape, _device, seed: {"x": torch.arange(shape["N"], dtype=torch.float32) + seed},
        "reference": lambda inputs, _shape: {"y": 2 * inputs["x"].double()},
        "tolerance": lambda _shape: (1e-6, 0.0),
        "flops": lambda shape: shape["N"],
        "bytes": lambda shape: 8 * shape["N"],
    }
    return Kernel(**{**base, **fields})


def right(inputs: Mapping[str, Any], _shape: Any, _config: Any) -> dict[str, Any]:
    """As it should be."""
    return {"y": 2 * inputs["x"]}


def wrong(inputs: Mapping[str, Any], _shape: Any, _config: Any) -> dict[str, Any]:
    """One element is not."""
    y = 2 * inputs["x"]
    y[3] = -1
    return {"y": y}


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Measurement]:
    """``measure(kernel, provider="triton", ...)`` with a stand-in for the device; a call's time is its BLOCK's."""
    for name in ("synchronize", "empty_cache"):
        monkeypatch.setattr(torch.cuda, name, lambda: None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (1 << 30, 1 << 32))
    monkeypatch.setattr(bench_worker, "_poison", lambda _expected: None)

    def timed(call: Any, sets: Any, **_options: Any) -> Timing:
        config = call.args[2] if len(call.args) > 2 else {}
        ms = SPEED.get(config.get("BLOCK"), 5.0) if isinstance(config, dict) else 5.0
        return Timing(ms, ms, ms, ms, 20, "events", 1, len(sets))

    monkeypatch.setattr(bench_timing, "time_calls", timed)

    def run(one: Kernel, provider: str = "triton", **fields: Any) -> Measurement:
        monkeypatch.setattr("kprof.targets.library.load", lambda _target: one)
        return Bench().measure(BenchTask("toy", "plain", SHAPE, provider, device=DEVICE, **fields))

    return run


def test_right_result_is_timed_with_its_rates(measure: Callable[..., Measurement]) -> None:
    """64 bytes in 2 ms are 32 kB/s: next to nothing of 1000 GB/s, but not zero."""
    found = measure(kernel(right))

    assert (found.status, found.config, found.bound) == ("ok", {"BLOCK": 16}, "memory")
    assert found.gbs == pytest.approx(64 / 2e-3 / 1e9)
    assert found.timing is not None
    assert found.timing.buffers == 1024
    assert found.timing.note == "all buffers together fit the last-level cache"


def test_wrong_result_is_not_timed(measure: Callable[..., Measurement]) -> None:
    """The element, expected against got."""
    found = measure(kernel(wrong))

    assert (found.status, found.timing) == ("wrong", None)
    assert "y[3]: expected 6, got -1" in found.message


def test_check_only_does_not_time(measure: Callable[..., Measurement]) -> None:
    """Right, and no time."""
    found = measure(kernel(right), check_only=True)

    assert (found.status, found.timing) == ("ok", None)


def test_without_a_reference_it_is_unchecked(measure: Callable[..., Measurement]) -> None:
    """Timed, and told."""
    found = measure(kernel(right, reference=None))

    assert found.status == "unchecked"
    assert found.timing is not None


@pytest.mark.parametrize(("factor", "status"), [(2.0, "ok"), (2.01, "inaccurate"), (3.0, "wrong")])
def test_another_provider_may_round_elsewhere(measure: Callable[..., Measurement], factor: float, status: str) -> None:
    """Half a percent off is another rounding; half as much again is another function."""
    other = {"torch": lambda inputs, _shape: {"y": factor * inputs["x"]}}

    assert measure(kernel(right, providers=other), "torch").status == status


def raises(error: Exception) -> Run:
    """A host wrapper that fails."""

    def run(_inputs: Any, _shape: Any, _config: Any) -> Any:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (KprofError("gfx942 lacks this"), "unsupported", "gfx942 lacks this"),
        (torch.cuda.OutOfMemoryError("HIP out of memory. Tried to allocate 9 GiB"), "out_of_memory", "N=8"),
        (ValueError("type fp8e4nv not supported in this architecture"), "unsupported", "fp8e4nv"),
        (RuntimeError('"mul" not implemented for Float8'), "unsupported", "on gfx942"),
        (type("OutOfResources", (Exception,), {})("shared memory"), "unsupported", "does not fit the device"),
        (ZeroDivisionError("division by zero"), "error", "ZeroDivisionError: division by zero"),
    ],
)
def test_failures_become_statuses(
    measure: Callable[..., Measurement], error: Exception, status: str, words: str
) -> None:
    """Each with words that say what to do about it."""
    found = measure(kernel(raises(error)))

    assert found.status == status
    assert words in found.message


def test_a_missing_library_is_not_installed(measure: Callable[..., Measurement]) -> None:
    """Not an error of the kernel."""

    def library(_inputs: Any, _shape: Any) -> Any:
        need("no_such_library", "This")

    assert measure(kernel(right, providers={"ck": library}), "ck").status == "not_installed"


@pytest.mark.parametrize("text", ["HIP error: an illegal memory access was encountered", "Memory access fault by GPU"])
def test_a_device_failure_ends_the_process(measure: Callable[..., Measurement], text: str) -> None:
    """It is passed on: nothing that this process measured later would be true."""
    with pytest.raises(RuntimeError):
        measure(kernel(raises(RuntimeError(text))))


def test_tuned_takes_the_fastest_right_configuration(measure: Callable[..., Measurement]) -> None:
    """BLOCK=32 takes 1 ms; BLOCK=64 is slower, and illegal ones are not tried."""
    tried: list[int] = []

    def run(inputs: Mapping[str, Any], shape: Any, config: Any) -> Any:
        tried.append(config["BLOCK"])
        return right(inputs, shape, config)

    found = measure(kernel(run, legal=lambda _s, config, _a: "too large" if config["BLOCK"] == 64 else None), "tuned")

    assert (found.provider, found.status, found.config) == ("tuned", "ok", {"BLOCK": 32})
    assert set(tried) == {16, 32}


def test_tuned_passes_over_a_wrong_configuration(measure: Callable[..., Measurement]) -> None:
    """The fastest is wrong: the next is taken, and it says so."""

    def run(inputs: Mapping[str, Any], shape: Any, config: Any) -> Any:
        return (wrong if config["BLOCK"] == 32 else right)(inputs, shape, config)

    found = measure(kernel(run), "tuned")

    assert (found.config, found.status) == ({"BLOCK": 16}, "ok")
    assert "{'BLOCK': 32}: wrong" in found.message


def test_inputs_survive_a_kernel_that_writes_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference sees copies."""

    def reference(inputs: Mapping[str, Any], _shape: Any) -> dict[str, Any]:
        return {"y": inputs["x"].mul_(2).double()}

    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    inputs, expected = Bench()._problem(kernel(right, reference=reference), BenchTask("toy", "plain", SHAPE, "triton"))

    assert inputs["x"].tolist() == list(range(8))
    assert expected is not None
    assert expected["y"].tolist() == [2 * n for n in range(8)]


def test_first_line_of_the_driver() -> None:
    """Without the advice that follows."""
    assert bench_worker._first_line(RuntimeError("HIP error\nCompile with ...")) == "RuntimeError: HIP error"
