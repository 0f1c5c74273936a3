"""Worker process that measures on the GPU: reads one task per line and answers with one line.

It is a separate process because a kernel can crash it. After a device error the process ends, since every later
measurement would fail with the same error.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from kprof.bench import compare as bench_compare
from kprof.bench import device
from kprof.bench import timing as bench_timing
from kprof.bench.document import BenchTask, Error, Measurement, rates
from kprof.bench.implementations import find
from kprof.bench.kept import KeptCall, KeptLaunch, write_call
from kprof.bench.providers.prepared import NotInstalled
from kprof.bench.values import refilled
from kprof.children import end_with_parent
from kprof.errors import HardwareError, KprofError
from kprof.kernel_spec import Kernel
from kprof.output.assignments import assigned

_STAGES = ("ttir", "ttgir", "llir", "amdgcn", "hsaco", "ptx", "cubin")
_MAX_NAME_LENGTH = 100
_MOST_INTEGERS = 4096
# Names, without suffix, of other files in a folder of compiled kernels.
_RESERVED = {"launches", "report"}

SAME_FUNCTION = 0.05
"""Maximum relative norm of the difference for results that differ only by rounding."""


class Bench:
    """State shared by the tasks of one kernel: inputs and reference of the current problem.

    Args:
        begin: returns when the samples of a task that runs on several GPUs at once may begin.
    """

    def __init__(self, begin: Callable[[], None] | None = None) -> None:
        self._begin = begin
        self._key = ""
        self._inputs: dict[str, Any] = {}
        self._expected: Mapping[str, Any] | None = None

    def measure(self, task: BenchTask) -> Measurement:
        """Run a task. Errors of a kernel become the measurement's status."""
        from kprof.targets import library as kernel_library

        kernel = kernel_library.load(task.target)
        start = Measurement(kernel.name, task.case, task.shape, task.provider, "error", values=task.values)
        try:
            return self._measure(kernel, task, start)
        except NotInstalled as error:
            return _failed(start, "not_installed", str(error))
        except KprofError as error:
            return _failed(start, "unsupported", str(error))
        except Exception as error:
            # A kernel may raise anything, which then is its result.
            if _is_device_failure(error):
                raise
            self._forget()
            return _failed(start, *_explain(error, task, start))

    def _measure(self, kernel: Kernel, task: BenchTask, start: Measurement) -> Measurement:
        import torch

        assert task.device is not None
        if task.provider == "tuned":
            return self._tuned(kernel, task, start)
        found = find(kernel, task.provider, task.shape, task.device.gpu, task.config)
        call = found.call
        start = msgspec.structs.replace(start, config=found.config)
        given, expected = self._problem(kernel, task)
        inputs = found.prepare(given)
        _poison(expected)
        outputs = call(inputs)
        torch.cuda.synchronize()
        if expected is None:
            result = msgspec.structs.replace(start, status="unchecked", message="the kernel has no reference")
        else:
            assert kernel.tolerance is not None
            errors = bench_compare.compare_all(outputs, expected, kernel.tolerance(task.shape))
            result = _judged(start, errors, own=task.provider in {"triton", *kernel.alternatives})
        size = bench_timing.tensor_bytes(inputs) + bench_timing.tensor_bytes(outputs)
        del outputs
        if task.keep is not None and keep_call(call, inputs, Path(task.keep), size):
            result = msgspec.structs.replace(result, kept=task.keep)
        if task.check_only or result.status == "wrong":
            return result
        cache = task.device.limits.cache_bytes or device.UNKNOWN_CACHE_BYTES
        count = bench_timing.buffers_needed(size, cache, torch.cuda.mem_get_info()[0])
        begin = self._begin if task.together else None
        timed = _timed(kernel, task, result, call, bench_timing.copies(inputs, count), begin=begin)
        if count * size < cache and timed.timing is not None:
            note = "; ".join(filter(None, [timed.timing.note, "all buffers together fit the last-level cache"]))
            timed = msgspec.structs.replace(timed, timing=msgspec.structs.replace(timed.timing, note=note))
        return timed

    def _tuned(self, kernel: Kernel, task: BenchTask, start: Measurement) -> Measurement:
        """Return the result of the fastest correct configuration: the default or one that the kernel lists."""
        best: Measurement | None = None
        tried: list[dict[str, Any]] = []
        failures: list[str] = []
        for listed in ({}, *kernel.configs):
            config = {**listed, **task.config}
            one = msgspec.structs.replace(task, provider="triton", config=config, rep_ms=task.rep_ms / 2,
                                          profile=None, keep=None)  # fmt: skip
            if config in tried or _is_illegal(kernel, one):
                continue
            tried.append(config)
            found = self.measure(one)
            if found.timing is None and not task.check_only:
                failures.append(f"{config}: {found.status}")
            elif best is None or (found.timing and best.timing and found.timing.median < best.timing.median):
                best = found
        if best is None:
            return _failed(start, "error", "no listed configuration works: " + "; ".join(failures))
        chosen = msgspec.structs.replace(task, provider="triton", config=best.config)
        final = self.measure(chosen)
        message = "; ".join(filter(None, [final.message, *failures]))
        return msgspec.structs.replace(final, provider="tuned", message=message)

    def _problem(self, kernel: Kernel, task: BenchTask) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
        key = f"{task.target} {json.dumps(task.shape, sort_keys=True, default=str)} {task.seed} {task.values}"
        if key != self._key:
            self._forget()
            if kernel.inputs is None:
                raise KprofError(f"{kernel.name} has no function that makes inputs")
            self._inputs = refilled(kernel.inputs(task.shape, "cuda", task.seed), task.values, task.seed)
            if kernel.reference is not None:
                # The reference gets a copy, because a kernel that writes in place must not change its inputs.
                self._expected = dict(kernel.reference(bench_timing.copies(self._inputs, 2)[1], task.shape))
            self._key = key
        return self._inputs, self._expected

    def _forget(self) -> None:
        import torch

        self._key, self._inputs, self._expected = "", {}, None
        torch.cuda.empty_cache()


