"""What is left out before compiling is no good, compared with real compiles."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.hardware.machine import load
from kprof.tuning.pruning import LdsRule, Pruned, legal_values, plain_reason, value_problem

TILES = st.sampled_from([16, 32, 64, 128, 256])


@pytest.mark.parametrize(
    ("arch", "knobs", "kept"),
    [
        ("gfx942", {"num_warps": (1, 3, 4, 16, 32)}, (1, 4, 16)),
        ("gfx1100", {"num_warps": (8, 16, 32, 64)}, (8, 16, 32)),
        ("gfx942", {"matrix_instr_nonkdim": (0, 4, 8, 16, 32, 64)}, (0, 4, 16, 32)),
        ("gfx1100", {"matrix_instr_nonkdim": (16, 0, 32)}, (16,)),
        ("gfx942", {"kpack": (1, 2)}, (1, 2)),
        ("gfx1201", {"kpack": (1, 2)}, (1,)),
        ("gfx950", {"kpack": (1, 2)}, (1,)),
        ("gfx942", {"BLOCK_SIZE_M": (16, 32, 64)}, (16, 32)),
        ("gfx942", {"BLOCK_M": (64, 128)}, (64,)),
        ("gfx942", {"BLOCK_K": (16, 32, 64)}, (16, 32, 64)),
        ("gfx942", {"FLAG": (True, False), "num_stages": (0, 1, -1)}, (0, 1)),
    ],
)
def test_values_that_an_architecture_or_problem_has_no_use_for(
    arch: str, knobs: dict[str, tuple[Any, ...]], kept: tuple[Any, ...]
) -> None:
    """M is 20 and K 4096; what falls away is counted with the combinations that it stands for."""
    pruned = Pruned()
    other = {"XCDS": (1, 8), **knobs}

    left = legal_values(other, load(arch), {"M": 20, "N": 512, "K": 4096}, pruned)

    name = list(knobs)[-1]
    assert left[name] == kept
    count = 2 * (2 if "FLAG" in knobs else 1)
    assert pruned.total == count * (len(knobs[name]) - len(kept))


def test_values_of_a_complete_configuration() -> None:
    """The same for configurations that are listed."""
    assert value_problem({"num_warps": 32}, load("gfx942")) == "the workgroup is over 1,024 threads"
    assert value_problem({"num_warps": 16, "matrix_instr_nonkdim": 16}, load("gfx942")) is None
    assert value_problem({"matrix_instr_nonkdim": 16}, load("gfx1100")) is None


def test_like_reasons_are_counted_together() -> None:
    """Numbers in a kernel's own words are left out."""
    reasons = [f"the accumulator alone takes {n} registers per lane" for n in (512, 1024)]

    assert Counter(map(plain_reason, reasons)) == {"the kernel: the accumulator alone takes … registers per lane": 2}
    assert plain_reason(None) is None


@given(tiles=st.lists(st.tuples(TILES, TILES, TILES, st.integers(2, 4)), min_size=3), share=st.floats(1.0, 3.0))
def test_lds_is_never_foretold_beyond_what_was_seen(tiles: list[tuple[int, int, int, int]], share: float) -> None:
    """A kernel that needs a share of its tiles or more: nothing that fits is ruled out."""
    rule = LdsRule(load("gfx942"), 2)

    for m, n, k, stages in tiles:
        config = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "num_stages": stages}
        needed = share * (m + n) * k * 2 * (stages - 1)
        assert rule.problem(config) is None or needed > 65536
        rule.learn(config, int(needed))


def test_lds_of_a_kernel_that_does_not_stage_its_tiles() -> None:
    """Nothing is ruled out when compiled ones need less than their tiles, or without pipelining."""
    rule = LdsRule(load("gfx942"), 2)
    large = {"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 128, "num_stages": 2}
    for _ in range(5):
        rule.learn({**large, "BLOCK_M": 64}, 1000)

    assert rule.problem(large) is None
    assert rule.problem({**large, "num_stages": 1}) is None
    assert LdsRule(load("gfx942"), None).problem(large) is None


@pytest.mark.triton
@pytest.mark.slow
@pytest.mark.parametrize(("arch", "kernel"), [("gfx942", "gemm"), ("gfx950", "gemm_streamk")])
def test_nothing_that_fits_is_ruled_out(arch: str, kernel: str) -> None:
    """Configurations that the rule or the kernel's LDS limit rule out really do not fit, as compiled."""
    from kprof.compiler.compile import compile_many
    from kprof.options.groups import CompileOptions
    from kprof.targets.jobs import jobs_of
    from kprof.targets.library import load as load_kernel

    machine, described = load(arch), load_kernel(kernel)
    shape = {"M": 512, "N": 512, "K": 512}
    rule = LdsRule(machine, 2)
    base = {"BLOCK_N": 64, "num_warps": 4, "num_stages": 2}
    seen = [{**base, "BLOCK_M": m, "BLOCK_K": 32} for m in (32, 64, 128)]
    large = [
        {**base, "BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 256, "num_stages": 2},
        {**base, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 128, "num_stages": 3},
        {**base, "BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 128, "num_stages": 1},
    ]
    jobs = [
        job
        for config in [*seen, *large]
        for job in jobs_of(described, machine, CompileOptions(config=config, shape=shape))
    ]
    outcomes = sorted(compile_many([job.request for job in jobs], 2), key=lambda outcome: outcome.index)
    for config, outcome in zip(seen, outcomes[:3], strict=True):
        assert outcome.compiled is not None
        rule.learn(config, outcome.compiled.lds_bytes or 0)

    problem = described.problem(arch, None, shape)
    for config, outcome in zip(large, outcomes[3:], strict=True):
        assert outcome.compiled is not None
        fits = not outcome.compiled.launch_problems
        assert described.legal is not None
        own = described.legal(problem, described.configure(arch, config, problem), arch)
        assert not (fits and rule.problem(config)), (config, outcome.compiled.lds_bytes)
        assert not (fits and own and "LDS" in own), (config, own, outcome.compiled.lds_bytes)
    assert any(rule.problem(config) for config in large) or arch == "gfx950"
