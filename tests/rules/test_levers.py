"""Levers: which changes of knobs are left to a kernel."""

from dataclasses import replace

import pytest
from msgspec import UNSET

from kprof.analysis import KernelFacts
from kprof.document import Specialization
from kprof.hardware.machine import find_product, load
from kprof.inputs import mlir
from kprof_analyzers.rules.levers import Lever, grid_numbers_tiles, more_workgroups, proposed, smaller_blocks
from tests.rules.literate import assembly, facts_of
from tests.rules.tile_fragments import HEAD


def kernel(arch="gfx942", *, metadata=None, triton="3.9.0", environment=None, **constexprs) -> KernelFacts:
    """A Triton kernel with some knobs."""
    return replace(
        facts_of(assembly("\ts_nop 0")),
        arch=load(arch),
        product=find_product(arch),
        metadata={} if metadata is None else metadata,
        triton=triton,
        specialization=Specialization(constexprs=constexprs, environment=environment or {}),
    )


@pytest.mark.parametrize(
    ("lever", "facts", "expected"),
    [
        (Lever("num_stages", "lower"), kernel(metadata={"num_stages": 2}), ("num_stages", 2, 1)),
        (Lever("num_stages", "lower"), kernel(metadata={"num_stages": 1}), None),
        (Lever("num_stages", "lower"), kernel(), None),
        (Lever("num_stages", "higher", limit=2), kernel(metadata={"num_stages": 1}), ("num_stages", 1, 2)),
        (Lever("num_stages", "higher", limit=2), kernel(metadata={"num_stages": 2}), None),
        # No stage is compiled like one.
        (Lever("num_stages", "higher", limit=2), kernel(metadata={"num_stages": 0}), ("num_stages", 0, 2)),
        (Lever("num_stages", "lower"), kernel(metadata={"num_stages": 0}), None),
        (Lever("BLOCK_K", "lower"), kernel(BLOCK_M=64), None),
        (Lever("BLOCK_K", "lower"), kernel(BLOCK_K=64), ("BLOCK_K", 64, 32)),
        (Lever("BLOCK_K", "lower"), kernel(BLOCK_SIZE_K=32), ("BLOCK_SIZE_K", 32, 16)),
        (Lever("BLOCK_K", "lower"), kernel(BLOCK_K=16), None),
        (Lever("BLOCK_K", "higher"), kernel(BLOCK_K=16), ("BLOCK_K", 16, 32)),
        (Lever("SPLIT_K", "higher"), kernel(SPLIT_K=1), ("SPLIT_K", 1, 2)),
        (Lever("num_warps", "higher"), kernel(metadata={"num_warps": 8}), ("num_warps", 8, 16)),
        (Lever("num_warps", "higher"), kernel(metadata={"num_warps": 16}), None),
        (Lever("num_warps", "higher"), kernel("gfx1201", metadata={"num_warps": 16}), ("num_warps", 16, 32)),
        (Lever("num_warps", "lower"), kernel(metadata={"num_warps": 1}), None),
        (Lever("waves_per_eu", "lower"), kernel(metadata={"waves_per_eu": 0}), None),
        (Lever("waves_per_eu", "lower"), kernel(metadata={"waves_per_eu": 1}), ("waves_per_eu", 1, 0)),
        (Lever("waves_per_eu", "higher"), kernel(metadata={"waves_per_eu": 8}), None),
        (Lever("kpack", 2), kernel(metadata={"kpack": 1}), ("kpack", 1, 2)),
        (Lever("kpack", 2), kernel(metadata={"kpack": 2}), None),
        (Lever("kpack", 2), kernel("gfx950", metadata={"kpack": 1}), None),
        (Lever("kpack", 2), kernel("gfx1201", metadata={"kpack": 1}), None),
        (Lever("matrix_instr_nonkdim", 16), kernel("gfx1201", metadata={"matrix_instr_nonkdim": 0}), None),
        (Lever("AMDGCN_USE_BUFFER_OPS", "1"), kernel(), None),
        (Lever("AMDGCN_USE_BUFFER_OPS", "1"), kernel(triton="3.5.1"), ("AMDGCN_USE_BUFFER_OPS", "0", "1")),
        (
            Lever("AMDGCN_USE_BUFFER_OPS", "1"),
            kernel(environment={"AMDGCN_USE_BUFFER_OPS": "0"}),
            ("AMDGCN_USE_BUFFER_OPS", "0", "1"),
        ),
        (Lever("AMDGCN_USE_BUFFER_OPS", "1"), kernel(triton=None), None),
        (Lever("TRITON_HIP_USE_ASYNC_COPY", "1"), kernel("gfx1201"), None),
        (Lever("num_stages", "lower", when=lambda _: False), kernel(metadata={"num_stages": 2}), None),
        (Lever("num_stages", "lower", when=lambda _: True), kernel(metadata={"num_stages": 2}), ("num_stages", 2, 1)),
        # Every knob by its own name and step.
        (Lever("num_stages", "higher"), kernel(metadata={"num_stages": 3}), ("num_stages", 3, 4)),
        (Lever("waves_per_eu", "higher"), kernel(metadata={"waves_per_eu": 3}), ("waves_per_eu", 3, 4)),
        (Lever("waves_per_eu", "lower"), kernel(metadata={"waves_per_eu": 4}), ("waves_per_eu", 4, 3)),
        (Lever("num_warps", "lower"), kernel(metadata={"num_warps": 2}), ("num_warps", 2, 1)),
        (Lever("num_warps", "lower"), kernel(metadata={"num_warps": 8}), ("num_warps", 8, 4)),
        (Lever("SPLIT_K", "lower"), kernel(SPLIT_K=2), ("SPLIT_K", 2, 1)),
        (Lever("SPLIT_K", "lower"), kernel(SPLIT_K=1), None),
        (Lever("BLOCK_M", "lower"), kernel(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128), ("BLOCK_SIZE_M", 64, 32)),
        (Lever("BLOCK_N", "lower"), kernel(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128), ("BLOCK_SIZE_N", 128, 64)),
        (Lever("BLOCK_N", "lower"), kernel(BLOCK_N=30), None),
        (Lever("BLOCK_N", "lower", limit=64), kernel(BLOCK_N=64), None),
        (
            Lever("matrix_instr_nonkdim", 16),
            kernel(metadata={"matrix_instr_nonkdim": 32}),
            ("matrix_instr_nonkdim", 32, 16),
        ),
        (Lever("matrix_instr_nonkdim", 17), kernel(metadata={"matrix_instr_nonkdim": 32}), None),
        (Lever("num_stages", "lower"), kernel(metadata={"num_stages": True}), None),
        (Lever("num_stages", "lower"), kernel(metadata={"num_stages": "3"}), None),
        (Lever("AMDGCN_USE_BUFFER_OPS", "0"), kernel(triton="3.6.0"), ("AMDGCN_USE_BUFFER_OPS", "1", "0")),
        (Lever("AMDGCN_USE_BUFFER_OPS", "1"), kernel(triton="3"), ("AMDGCN_USE_BUFFER_OPS", "0", "1")),
        (Lever("AMDGCN_USE_BUFFER_OPS", "0"), kernel(triton="4"), ("AMDGCN_USE_BUFFER_OPS", "1", "0")),
        (Lever("AMDGCN_USE_BUFFER_OPS", "0"), kernel(triton="3.x"), None),
        (
            Lever("AMDGCN_USE_BUFFER_OPS", "0"),
            kernel(triton="3.5.0", environment={"AMDGCN_USE_BUFFER_OPS": "1"}),
            ("AMDGCN_USE_BUFFER_OPS", "1", "0"),
        ),
    ],
)
def test_levers_that_are_left(lever, facts, expected):
    """A lever that was pulled, that the kernel does not have or that the architecture ignores is not proposed."""
    found = lever.advice(facts)
    assert (None if found is None else (found.knob, found.from_, found.to)) == expected
    assert proposed([lever], facts) == ([] if found is None else [found])


