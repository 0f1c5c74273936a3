"""From a problem and a configuration to what is compiled and launched, for every bundled kernel."""

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kprof.errors import KprofError

pytestmark = pytest.mark.triton


def subject(name: str, arch: str = "gfx942", **shape: Any) -> Any:
    """A bundled kernel with one problem."""
    from kprof.hardware.machine import load
    from kprof.targets.library import load as load_kernel
    from kprof.tuning.problems import problems
    from kprof.tuning.subject import KernelSubject

    kernel = load_kernel(name)
    return KernelSubject(kernel, load(arch), None, tuple(problems(kernel, arch, [shape] if shape else [])))


@pytest.mark.parametrize(
    ("name", "knobs", "launched"),
    [
        ("gemm", {"SPLIT_K": 1}, ["gemm"]),
        ("gemm", {"SPLIT_K": 4}, ["gemm", "gemm::reduce"]),
        ("gemm_streamk", {"WORKGROUPS": 304, "BLOCK_M": 64, "BLOCK_N": 64}, ["gemm_streamk", "gemm_streamk::fixup"]),
        ("gemm_streamk", {"WORKGROUPS": 64, "BLOCK_M": 64, "BLOCK_N": 64}, ["gemm_streamk"]),
    ],
)
def test_parts_are_launched_when_run_launches_them(name: str, knobs: Mapping[str, Any], launched: list[str]) -> None:
    """A reduction after a split, a fix-up of shared tiles; with the options that ``run`` gives them."""
    tuned = subject(name, M=512, N=512, K=2048)
    (problem,) = tuned.problems

    jobs = tuned.jobs(problem, {**tuned.base(problem), **knobs, "num_warps": 8})

    assert [job.name for job in jobs] == launched
    assert jobs[0].request.options["num_warps"] == 8
    assert all(job.request.options == {"num_warps": 4} for job in jobs[1:])
    assert all(min(job.grid or (0,)) > 0 for job in jobs)
    assert tuned.flops(problem) == 2 * 512 * 512 * 2048


def test_values_of_integer_tensors_reach_the_judge() -> None:
    """Lengths decide how often the loop of a decoding kernel iterates: eight full caches here."""
    tuned = subject("flash_decoding")
    (problem,) = tuned.problems

    job = tuned.jobs(problem, tuned.base(problem))[0]

    assert job.contents == {"lengths_ptr": (8192,) * 8}


def test_what_is_known_of_a_kernel() -> None:
    """The smallest element decides LDS; the files that decide the program are named."""
    tuned = subject("gemm", dtype="fp8_e4m3", out="bf16")

    assert tuned.element_bytes(tuned.problems[0]) == 1
    assert subject("gemm").element_bytes(subject("gemm").problems[0]) == 2
    assert any(path.endswith("gemm.py") for path in tuned.dependencies())


def test_every_bundled_kernel_can_be_searched(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """Spaces are counted to the last combination, and the kernel's own configuration is legal and comes first."""
    from kprof.targets.library import bundled
    from kprof.tuning import space
    from kprof.tuning.journal import TuningJournal
    from kprof.tuning.search import Search
    from kprof.tuning.work import Judge

    for name in bundled():
        tuned = subject(name)
        asked: list[Mapping[str, Any]] = []

        def rule(config: Mapping[str, Any], asked: list[Mapping[str, Any]] = asked) -> Any:
            asked.append(config)
            return KeyboardInterrupt() if len(asked) > 12 else float(len(asked))

        chosen = space.check(space.of_kernel(tuned.kernel), tuned.kernel.knobs(), tuned.problems[0].values)
        journal = TuningJournal(tmp_path / f"{name}.jsonl")
        found = Search(tuned, chosen, judge=Judge("a:b", "1"), executor=fake(rule), journal=journal).run()

        assert found.progress.total + sum(found.pruned.values()) == chosen.size, name
        assert found.progress.total > 0, name
        assert found.ranked[0], name
        assert not found.failed, (name, found.failed)
        own = tuned.base(tuned.problems[0])
        assert {n: v for n, v in asked[0].items() if n in own} == own, name
        journal.close()


BARE = """
import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": 64, "waves_per_eu": 2}, num_warps=2)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def scale(x, y, n, stride, BLOCK: tl.constexpr, EVEN: tl.constexpr, FLAG: tl.constexpr = False):
    at = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) * stride
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
"""


@pytest.fixture
def bare(tmp_path: Path) -> Callable[..., Any]:
    """A function without a KERNEL, with a signature and a grid."""

    def make(signature: str, grid: str, **sizes: Any) -> Any:
        from kprof.expressions import SCALARS, parse
        from kprof.hardware.machine import load
        from kprof.kernel_spec import Kernel
        from kprof.tuning.problems import Problem
        from kprof.tuning.subject import SignatureSubject

        path = tmp_path / "bare_scale.py"
        path.write_text(BARE)
        spec = importlib.util.spec_from_file_location("bare_scale", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        kernel = Kernel("scale", module.scale, "", lambda *_: None, shapes={}, config={})  # type: ignore[arg-type,return-value]
        return SignatureSubject(
            kernel, load("gfx942"), None, (Problem("p", sizes),), signature, (parse(grid, "--grid", SCALARS),)
        )

    return make


def test_a_bare_function(bare: Callable[..., Any]) -> None:
    """Sizes are specialised as a launch would, heuristics are asked, options and knobs are told apart."""
    tuned = bare("*fp16,*bf16", "cdiv(n, BLOCK)", n=4096, stride=1)
    (job,) = tuned.jobs(tuned.problems[0], {"BLOCK": 128, "waves_per_eu": 0, "num_warps": 4})

    request = job.request
    assert request.signature["x"] == "*fp16"
    assert request.signature["n"] == "i32"
    assert request.attributes["n"] == {"divisibility": 16}
    assert request.constexprs == {"stride": 1, "BLOCK": 128, "EVEN": True, "FLAG": False}
    assert request.options == {"waves_per_eu": 0, "num_warps": 4}
    assert job.grid == (32,)
    assert job.arguments["n"] == 4096
    assert tuned.element_bytes(tuned.problems[0]) == 2


@pytest.mark.parametrize(
    ("signature", "grid", "sizes", "message"),
    [
        ("*fp16", "n", {"n": 64, "stride": 1}, "the signature has 1"),
        ("*fp16,*fp16", "n // 0", {"n": 64, "stride": 1}, "divides by zero"),
        ("*fp16,*fp16", "n - 64", {"n": 64, "stride": 1}, "the grid is 0"),
        ("*fp16,*fp16", "m", {"n": 64, "stride": 1}, "'m' has no value"),
        ("*fp16,*fp16", "1", {"stride": 1}, "the heuristic for EVEN fails: KeyError"),
    ],
)
def test_a_bare_function_that_is_launched_wrongly(
    bare: Callable[..., Any], signature: str, grid: str, sizes: Mapping[str, Any], message: str
) -> None:
    """One sentence each."""
    tuned = bare(signature, grid, **sizes)

    with pytest.raises(KprofError, match=message):
        tuned.jobs(tuned.problems[0], {"BLOCK": 64})
