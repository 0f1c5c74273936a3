"""Run public programs that launch Triton kernels, and list the launches; needs only torch, Triton and the programs.

Usage, on a machine with a GPU: ``python programs.py OUT.json [NAME ...]``, with ``TRITON_SOURCE`` naming a checkout of
Triton for its tutorials. Each program runs in its own process, in which Triton's launch hook lists its launches.
``python programs.py --run NAME`` runs one program without a list, for ``validation/compare_launches.py``.

Everything that depends on times is removed on both sides, as in a capture: an autotuner uses the first configuration
that can be launched, a benchmark calls its function once, and nothing is plotted.
"""

import importlib
import importlib.machinery
import json
import math
import os
import runpy
import subprocess
import sys
import types
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton
import triton.testing

TUTORIALS = {f"tutorial_{number:02}": f"{number:02}-*.py" for number in range(1, 9)}
PACKAGES = Path(__file__).parents[1] / "programs"
"""Programs of other public packages, see ``validation/record_programs.py``; each can also be named."""

TIME_LIMIT = 400
NOT_KNOWN = math.inf


# The programs.


def half(*shape: int) -> torch.Tensor:
    """Return a bfloat16 tensor that requires a gradient."""
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16).requires_grad_()


def liger() -> dict[str, Callable[[], Any]]:
    """Return Liger's main operators; each returns a tensor, or a tuple that starts with one."""
    ops = importlib.import_module("liger_kernel.ops")
    rows, hidden, vocabulary = 512, 4096, 32000
    tokens = torch.randint(0, vocabulary, (rows,), device="cuda")
    angles = torch.randn(1, 128, 64, device="cuda", dtype=torch.bfloat16)
    logs = torch.log_softmax(torch.randn(rows, vocabulary, device="cuda"), -1)
    return {
        "rms_norm": lambda: ops.LigerRMSNormFunction.apply(half(rows, hidden), half(hidden), 1e-6),
        "layer_norm": lambda: ops.LigerLayerNormFunction.apply(half(rows, hidden), half(hidden), half(hidden), 1e-6),
        "cross_entropy": lambda: ops.LigerCrossEntropyFunction.apply(half(rows, vocabulary), tokens, None),
        "fused_linear_cross_entropy": lambda: ops.LigerFusedLinearCrossEntropyFunction.apply(
            half(rows, 1024), half(vocabulary, 1024), tokens
        ),
        "swiglu": lambda: ops.LigerSiLUMulFunction.apply(half(rows, hidden), half(rows, hidden)),
        "geglu": lambda: ops.LigerGELUMulFunction.apply(half(rows, hidden), half(rows, hidden)),
        "rope": lambda: ops.LigerRopeFunction.apply(half(2, 16, 128, 64), half(2, 4, 128, 64), angles, angles),
        "kl_div": lambda: ops.LigerKLDivLossFunction.apply(logs.clone().requires_grad_(), logs.exp()),
        "jsd": lambda: ops.LigerJSDFunction.apply(logs.clone().requires_grad_(), logs),
        "tvd": lambda: ops.LigerTVDLossFunction.apply(logs.exp().requires_grad_(), logs.exp()),
        "group_norm": lambda: ops.LigerGroupNormFunction.apply(half(4, 32, 1024), half(32), half(32), 32, 8, 1e-6),
        "dyt": lambda: ops.LigerDyTFunction.apply(half(rows, hidden), half(1), half(hidden), half(hidden)),
        "softmax": lambda: ops.LigerSoftmaxFunction.apply(half(rows, hidden)),
    }


def run_liger() -> None:
    """Run each of Liger's operators, forward and backward."""
    for name, call in liger().items():
        try:
            made = call()
            first = made[0] if isinstance(made, tuple) else made
            first.float().sum().backward()
        except Exception as error:  # noqa: BLE001  # one operator's failure is a line of the page
            print(f"failed {name}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}", flush=True)


def run(name: str) -> None:
    """Run one program."""
    stand_in_for_missing()
    triton.testing.Mark.run = measure_nothing
    torch.manual_seed(0)
    if name == "liger":
        run_liger()
        return
    if name in TUTORIALS:
        (path,) = (Path(os.environ["TRITON_SOURCE"]) / "python" / "tutorials").glob(TUTORIALS[name])
    else:
        path = PACKAGES / f"{name}.py"
        sys.path.insert(0, str(PACKAGES))
    sys.argv = [str(path)]
    try:
        runpy.run_path(str(path), run_name="__main__")
    except Exception as error:  # noqa: BLE001  # a line of the page
        print(f"failed {name}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}", flush=True)


class _Nothing(types.ModuleType):
    """An object with any attribute; as a decorator, it returns the function unchanged."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing(name)

    def __call__(self, *values: Any, **_options: Any) -> Any:
        return values[0] if len(values) == 1 and callable(values[0]) else self


def stand_in_for_missing() -> None:
    """Replace packages that the tutorials import for tests and tables and that launch no kernel."""
    for name in ("pytest", "tabulate"):
        try:
            importlib.import_module(name)
        except ImportError:
            module = sys.modules[name] = _Nothing(name)
            module.__spec__ = importlib.machinery.ModuleSpec(name, None)
            module.__dict__["tabulate"] = lambda *_rows, **_options: ""


def measure_nothing(mark: Any, *_arguments: Any, **_options: Any) -> None:
    """Call each point of a benchmark once, without a table or a plot."""
    marks = mark.benchmarks if isinstance(mark.benchmarks, list) else [mark.benchmarks]
    for one in marks:
        for point in one.x_vals:
            values = point if isinstance(point, list | tuple) else [point] * len(one.x_names)
            for line in one.line_vals:
                mark.fn(**dict(zip(one.x_names, values, strict=True)), **{one.line_arg: line}, **one.args)


# The list of launches.

listed: Counter[str] = Counter()
compiled: dict[str, dict[str, Any]] = {}
trying = [0]


def plain(value: Any) -> Any:
    """Return a constant as a JSON value: functions and types by their name."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if type(value).__name__ == "constexpr":
        return plain(value.value)
    return str(getattr(value, "__name__", value))