def _timed(
    kernel: Kernel,
    task: BenchTask,
    result: Measurement,
    call: Callable[[Mapping[str, Any]], Any],
    sets: list[dict[str, Any]],
    *,
    begin: Callable[[], None] | None,
) -> Measurement:
    assert task.device is not None
    timing = bench_timing.time_calls(
        call, sets, warmup_ms=task.warmup_ms, rep_ms=task.rep_ms, use_graph=task.use_graph, begin=begin
    )
    flops = kernel.flops(task.shape) if kernel.flops else None
    traffic = kernel.bytes(task.shape) if kernel.bytes else None
    dtype = device.limit_type(str(task.shape.get("dtype", "")))
    found = rates(timing, flops, traffic, task.device.limits, dtype)
    trace = _profile(call, sets, task) if task.profile else None
    return msgspec.structs.replace(result, timing=timing, trace=trace, **found)


def _judged(start: Measurement, errors: list[Error], *, own: bool) -> Measurement:
    """Set a measurement's status from its errors.

    Other providers may round differently, as long as they compute the same function.
    """
    wrong = [bench_compare.describe(e) for e in errors if not bench_compare.is_right(e)]
    same = all(e.relative is not None and e.relative < SAME_FUNCTION for e in errors)
    status = "ok" if not wrong else "wrong" if own or not same else "inaccurate"
    return msgspec.structs.replace(start, status=status, message="; ".join(wrong), errors=errors)