@pytest.mark.parametrize("on", ["1", "true", "ON", "Yes", "y"])
def test_a_switch_may_be_spelt_as_triton_takes_it(on):
    """These are on, all else is off."""
    switch = "AMDGCN_USE_BUFFER_OPS"
    assert Lever(switch, "1").advice(kernel(environment={switch: on})) is None
    assert Lever(switch, "1").advice(kernel(environment={switch: f"{on}x"})).to == "1"


def test_options_of_the_launch_count_where_the_metadata_has_none():
    """What was compiled says more than what was asked for."""
    asked = replace(kernel(), specialization=Specialization(options={"num_warps": 8}))
    assert Lever("num_warps", "lower").advice(asked).to == 4
    assert Lever("num_warps", "lower").advice(replace(asked, metadata={"num_warps": 4})).to == 2


@pytest.mark.parametrize(
    ("lever", "words"),
    [
        (Lever("num_stages", "lower"), "lower `num_stages`"),
        (Lever("num_stages", "higher"), "higher `num_stages`"),
        (Lever("kpack", 2), "`kpack=2`"),
    ],
)
def test_words_of_the_documentation(lever, words):
    """A direction, or the value."""
    assert lever.words == words


def test_advice_has_the_note():
    """And none where the rule has nothing to say."""
    facts = kernel(metadata={"kpack": 1})
    assert Lever("kpack", 2, "reads twice as much").advice(facts).note == "reads twice as much"
    assert Lever("kpack", 2).advice(facts).note is UNSET


