"""Compiling without a GPU: the same program as Triton's, whatever happens to the workers."""

import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from kprof.compiler import versions as triton_versions
from kprof.compiler.cached_compile import build
from kprof.compiler.compile import compile_kernel, compile_many
from kprof.compiler.limits import LaunchProblem
from kprof.compiler.request import STAGES
from kprof.errors import KprofError
from kprof.targets.signature import load_signature
from tests.compiler.conftest import SAMPLES

pytestmark = pytest.mark.triton

VERSION = triton_versions.installed().numbers if triton_versions.importlib.util.find_spec("triton") else (0, 0)


def compile_here(request):
    """As a worker does it, in this process and without the cache."""
    return build(request, None, lambda _stage: None, lambda _most: "", {})


def compiled_by_triton(request):
    """Assembly and metadata from ``triton.compile`` itself."""
    import triton
    from triton.backends.compiler import GPUTarget

    from kprof.compiler.in_process import _values
    from kprof.importing.functions import load_function

    api = triton_versions.api()
    function = load_function(request.path, request.function)
    source = api.ast_source(function.jit, dict(request.signature), *_values(api, request, function))
    target = GPUTarget("hip", request.arch, triton_versions.warp_size(request.arch))
    with triton_versions.linker(api.numbers, {}):
        return triton.compile(source, target=target, options={"enable_fp_fusion": True, **request.options})


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_stages_are_those_of_triton(matmul_request, pool, arch):
    """Every text equals what triton.compile makes; so do LDS and the number of warps."""
    if VERSION < (3, 6) and triton_versions.find_linker() is None:
        pytest.skip("this Triton compiles only where it finds ld.lld")
    request = matmul_request(arch, num_warps=4)
    (outcome,) = compile_many([request], pool=pool)
    compiled = outcome.result()
    theirs = compiled_by_triton(request)
    for stage in ("ttir", "ttgir", "llir", "amdgcn"):
        assert compiled.text(stage) == theirs.asm[stage], stage
    assert compiled.lds_bytes == theirs.metadata.shared
    assert compiled.metadata["num_warps"] == theirs.metadata.num_warps


def test_what_a_compiled_kernel_holds(add_request):
    """All stages, metadata, version, time, line."""
    compiled = compile_kernel(add_request(), cache=False)
    made = set(STAGES) - set(compiled.missing)
    assert set(compiled.stages) == made
    assert made >= {"ttir", "ttgir", "llir", "amdgcn"}
    if "hsaco" in made:
        assert compiled.stages["hsaco"][:4] == b"\x7fELF"
    assert compiled.name == "add"
    assert compiled.triton_version == triton_versions.installed().version
    assert compiled.source_line == SAMPLES.read_text().splitlines().index("def add(x, y, out, n, BLOCK: tl.constexpr):")
    assert (compiled.cached, compiled.diagnostics, len(compiled.hash)) == (False, "", 64)
    assert 0 < sum(compiled.stage_seconds.values()) <= compiled.seconds * 1.01


def test_without_linker_everything_but_the_object(add_request, monkeypatch):
    """Triton 3.4 needs ld.lld only for the last stage."""
    if VERSION >= (3, 6):
        pytest.skip("this Triton links by itself")
    monkeypatch.setattr(triton_versions, "find_linker", lambda: None)
    compiled = compile_here(add_request())
    assert "hsaco" not in compiled.stages
    assert "ld.lld" in compiled.missing["hsaco"]
    assert "s_endpgm" in compiled.amdgcn


def test_switch_takes_effect_in_process_and_in_workers(add_request, pool):
    """Buffer operations follow the variable, also after another compile in the same process."""
    on, off = (add_request(environment={"AMDGCN_USE_BUFFER_OPS": value}) for value in "10")
    off = replace(off, attributes=on.attributes)
    for compile_one in (
        compile_here,
        lambda request: next(iter(compile_many([request], pool=pool, cache=False))).result(),
    ):
        counts = [compile_one(request).amdgcn.count("buffer_load") for request in (on, off, on)]
        assert counts[0] > 0
        assert counts[1] == 0
        assert counts[2] == counts[0]
    assert "AMDGCN_USE_BUFFER_OPS" not in os.environ


def test_options_change_the_program(add_request, pool):
    """num_warps reaches the metadata and the launch bounds."""
    outcomes = compile_many([add_request(num_warps=n) for n in (1, 8)], pool=pool)
    compiled = {o.index: o.result() for o in outcomes}
    assert [compiled[n].metadata["num_warps"] for n in (0, 1)] == [1, 8]
    assert ".max_flat_workgroup_size: 512" in compiled[1].amdgcn


def test_functions_and_dtypes_as_constexprs(pool):
    """A helper passed in by the launch is found again in the worker."""
    import triton.language as tl

    from kprof.importing.functions import load_function

    values = {"function": load_function(SAMPLES, "double").jit, "dtype": tl.float32}
    request = load_signature(str(SAMPLES), "apply", "*fp16", "gfx942", values)
    (outcome,) = compile_many([request], pool=pool)
    assert "arith.extf" in outcome.result().ttgir


def test_limits_that_only_a_launch_would_find(matmul_request, add_request, pool):
    """Too much LDS and too many threads compile; both are told."""
    requests = [matmul_request(M=256, N=256, BLOCK_K=128, num_stages=3, num_warps=8), add_request(num_warps=32)]
    compiled = {o.index: o.result() for o in compile_many(requests, pool=pool)}
    (lds,) = compiled[0].launch_problems
    assert (lds.resource, lds.needed, lds.limit) == ("lds", compiled[0].lds_bytes, 65536)
    assert lds.needed > 65536
    assert compiled[1].launch_problems == (LaunchProblem("threads", 2048, 1024),)
    assert str(lds).startswith("needs 2") or "bytes of LDS" in str(lds)


