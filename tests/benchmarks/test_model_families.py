"""Published rows become the launches that were measured: sizes, names, sampled spaces, constants left out in turn."""

import pytest

from validation.benchmarks.model import fit
from validation.benchmarks.model.data import Row, Rows
from validation.benchmarks.model.families import inductor, rocm_gemm, tritonblas, vllm
from validation.benchmarks.model.run import families

QUESTIONS = {"order", "winner", "time", "pair", "validity", "tile", "loop"}


def row(kernel, shape, config, **fields):
    given = {"problem": "p", "kind": "sweep", "dtype": "bf16", "gpu": "MI300X", "time_us": 10.0, "quality": ""}
    return Row(**{**given, "source": "", "kernel": kernel, "shape": shape, "config": config, **fields})


def point(problem):
    return problem.candidates[0].points[0]


def test_families_have_different_names_and_say_how_they_differ():
    found = families()
    assert len({family.name for family in found}) == len(found)
    assert all(family.differs and family.question in QUESTIONS for family in found)


def test_a_convolution_is_an_implicit_product():
    config = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 16, "GROUP_M": 8, "num_stages": 1, "num_warps": 4}
    shape = {"op": "convolution", "shapes": "1x3x224x224, 64x3x7x7"}
    (problem,) = inductor.convolutions([row("inductor convolution template", shape, config)], False)
    # 112 x 112 pixels, 64 channels, 3 * 7 * 7 deep.
    assert problem.sides == ((112 * 112, 64, 147, 1, 2),)
    assert point(problem).shape["STRIDE"] == 2
    assert "GROUP_M" not in point(problem).config


def test_a_stride_that_nobody_told_is_said_with_the_name():
    """ResNet's shapes have a known one, a row may tell it; any other time is one of a guess."""
    config = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 16, "num_stages": 1, "num_warps": 4}
    shapes = {"a": "1x64x56x56, 64x64x3x3", "b": "1x96x56x56, 96x96x3x3", "c": "1x96x56x56, 96x96x3x3"}
    told = {"c": {"stride": 2}}
    rows = [
        row("inductor convolution template", {"shapes": text} | told.get(name, {}), config, problem=name)
        for name, text in shapes.items()
    ]
    names = [problem.name for problem in inductor.convolutions(rows, False)]
    assert names == ["a", "b (stride not told: 1 assumed)", "c"]
    assert [point(problem).shape["STRIDE"] for problem in inductor.convolutions(rows, False)] == [1, 1, 2]


def test_stages_of_old_tritons_are_todays():
    config = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4, "num_stages": "0|1"}
    shape = {"op": "bmm", "shapes": "12x197x64, 12x64x197"}
    (problem,) = inductor.batched([row("inductor bmm template", shape, config)], False)
    assert problem.sides == ((197, 197, 64, 12, 2),)
    # The table cannot tell 0 from 1; PyTorch of that time had 1.
    assert point(problem).config["num_stages"] == 1
    (problem,) = inductor.batched([row("inductor bmm template", shape, config | {"num_stages": 0})], False)
    assert point(problem).config["num_stages"] == 2


def test_knobs_take_our_names():
    shape = {"M": 128, "N": 256, "K": 512, "layout": "TN"}
    blocks = {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128}
    config = {**blocks, "GROUP_SIZE_M": 4, "NUM_SMS": 304, "num_stages": 0, "num_warps": 4}
    (problem,) = rocm_gemm.streamk([row("streamk_gemm", shape, config, dtype="fp16")], False)
    ours = {"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_K": 128, "GROUP_M": 4, "GRID": 304, "num_stages": 2, "num_warps": 4}
    assert point(problem).config == ours
    assert problem.flops == 2 * 128 * 256 * 512


def test_labels_name_the_division_of_tiles():
    labelled = row("ws_hierarchical_matmul", {"tag": "combo_12288"}, {"label": "wpe=2, split=75/25"})
    (problem,) = tritonblas.problems([labelled], False)
    assert point(problem).config == {"LOCAL_SHARE": 0.75, "waves_per_eu": 2, "MODIFIER": ""}
    assert point(problem).shape == {"M": 12288, "N": 12288, "K": 12288, "GRID": 304, "dtype": "bf16"}


@pytest.mark.parametrize(("m", "block_m", "group", "kept"), [(16, 64, 1, False), (64, 64, 8, False), (64, 64, 1, True)])
def test_pruning_drops_what_is_too_large_for_the_problem(m, block_m, group, kept):
    tile = {"BLOCK_M": block_m, "BLOCK_N": 64, "BLOCK_K": 64}
    config = {**tile, "GROUP_M": group, "num_warps": 4, "matrix_instr_nonkdim": 16}
    assert vllm._worth(config, m, (1024, 4096)) is kept
    assert not vllm._worth({**config, "matrix_instr_nonkdim": 32}, 16, (1024, 4096))


def test_problems_are_in_the_part_that_their_name_gives():
    shape = {"M": 64, "N": 7168, "K": 2048}
    config = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 1, "num_warps": 4}
    config |= {"kpack": 1, "matrix_instr_nonkdim": 16}
    rows = [row("_w8a8_block_fp8_matmul", {**shape, "M": m}, config, gpu="AMD_Instinct_MI300X") for m in range(1, 65)]
    found = vllm.block_fp8(rows, False)
    assert {problem.part for problem in found} == set(vllm.PARTS)
    assert all(problem.part == vllm.part_of(problem.name) for problem in found)
    assert all(problem.candidates[0].winner and len(problem.candidates) == 1 + vllm.CONFIGS for problem in found)
    # Operands that were used just before lie in the Infinity Cache.
    assert all(point(problem).condition.between == problem.bytes for problem in found)


def test_constants_are_chosen_on_the_other_problems():
    assert fit.grid_of(["a=1,2", "b=3"]) == [{"a": 1, "b": 3}, {"a": 2, "b": 3}]
    # The first combination suits only x, the second the others.
    scores = [{"x": 9.0, "y": 1.0, "z": 1.0}, {"x": 0.0, "y": 2.0, "z": 2.0}]
    assert fit.left_out(scores) == {"x": 1, "y": 0, "z": 0}


def test_a_time_under_that_of_its_own_matrix_instructions_is_left_out():
    """One wavefront multiplies 128 x 128 x 128 in 2 * 128^3 / 512 cycles of 2.1 GHz at least, eight in a quarter."""
    shape = {"M": 128, "N": 256, "K": 128, "layout": "TN"}

    def timed(us, warps):
        config = {"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 1, "num_warps": warps}
        return row("streamk_gemm", shape, config | {"num_stages": 2}, dtype="fp16", time_us=us)

    rows = Rows([timed(3.89, 1), timed(3.91, 1), timed(0.97, 8), timed(0.98, 8)])
    assert [one.candidates[0].time_us for one in rocm_gemm.streamk(rows, False)] == [3.91, 0.98]
    assert list(rows.skipped.values()) == [2]