GRID, LOOP = "%at = arith.muli %pid, %c64 : i32", "scf.for %i = %c0 to %n step %c64 : i32 {\n}"


def tiled(*lines, loops=(), **constexprs):
    text = HEAD + "".join(f"{line}\n" for line in lines) + "tt.return\n}\n}\n"
    return replace(kernel(**constexprs), ttgir=mlir.parse(text), grid=(100, 1, 1), loops=loops)


def test_a_tile_is_made_smaller_where_something_moves_it():
    lever = Lever("BLOCK_N", "lower")
    assert proposed([lever], tiled(BLOCK_N=64)) == []
    assert [one.to for one in proposed([lever], tiled(GRID, BLOCK_N=64))] == [32]
    assert [one.to for one in proposed([lever], tiled(LOOP, BLOCK_N=64))] == [32]
    assert [one.to for one in proposed([lever], kernel(BLOCK_N=64))] == [32]
    assert proposed([Lever("BLOCK_M", "lower"), Lever("BLOCK_K", "lower")], tiled(BLOCK_M=64, BLOCK_K=64)) == []
    # A larger tile covers the data, too.
    assert [one.to for one in proposed([Lever("BLOCK_N", "higher")], tiled(BLOCK_N=64))] == [128]


def test_only_the_grid_makes_more_workgroups():
    lever = Lever("BLOCK_N", "lower", when=more_workgroups("BLOCK_N"))
    assert proposed([lever], tiled(LOOP, BLOCK_N=64)) == []
    assert [one.to for one in proposed([lever], tiled(GRID, BLOCK_N=64))] == [32]
    assert [one.to for one in proposed([lever], kernel(BLOCK_N=64))] == [32]


def test_more_workgroups_in_words():
    assert grid_numbers_tiles(kernel(BLOCK=64))
    assert grid_numbers_tiles(tiled(LOOP, SIZE=64))
    assert not grid_numbers_tiles(tiled(LOOP, BLOCK=64))
    assert smaller_blocks(tiled(GRID, BLOCK=64), 3) == "BLOCK 64 → 16: 400 workgroups"
    assert smaller_blocks(tiled(GRID, BLOCK=64), 8) == "choose blocks of 1/8 of the size: 800 workgroups"
    assert smaller_blocks(tiled(GRID, BLOCK=64, BLOCK_K=64), 2) == "choose blocks of 1/2 of the size: 200 workgroups"
    looped = smaller_blocks(tiled(LOOP, BLOCK=64, loops=("a loop",)), 2)
    assert looped == "launch 200 workgroups, each with fewer iterations of its loop"
    assert grid_numbers_tiles(tiled(GRID, BLOCK=64, BLOCK_K=32))
    assert smaller_blocks(tiled(BLOCK=64), 4) == (
        "split each workgroup's work over 4 (400 workgroups) and combine their results in a second kernel; "
        "a smaller tile alone would leave elements out"
    )