def argument_name(names: list[str], path: Any) -> str:
    """Return an argument's name, ``argument`` or ``argument.0``."""
    if isinstance(path, str):
        return path
    first, *inner = path if isinstance(path, tuple | list) else (path,)
    return ".".join((names[first], *map(str, inner)))


def before_compile(*, fn: Any, **_rest: Any) -> bool:
    """Record each function's grid when it is launched."""
    function = fn.jit_function
    original = function.launch_metadata
    if getattr(original, "tells", False):
        return False

    def launch_metadata(grid: Any, metadata: Any, arguments: Any) -> dict[str, Any]:
        own = original(grid, metadata, arguments) if original else {}
        return {**own, "listed_hash": metadata.hash, "listed_grid": tuple(grid)}

    launch_metadata.tells = True  # type: ignore[attr-defined]
    function.launch_metadata = launch_metadata
    return False


def after_compile(*, key: Any, fn: Any, compile: Any, **_rest: Any) -> None:  # noqa: A002  # the hook's name
    """Record the compiled kernel."""
    del compile
    function = fn.jit_function
    for cache, *_ in function.device_caches.values():
        kernel = cache.get(key)
        if kernel is None:
            continue
        source, names = kernel.src, [parameter.name for parameter in function.params]
        compiled[kernel.metadata.hash] = {
            "kernel": function.fn.__name__,
            "signature": {name: str(kind) for name, kind in source.signature.items()},
            "constants": {argument_name(names, path): plain(value) for path, value in source.constants.items()},
            "hints": {
                argument_name(names, path): sorted(str(hint[0]).removeprefix("tt.") for hint in hints)
                for path, hints in (source.attrs or {}).items()
                if hints
            },
            "options": {"num_warps": kernel.metadata.num_warps, "num_stages": kernel.metadata.num_stages},
        }


def launched(metadata: Any) -> None:
    """Triton's launch hook."""
    known = metadata.get()
    grid = [int(size) for size in known.get("listed_grid", ())]
    if trying[0] or 0 in grid:
        return
    about = compiled.get(known.get("listed_hash"), {"kernel": known["name"], "not_described": True})
    listed[json.dumps({**about, "grid": grid + [1] * (3 - len(grid))}, sort_keys=True)] += 1


def once(call: Callable[[], Any], *_arguments: Any, quantiles: Any = None, **_options: Any) -> Any:
    """Replacement for a benchmark: call the function once, and return no time."""
    call()
    return [math.nan] * len(quantiles) if quantiles else math.nan


def tried(call: Callable[[], Any], *_arguments: Any, **_options: Any) -> list[float]:
    """Replacement for an autotuner's benchmark: all configurations that can be launched get the same time."""
    call()
    return [0.0] * 3


def list_launches() -> None:
    """Install the hook, and remove everything that depends on times."""
    from triton import knobs
    from triton.runtime.autotuner import Autotuner

    knobs.runtime.jit_cache_hook = before_compile
    knobs.runtime.jit_post_compile_hook = after_compile
    knobs.runtime.launch_enter_hook.add(launched)
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = once
    plain_run, plain_bench = Autotuner.run, Autotuner._bench  # noqa: SLF001  # there is no public place
    found: set[int] = set()

    def tuned(self: Any, *arguments: Any, **options: Any) -> Any:
        found.discard(id(self))
        return plain_run(self, *arguments, **options)

    def bench(self: Any, *arguments: Any, config: Any, **meta: Any) -> Any:
        if id(self) in found:
            return [NOT_KNOWN] * 3
        trying[0] += 1
        try:
            times = plain_bench(self, *arguments, config=config, **meta)
        finally:
            trying[0] -= 1
        if times[0] != NOT_KNOWN:
            found.add(id(self))
        return times

    Autotuner.run, Autotuner._bench = tuned, bench  # noqa: SLF001
    Autotuner.do_bench = property(lambda _self: tried, lambda _self, _value: None)


def main() -> None:
    """List the launches of the named programs, or of all programs without a name."""
    out, *names = sys.argv[1:]
    if out == "--run":
        run(names[0])
        return
    if out == "--list":
        list_launches()
        try:
            run(names[0])
        finally:
            launches = [{**json.loads(text), "launches": count} for text, count in listed.items()]
            Path(names[1]).write_text(json.dumps(launches), encoding="utf-8")
        return
    found: dict[str, Any] = {
        "device": torch.cuda.get_device_name(),
        "capability": list(torch.cuda.get_device_capability()),
        "processors": torch.cuda.get_device_properties(0).multi_processor_count,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "programs": {},
    }
    for name in names or [*TUTORIALS, "liger"]:
        part = Path(f"{out}.{name}")
        command = [sys.executable, __file__, "--list", name, str(part)]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
            said = [line for line in ran.stdout.splitlines() if line.startswith("failed ")]
            if ran.returncode:
                said += ran.stderr.splitlines()[-1:]
        except subprocess.TimeoutExpired:
            said = [f"failed {name}: not done after {TIME_LIMIT} s"]
        launches = json.loads(part.read_text(encoding="utf-8")) if part.is_file() else []
        part.unlink(missing_ok=True)
        found["programs"][name] = {"launches": launches, "failed": said}
        print(name, sum(launch["launches"] for launch in launches), *said, flush=True)
        Path(out).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
