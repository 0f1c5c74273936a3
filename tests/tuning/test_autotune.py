"""Pruning inside ``@triton.autotune``, called as the autotuner calls, with descriptors of tensors and no GPU."""

import importlib.util
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.triton

KERNEL = """
import triton
import triton.language as tl
import kprof

CONFIGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=4, num_stages=s)
    for m, n, k, s in ((16, 16, 32, 2), (64, 64, 32, 2), (32, 32, 32, 2), (128, 128, 256, 2))
]


@triton.autotune(CONFIGS, key=["M", "N", "K"], prune_configs_by=BY)
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
@triton.jit
def product(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
            EVEN_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        x = tl.load(a + rows[:, None] * K + (k + depth)[None, :])
        y = tl.load(b + (k + depth)[:, None] * N + columns[None, :])
        acc += tl.dot(x, y)
    tl.store(c + rows[:, None] * N + columns[None, :], acc.to(tl.float16))
"""


class FakeTensor:
    """As much of a tensor as a launch looks at."""

    dtype = "torch.float16"

    def __init__(self, elements: int) -> None:
        self._elements = elements

    def data_ptr(self) -> int:
        """An aligned address."""
        return 4096

    def numel(self) -> int:
        """Number of elements."""
        return self._elements


@pytest.fixture
def tuner(tmp_path: Path) -> Callable[[str], Any]:
    """An autotuned kernel in a file of its own, with ``prune_configs_by`` as written."""
    count = 0

    def make(by: str) -> Any:
        nonlocal count
        count += 1
        path = tmp_path / f"autotuned_{count}.py"
        path.write_text(KERNEL.replace("BY)", by + ")"))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return module.product

    return make


def prune(kernel: Any, size: int = 512) -> list[Any]:
    """What ``Autotuner.run`` does before it measures."""
    values = (FakeTensor(size * size), FakeTensor(size * size), FakeTensor(size * size), size, size, size)
    kernel.nargs = dict(zip(kernel.arg_names, values, strict=False))
    grid = lambda meta: (size // meta["BLOCK_M"], size // meta["BLOCK_N"])  # noqa: E731 - as users write it
    found: list[Any] = kernel.prune_configs({"grid": grid, "warmup": False})
    return found


@pytest.fixture
def by_stub(monkeypatch: pytest.MonkeyPatch, stub_judge: Any) -> Any:
    """The judge that counts instructions instead of the model."""
    from kprof.tuning import ranking

    monkeypatch.setattr(ranking, "current_judge", lambda: stub_judge)
    return stub_judge


@pytest.mark.slow
def test_the_best_are_kept_and_the_impossible_is_dropped(tuner: Callable[[str], Any]) -> None:
    """With the real model: two are left, in order, and the one that needs too much LDS is not among them."""
    kernel = tuner('{"early_config_prune": kprof.prune_configs(top_k=2, arch="MI300X", jobs=2)}')

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = prune(kernel)

    assert len(kept) == 2
    assert all(config in kernel.configs for config in kept)
    assert all(config.kwargs["BLOCK_M"] != 128 for config in kept)


@pytest.mark.slow
def test_triton_takes_the_perf_model(tuner: Callable[[str], Any], by_stub: Any) -> None:
    """Triton's own top-k with kprof's times keeps the same configurations as kprof's pruning."""
    del by_stub
    ours = tuner('{"early_config_prune": kprof.prune_configs(top=2, arch="gfx942", jobs=2)}')
    theirs = tuner('{"perf_model": kprof.perf_model(arch="gfx942", jobs=2), "top_k": 2}')

    ours.configs, theirs.configs = ours.configs[:3], theirs.configs[:3]
    kept, chosen = prune(ours), prune(theirs)

    assert [c.kwargs for c in kept] == [c.kwargs for c in chosen]
    assert len(chosen) == 2


def test_what_crashes_is_dropped_and_what_cannot_be_judged_is_kept(
    tuner: Callable[[str], Any], by_stub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A configuration that takes the compiler down would take the user's program down."""
    del by_stub
    monkeypatch.setenv("STUB_JUDGE_DIES", "BLOCK_M=16 ")
    monkeypatch.setenv("STUB_JUDGE_FAILS", "BLOCK_M=64 ")
    kernel = tuner('{"early_config_prune": kprof.prune_configs(top_k=1, arch="gfx942", jobs=2)}')
    kernel.configs = kernel.configs[:3]

    assert [config.kwargs["BLOCK_M"] for config in prune(kernel)] == [32, 64]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "there is no AMD GPU in this process"),
        ('arch="gfx999"', "no architecture or product 'gfx999'"),
        ('arch="gfx942", budget=0', "no configuration has a prediction"),
    ],
)
def test_when_nothing_can_be_said_everything_is_kept(tuner: Callable[[str], Any], arguments: str, message: str) -> None:
    """One warning, and the user's program goes on as without kprof."""
    kernel = tuner('{"early_config_prune": kprof.prune_configs(' + arguments + ")}")

    with pytest.warns(RuntimeWarning, match=message):
        assert prune(kernel) == kernel.configs