def _poison(expected: Mapping[str, Any] | None) -> None:
    """Fill the memory of the future outputs with NaN, so that elements that are not written do not look correct."""
    import torch

    torch.cuda.empty_cache()
    size = 2 * bench_timing.tensor_bytes(expected or {}) + (64 << 20)
    if size < torch.cuda.mem_get_info()[0] // 2:
        torch.full((size,), 0xFF, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()


def _is_illegal(kernel: Kernel, task: BenchTask) -> bool:
    assert task.device is not None
    config = kernel.configure(task.device.gpu, task.config, task.shape)
    return kernel.legal is not None and kernel.legal(task.shape, config, task.device.arch) is not None


def _failed(start: Measurement, status: Any, message: str) -> Measurement:
    return msgspec.structs.replace(start, status=status, message=message)


def _is_device_failure(error: Exception) -> bool:
    """Return whether an error leaves the process's GPU context unusable."""
    words = ("illegal memory access", "unspecified launch failure", "misaligned address", "hardware exception",
             "memory access fault", "device-side assert", "illegal instruction", "invalid device function",
             "invalid program counter", "uncorrectable")  # fmt: skip
    return any(word in str(error).lower() for word in words)


def _explain(error: Exception, task: BenchTask, start: Measurement) -> tuple[str, str]:
    """Return status and message of a failure that leaves the process usable."""
    import torch

    text = " ".join(str(error).split())
    kind = type(error).__name__
    if isinstance(error, torch.cuda.OutOfMemoryError):
        assert task.device is not None
        free, total = torch.cuda.mem_get_info()
        shape = assigned(task.shape, ", ")
        have = f"{free / 2**30:.1f} GiB of {total / 2**30:.1f} GiB were free"
        return "out_of_memory", f"out of device memory with {shape}: {have}; {text.partition('. ')[0]}"
    if kind == "OutOfResources":
        return "unsupported", f"the configuration does not fit the device: {text}"
    if "not supported in this architecture" in text or "not implemented for" in text or "Unsupported dtype" in text:
        where = task.device.arch if task.device else "this device"
        return "unsupported", f"{start.provider} does not support this on {where}: {_end(text)}"
    return "error", f"{kind}: {_end(text)}"


def _first_line(error: Exception) -> str:
    """Return an error's type and the first line of its message, without the driver's advice on the other lines."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:300]}"


def _end(text: str, most: int = 400) -> str:
    return text if len(text) <= most else f"... {text[-most:]}"


def _profile(call: Callable[[Mapping[str, Any]], Any], sets: list[dict[str, Any]], task: BenchTask) -> str:
    """Record ten calls with PyTorch's profiler; return the trace's path."""
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function

    assert task.profile is not None
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as profiler:
        for number in range(10):
            with record_function(f"{task.provider}:{task.case}"):
                call(sets[number % len(sets)])
        torch.cuda.synchronize()
    profiler.export_chrome_trace(task.profile)
    return task.profile


def _answer(line: str, bench: Bench) -> dict[str, Any]:
    request = json.loads(line)
    device.use(request["gpu"])
    if request["kind"] == "describe":
        found = device.describe(request["gpu"])
        found = msgspec.structs.replace(found, limits=device.with_given(found.limits, request["given"]))
        if request["measure"]:
            found = msgspec.structs.replace(found, limits=device.measured_limits(found))
        return {"device": msgspec.to_builtins(found)}
    task = msgspec.convert(request["task"], BenchTask)
    return {"measurement": msgspec.to_builtins(bench.measure(task))}


def main() -> None:
    """Answer requests until standard input ends."""
    end_with_parent()
    # Kernels may print to standard output, so it is redirected to standard error; answers use a copy of the descriptor.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def begin() -> None:
        answers.write(json.dumps({"ready": True}) + "\n")
        answers.flush()
        sys.stdin.readline()

    bench = Bench(begin)
    for line in sys.stdin:
        last = False
        try:
            reply = _answer(line, bench)
        except KprofError as error:
            failure = {"message": error.message, "hint": error.hint, "hardware": isinstance(error, HardwareError)}
            reply = {"failure": failure}
        except Exception as error:  # noqa: BLE001 - the device failed; the parent starts another process
            reply, last = {"device_failure": _first_line(error)}, True
        answers.write(json.dumps(reply) + "\n")
        answers.flush()
        if last:
            # Skip the interpreter's clean-up: freeing memory on a failed device can hang.
            os._exit(70)


@dataclass(frozen=True)
class KernelLaunch:
    """A launch of a Triton kernel.

    Attributes:
        compiled: the compiled kernel as Triton returns it.
        grid: workgroups in x, y and z.
        arguments: numbers passed as arguments, by name.
        contents: integers of small tensors before the launch, by name.
    """

    compiled: Any
    grid: tuple[int, ...]
    arguments: Mapping[str, int | float]
    contents: Mapping[str, list[int]]


@contextmanager
def kernel_launches(jit_function: Any = None) -> Iterator[list[KernelLaunch]]:
    """Collect the Triton kernel launches made inside the ``with`` block, in order.

    Args:
        jit_function: class whose ``run`` launches a kernel and returns it; Triton's by default.
    """
    if jit_function is None:
        from triton.runtime.jit import JITFunction

        jit_function = JITFunction
    found: list[KernelLaunch] = []
    launch = vars(jit_function)["run"]

    def run(self: Any, *args: Any, **options: Any) -> Any:
        names = list(getattr(self, "arg_names", ()))
        passed = {**dict(zip(names, args, strict=False)), **{n: v for n, v in options.items() if n in names}}
        contents = {name: values for name, value in passed.items() if (values := _integers(value)) is not None}
        compiled = launch(self, *args, **options)
        if hasattr(compiled, "asm") and not options.get("warmup"):
            grid = options.get("grid", ())
            grid = grid(passed) if callable(grid) else grid
            numbers = {n: v for n, v in passed.items() if isinstance(v, int | float) and isfinite(v)}
            found.append(KernelLaunch(compiled, tuple(map(int, grid)), numbers, contents))
        return compiled

    jit_function.run = run
    try:
        yield found
    finally:
        jit_function.run = launch


def _integers(value: Any) -> list[int] | None:
    """Return the elements of a small integer tensor, which may affect how long a kernel takes; else None."""
    if not hasattr(value, "numel") or not hasattr(value, "dtype") or value.numel() > _MOST_INTEGERS:
        return None
    kind = str(value.dtype).removeprefix("torch.")
    return [int(one) for one in value.flatten().tolist()] if kind.startswith(("int", "uint")) else None


def keep_call(
    call: Callable[[Mapping[str, Any]], Any], inputs: Mapping[str, Any], folder: Path, set_bytes: int
) -> bool:
    """Run a call once more, on a copy of its inputs, and write the Triton kernels that it launches.

    Autotuners have already chosen by then, so their trials are not among the launches.

    Args:
        call: the call, which ran before.
        inputs: its inputs; the call may change its copy of them.
        folder: output folder.
        set_bytes: bytes of the inputs and outputs of a call.

    Returns:
        Whether there were any launches; if not, nothing is written.

    Raises:
        OSError: the folder cannot be written.
    """
    (again,) = bench_timing.copies(inputs, 2)[1:]
    with kernel_launches() as launches:
        call(again)
    if launches:
        keep_launches(launches, folder, set_bytes)
    return bool(launches)


def keep_launches(launches: Sequence[KernelLaunch], folder: Path, set_bytes: int = 0) -> None:
    """Write launches, with the compiler's outputs and metadata of their kernels, named as in Triton's cache.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names: dict[int, str] = {}
    kept: list[KeptLaunch] = []
    for one in launches:
        name = names.get(id(one.compiled)) or _keep_kernel(one.compiled, folder)
        names[id(one.compiled)] = name
        # Unary plus converts a bool to an int.
        numbers = {argument: +value for argument, value in one.arguments.items()}
        kept.append(KeptLaunch(name, list(one.grid), numbers, dict(one.contents)))
    write_call(folder, KeptCall(kept, set_bytes))


def _keep_kernel(compiled: Any, folder: Path) -> str:
    """Write a compiled kernel's files, and return their name."""
    metadata = compiled.metadata
    fields = metadata._asdict() if hasattr(metadata, "_asdict") else dict(metadata)
    name = _free_name(folder, re.sub(r"\W", "_", str(fields.get("name", "kernel")))[:_MAX_NAME_LENGTH])
    for stage in _STAGES:
        content = compiled.asm.get(stage)
        if isinstance(content, str | bytes):
            data = content.encode() if isinstance(content, str) else content
            (folder / f"{name}.{stage}").write_bytes(data)
    (folder / f"{name}.json").write_text(json.dumps(fields, default=_plain))
    return name


def _free_name(folder: Path, name: str) -> str:
    """Return a file name that is not used in the folder yet, since specialisations of a kernel share its name."""
    names = [name, *(f"{name}_{number}" for number in range(2, 1000))]
    return next((n for n in names if n not in _RESERVED and not (folder / f"{n}.json").exists()), name)


def _plain(value: Any) -> Any:
    """Convert values for JSON: Triton's target description to its fields, anything else to text."""
    return dict(vars(value)) if hasattr(value, "__dict__") else str(value)
