"""What workers of a search answer: the same code once, whichever configuration leads to it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.document import LoopPrediction
from kprof.errors import KprofError

ASSEMBLY = """
	.file	"a.py"
	.globl	fn
fn:                                     ; @fn
.Lfunc_begin0:
	.loc	1 5 0
	s_load_dwordx2 s[0:1], s[2:3], 0x0      ; comment
.Ltmp0:
	s_endpgm
	.amdhsa_kernel fn
		.amdhsa_next_free_vgpr 16
	.end_amdhsa_kernel
	.section	.debug_abbrev,"",@progbits
	.byte	1
	.amdgpu_metadata
	.name: fn
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("; comment", "; another", True),
        (".loc	1 5 0", ".loc	1 9 0", True),
        (".byte	1", ".byte	2", True),
        (".Ltmp0", ".Ltmp7", True),
        ("fn", "other_name", True),
        ("s_endpgm", "s_nop 0\n	s_endpgm", False),
        ("next_free_vgpr 16", "next_free_vgpr 24", False),
        ("0x0 ", "0x8 ", False),
        (".name: fn", ".name: fn\n	.max_flat_workgroup_size: 64", False),
    ],
)
def test_what_makes_code_the_same(old: str, new: str, same: bool) -> None:
    """Names, comments and debug information do not count; instructions and what the launch is told do."""
    from kprof.tuning.trials.predicted import code_hash

    assert old in ASSEMBLY
    assert (code_hash(ASSEMBLY) == code_hash(ASSEMBLY.replace(old, new))) is same


def compiled_copy(**config: Any) -> tuple[Any, dict[str, Any]]:
    """A copy kernel and a launch of it."""
    from kprof.compiler.compile import compile_kernel
    from kprof.hardware.machine import load
    from kprof.options.groups import CompileOptions
    from kprof.targets.jobs import jobs_of
    from kprof.targets.library import load as load_kernel
    from kprof.tuning.trials.predicted import version

    (job,) = jobs_of(load_kernel("memory_copy"), load("gfx942"), CompileOptions(config=config))
    launch = {"name": job.name, "arch": "MI300X", "grid": list(job.grid or ()), "arguments": dict(job.arguments),
              "problem": dict(job.problem), "version": version(), "flops": None}  # fmt: skip
    return compile_kernel(job.request), launch


@pytest.mark.triton
def test_the_same_launch_is_judged_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A second time, and for another configuration with the same code, the judgement is taken from before."""
    from kprof.tuning.trials import predicted

    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))
    compiled, launch = compiled_copy(num_warps=4)
    first = predicted.judge(compiled, launch)
    judged = predicted._judge
    monkeypatch.setattr(predicted, "_judge", lambda *_: pytest.fail("judged twice"))

    again = predicted.judge(compiled, launch)

    assert first.get("again") is None
    assert again == {**first, "again": True}
    assert 0 < first["low_us"] <= first["time_us"] <= first["high_us"]
    assert first["resources"]["num_warps"] == 4
    monkeypatch.setattr(predicted, "_judge", judged)
    other = predicted.judge(compiled, {**launch, "grid": [10]})
    assert other.get("again") is None
    assert other["time_us"] < first["time_us"], "a hundredth of the workgroups"


@pytest.mark.triton
def test_another_kprof_is_refused() -> None:
    """A machine of a cluster with another kprof: its answers would stand under this one's keys."""
    from kprof.tuning.trials.predicted import judge

    compiled, launch = compiled_copy(num_warps=4)
    with pytest.raises(KprofError, match="another version of kprof"):
        judge(compiled, {**launch, "version": "another"})


@pytest.mark.triton
def test_over_the_limit_is_told_and_not_predicted() -> None:
    """LDS that the hardware does not have."""
    from kprof.tuning.trials.predicted import judge

    compiled, launch = compiled_copy(num_warps=4)
    answer = judge(replace(compiled, metadata={**compiled.metadata, "shared": 70_000}), launch)

    assert answer["status"] == "unlaunchable"
    assert answer["reason"] == "needs 70,000 bytes of LDS, a workgroup can have 65,536"
    assert "time_us" not in answer


@given(st.integers(1, 1000), st.integers(1, 64), st.floats(1, 1e6))
def test_a_million_operations_cost_the_same_however_many_iterations_are_assumed(
    flops: int, trips: int, each: float
) -> None:
    """Cycles over the operations that take them; nothing where operations, grid or cycles are not known."""
    from types import SimpleNamespace

    from kprof.tuning.trials.predicted import cycles_per_million

    def predicted(workgroups: int | None = 10, cycles: float | None = trips * each) -> Any:
        loop = LoopPrediction("a", float(trips), trips_known=False, trips_from="assumed", cycles_per_iteration=each)
        return SimpleNamespace(loops=[loop], workgroups=workgroups, cycles=cycles)

    def facts(operations: int) -> Any:
        loop = SimpleNamespace(header="a", flops=operations, depth=1)
        return SimpleNamespace(loops=[loop], resources=SimpleNamespace(num_warps=4))

    found = cycles_per_million(predicted(), facts(flops), 1)
    assert found == pytest.approx(1e6 * each / (10 * 4 * flops))
    assert cycles_per_million(predicted(), facts(flops), None) is None
    assert cycles_per_million(predicted(workgroups=None), facts(flops), 1) is None
    assert cycles_per_million(predicted(cycles=None), facts(flops), 1) is None
    assert cycles_per_million(predicted(), facts(0), 1) is None


@pytest.mark.parametrize("flops", [None, 10**9])
def test_no_time_where_a_bound_is_not_known(flops: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where the problem says its operations: cycles for each million of them."""
    from types import SimpleNamespace

    import kprof_analyzers.model
    from kprof.document import Prediction
    from kprof.tuning.trials import predicted
    from kprof.tuning.work import OPERATIONS

    loop = LoopPrediction(
        "a", 16.0, False, "assumed", 100.0, missing=["values of lengths"], elements_per_iteration=64.0
    )  # fmt: skip
    made = Prediction(12.0, 8.0, 20.0, 1600.0, "memory bandwidth", {}, loops=[loop], workgroups=304)
    facts = SimpleNamespace(
        loops=[SimpleNamespace(header="a", flops=1000, depth=1)],
        resources=SimpleNamespace(num_warps=4),
        occupancy=None,
    )
    monkeypatch.setattr(kprof_analyzers.model, "predict", lambda _: made)
    monkeypatch.setattr(predicted, "facts_for", lambda *_: facts)

    judged = predicted._judge(SimpleNamespace(), {"flops": flops})  # type: ignore[arg-type]

    assert not [name for name in judged if name.endswith("_us")]
    assert judged["axis"] == (OPERATIONS if flops else "lengths")
    assert judged["cycles_per_element"] > 0
    assert "--value lengths=FILE.json" in judged["assumptions"][0]