def test_times_that_say_nothing_are_no_silent_choice(tuner: Callable[[str], Any]) -> None:
    """If no configuration has a prediction, Triton's top-k takes the first ones, and a warning says so."""
    kernel = tuner('{"perf_model": kprof.perf_model(arch="gfx942", budget=0), "top_k": 2}')

    with pytest.warns(
        RuntimeWarning,
        match="perf_model: the time limit was reached before its compile; no configuration has a prediction",
    ):
        assert len(prune(kernel)) == 2


def test_a_script_may_look_at_its_arguments(tmp_path: Path) -> None:
    """Workers import it as if it had none."""
    from kprof.compiler.compile import compile_many
    from kprof.targets.signature import load_signature

    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nimport triton\nimport triton.language as tl\n\nGIVEN: tl.constexpr = tl.constexpr(len(sys.argv))\n"
        "\n@triton.jit\ndef kernel(x, N: tl.constexpr):\n    tl.static_assert(GIVEN == 1)\n    tl.store(x, N)\n"
    )
    request = load_signature(str(script), "kernel", "*i32", "gfx942", {"N": 1})

    (outcome,) = compile_many([request], 1, cache=False)

    assert outcome.ok, outcome.error


def test_not_called_by_an_autotuner() -> None:
    """Called by hand, it keeps what it is given."""
    import kprof

    configs = [object(), object()]
    with pytest.warns(RuntimeWarning, match="must be called by a Triton autotuner"):
        assert kprof.prune_configs(arch="gfx942")(configs, {}) == configs
    with pytest.warns(RuntimeWarning, match="must be called by a Triton autotuner"):
        assert kprof.perf_model(arch="gfx942")(M=1) == 0.0
    assert kprof.prune_configs(arch="gfx942")(configs[:1], {}) == configs[:1]


def test_unknown_arguments_are_no_error(tuner: Callable[[str], Any]) -> None:
    """Something that no launch can take: a warning, and everything is kept."""
    kernel = tuner('{"early_config_prune": kprof.prune_configs(arch="gfx942")}')
    values = [object(), object(), object(), 512, 512, 512]
    kernel.nargs = dict(zip(kernel.arg_names, values, strict=False))

    with pytest.warns(RuntimeWarning, match="which kprof cannot pass to the compiler"):
        assert kernel.prune_configs({"grid": (1,)}) == kernel.configs


@pytest.mark.parametrize(("guard", "kept"), [('if __name__ == "__main__":\n', 1), ("if True:\n", 2)])
def test_a_script_that_would_run_again_is_left_alone(tmp_path: Path, guard: str, kept: int) -> None:
    """Workers import the kernel's file: a script without a guard is not imported, and keeps everything."""
    path = tmp_path / "script.py"
    program = """
    import sys
    class FakeTensor:
        dtype = "torch.float16"
        def data_ptr(self): return 4096
        def numel(self): return 512 * 512
    product.configs = product.configs[:2]
    product.nargs = dict(zip(product.arg_names, (FakeTensor(), FakeTensor(), FakeTensor(), 512, 512, 512)))
    print("ran", len(product.prune_configs({"grid": (64,)})))
"""
    by = '{"early_config_prune": kprof.prune_configs(top_k=1, arch="gfx942")}'
    path.write_text(KERNEL.replace("BY)", by + ")") + guard + program)

    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )

    assert done.stdout == f"ran {kept}\n"
    assert ("runs its program when it is imported" in done.stderr) == (kept == 2)


def test_importing_it_is_cheap() -> None:
    """Neither Triton nor torch nor numpy is imported before something is pruned."""
    code = (
        "import sys, kprof; kprof.prune_configs(arch='gfx942');"
        "print([m for m in ('triton', 'torch', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )

    assert done.stdout.strip() == "[]"


def test_at_least_one_is_kept() -> None:
    """A top-k of nothing is refused where it is written."""
    import kprof
    from kprof.errors import KprofError

    with pytest.raises(KprofError, match="at least one"):
        kprof.prune_configs(top_k=0)