def test_jit_errors_name_the_users_line(write, pool):
    """Also when it goes wrong in a helper: the line is the one in the kernel that called it."""
    text = """
        import triton
        import triton.language as tl

        @triton.jit
        def helper(v):
            tl.static_assert(False, "never")
            return v

        @triton.jit
        def calls(x,
                  n):
            at = tl.arange(0, 64)
            tl.store(x + at, helper(tl.load(x + at)))

        @triton.jit
        def odd(x, n):
            tl.arange(0, 63)

        @triton.jit
        def shapes(x, n):
            tl.arange(0, 64) + tl.arange(0, 128)
    """
    path = write("user.py", "\n".join(line[8:] for line in text.splitlines()))
    names = ("calls", "odd", "shapes")
    outcomes = {
        o.request.function: o
        for o in compile_many([load_signature(str(path), n, "*fp32,i32", "gfx942") for n in names], pool=pool)
    }
    assert {name: outcomes[name].place for name in names} == {"calls": "line 14", "odd": "line 18", "shapes": "line 22"}
    assert "never" in outcomes["calls"].error
    assert "power of 2" in outcomes["odd"].error
    assert "incompatible" in outcomes["shapes"].error
    assert all(o.status == "failed" and o.path == str(path) for o in outcomes.values())
    with pytest.raises(KprofError, match="power of 2"):
        compile_kernel(outcomes["odd"].request)


def test_nothing_reaches_the_terminal(add_request, capfd, pool):
    """Diagnostics are kept with the outcome."""
    (outcome,) = compile_many([replace(add_request(), arch="gfx999")], pool=pool)
    assert outcome.error == "this Triton does not compile for gfx999"
    assert "unsupported target" in outcome.diagnostics
    assert "ttgir" in outcome.stages
    assert capfd.readouterr() == ("", "")


def test_wrong_requests_fail_alone(add_request, pool):
    """One message each; the others compile."""
    good = add_request()
    bad = [
        replace(good, arch="sm_90"),
        replace(good, options={"num_warp": 4}),
        replace(good, environment={"AMDGCN_USE_BUFER_OPS": "1"}),
        replace(good, function="nothing"),
        replace(good, path="/nowhere/user.py"),
    ]
    outcomes = {o.index: o for o in compile_many([*bad, good], pool=pool)}
    assert [outcomes[i].status for i in range(6)] == ["failed"] * 5 + ["ok"]
    assert "not an AMD architecture" in outcomes[0].error
    assert "no option 'num_warp'" in outcomes[1].error
    assert "AMDGCN_USE_BUFFER_OPS" in outcomes[2].hint
    assert "no function 'nothing'" in outcomes[3].error
    assert "no such file" in outcomes[4].error


DEADLY = """
import os, sys, time, signal
import triton

@triton.jit
def kernel(x):
    pass

if "pytest" not in sys.modules:  # in a worker
    {action}
"""


@pytest.mark.parametrize(
    ("action", "status", "error"),
    [
        ("os.abort()", "crashed", "crashed: signal 6 (SIGABRT)"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed", "crashed: signal 11 (SIGSEGV)"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "crashed", "crashed: signal 9 (SIGKILL)"),
        ("os._exit(3)", "crashed", "crashed: exit status 3"),
        ("time.sleep(60)", "timeout", "took longer than 5 s"),
    ],
)
def test_worker_that_dies_is_one_outcome(write, add_request, action, status, error):
    """The rest goes on, in another worker."""
    path = write("user.py", DEADLY.format(action=action))
    deadly = load_signature(str(path), "kernel", "*fp32", "gfx942")
    requests = [add_request(block=256), deadly, add_request(block=512), add_request(block=128)]
    started = time.monotonic()
    outcomes = {o.index: o for o in compile_many(requests, 1, timeout=5, cache=False)}
    assert [outcomes[i].status for i in range(4)] == ["ok", status, "ok", "ok"]
    assert outcomes[1].error.startswith(error)
    assert time.monotonic() - started < 50


def test_stopping_early_ends_the_workers(add_request):
    """A search that has seen enough leaves no process behind."""
    from kprof.compiler.pool import Pool

    with Pool(2) as pool:
        outcomes = pool.run(add_request(block=2**n) for n in range(6, 12))
        next(outcomes)
        busy = [worker.process for worker in pool._workers]
        outcomes.close()
    assert busy
    assert not any(process.alive for process in busy)


def test_requests_are_taken_when_a_worker_is_free(add_request):
    """A generator sees outcomes before it must decide what comes last."""
    seen: list[int] = []

    def requests():
        for step in range(4):
            yield add_request(block=256 << step)
            seen.append(step)

    first = next(iter(compile_many(requests(), 1, cache=False)))
    assert first.ok
    assert len(seen) < 3


def test_workers_do_not_interpret(add_request, monkeypatch):
    """TRITON_INTERPRET is for running kernels, not for compiling them."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    (outcome,) = compile_many([add_request()], 1, cache=False)
    assert outcome.status == "ok"


def test_compile_from_a_script_without_main_guard(tmp_path, write):
    """Workers do not import the script that started them."""
    script = write(
        "script.py",
        f"""
import sys
sys.path[:0] = {[str(SAMPLES.parent.parent.parent)]!r}
from kprof.compiler.compile import compile_kernel
from kprof.targets.signature import load_signature
print("started")
request = load_signature({str(SAMPLES)!r}, "add", "*fp16,*fp16,*fp16,i32", "gfx942", {{"BLOCK": 256}})
print(compile_kernel(request, cache=False).name)
""",
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ran.stdout.split() == ["started", "add"]
    assert ran.stderr == ""
