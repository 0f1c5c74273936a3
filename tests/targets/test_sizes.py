"""Sizes are values of arguments: what is compiled is what a launch with them would compile."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError, TargetError
from kprof.hardware.machine import load as load_architecture
from kprof.importing.functions import load_function
from kprof.kernel_spec import Launch, Tensor
from kprof.options.groups import CompileOptions
from kprof.targets.jobs import plan
from kprof.targets.library import load
from kprof.targets.signature import from_signature
from kprof.targets.sizes import with_sizes
from kprof.targets.specialize import from_launch
from tests.compiler.conftest import SAMPLES

pytestmark = pytest.mark.triton

MI300 = load_architecture("gfx942")
CONSTEXPRS = {"M": 64, "N": 64, "BLOCK_K": 32}
sizes = st.fixed_dictionaries(
    {name: st.integers(1, 2**20).map(lambda n: n * 8) | st.just(1) for name in ("K", "stride_a", "stride_b")}
)


@given(sizes, st.booleans(), st.integers(1, 9000))
def test_as_a_launch_with_these_sizes(values: dict[str, int], typed: bool, stride_c: int) -> None:
    """With types beside the sizes or without, by position: the request of a launch through torch."""
    function = load_function(SAMPLES, "matmul")
    tensor = Tensor("fp16", (64, 64))
    args: dict[str, Any] = {"a": tensor, "b": tensor, "c": tensor, **values, "stride_c": stride_c, **CONSTEXPRS}
    signature = "*fp16,*fp16,*fp16,i32,i32,i32,i32" if typed else "*fp16,*fp16,*fp16"

    found = with_sizes(function, signature, CONSTEXPRS, {**values, "stride_c": stride_c})

    launched = from_launch(function.jit, Launch(args, (1,)), "gfx942")
    assert from_signature(function, found, "gfx942", CONSTEXPRS) == launched


def test_plan_and_tune_compile_the_same() -> None:
    """analyze, report and advise plan; tune has subjects of its own. Plain ``i32`` beside a size is the size."""
    from kprof.expressions import SCALARS, parse
    from kprof.tuning.problems import Problem
    from kprof.tuning.subject import SignatureSubject

    target, signature, shape = f"{SAMPLES}::add", "*fp16,*fp16,*fp16,i32", {"n": 8192}
    options = CompileOptions(signature=signature, shape=shape, constexpr={"BLOCK": 256}, grid=(32,), use_cache=False)
    grid = (parse("cdiv(n, BLOCK)", "--grid", SCALARS),)
    tuned = SignatureSubject(load(target), MI300, None, (Problem("p", shape),), signature, grid)

    (planned,) = plan(target, [MI300], options)
    (searched,) = tuned.jobs(tuned.problems[0], {"BLOCK": 256})

    assert (planned.request, planned.grid) == (searched.request, searched.grid)
    assert planned.request.attributes["n"] == {"divisibility": 16}
    assert (planned.arguments["n"], planned.grid, planned.problem) == (8192, (32,), shape)


@pytest.mark.parametrize(
    ("signature", "shape", "message", "hint"),
    [
        ("*fp16,*fp16,*fp16,i32", {"nn": 4}, "no argument 'nn'", "did you mean 'n'"),
        ("*fp16,*fp16,*fp16,i64", {"n": 4}, "n=4 is passed as i32 by a launch, the signature says i64", "Leave"),
        ("*fp16,*fp16,*fp16,i32", {"n": 2**33}, "passed as i64", "Leave"),
        ("*fp16,*fp16,*fp16,i32:16", {"n": 1000}, "n=1000 is not a multiple of 16", None),
        ("*fp16,*fp16,*fp16,32", {"n": 64}, "n=64, but the signature says 32", None),
        ("*fp16,*fp16,*fp16,i32", {"x": 64}, "x=64: it is a pointer", None),
        ("*fp16,*fp16,*fp16,i32", {"n": "fp16"}, "passed as str", "Leave"),
        ("*fp16,*fp16,*fp16,i32", {"BLOCK": 64}, "BLOCK is given as 256 and as the size 64", None),
        ("*fp16,*fp16", {"n": 64}, "the signature has 2", "they are x, y, out, n"),
    ],
)
def test_sizes_that_do_not_fit(signature: str, shape: dict[str, Any], message: str, hint: str | None) -> None:
    """One sentence that names the argument, and near matches for one that is not there."""
    with pytest.raises(KprofError, match=message) as caught:
        plan(f"{SAMPLES}::add", [MI300], CompileOptions(signature=signature, shape=shape, constexpr={"BLOCK": 256}))

    assert caught.value.hint is None if hint is None else hint in str(caught.value.hint)


def test_heuristics_see_the_sizes() -> None:
    """An argument that @triton.heuristics fills in gets what a launch would give it; an unknown size asks for it."""
    options = CompileOptions(signature="*fp32,i32", shape={"n": 1024}, use_cache=False)

    (job,) = plan(f"{SAMPLES}::tuned", [MI300], options)

    assert job.request.constexprs["EVEN"] is True
    with pytest.raises(KprofError, match="no value for the constexpr EVEN"):
        plan(f"{SAMPLES}::tuned", [MI300], CompileOptions(signature="*fp32,i32"))


def test_a_size_may_be_a_constexpr() -> None:
    """Some kernels take a dimension so."""
    options = CompileOptions(signature="*fp16,*fp16,*fp16,i32", shape={"BLOCK": 128}, use_cache=False)

    (job,) = plan(f"{SAMPLES}::add", [MI300], options)

    assert job.request.constexprs == {"BLOCK": 128}


def test_error_is_of_the_target() -> None:
    """For callers of the API."""
    with pytest.raises(TargetError):
        with_sizes(load_function(SAMPLES, "add"), "*fp16,*fp16,*fp16,i32", {}, {"zzz": 1})
