"""Attention and batched products of AITER: which rows become problems, and why the others do not."""

import pytest

from validation.benchmarks.model.data import Row, Rows
from validation.benchmarks.model.families import attention, batched


def winner(bucket, arch="gfx942", **config):
    known = {"BLOCK_M": 128, "BLOCK_N": 64, "PRELOAD_V": False, "num_ctas": 1, "num_stages": 1, "num_warps": 4,
             "waves_per_eu": 2}  # fmt: skip
    return Row("p", "tuned_best", "MHA-DEFAULT", {"bucket": bucket}, known | config, "", "", None, "", "", arch=arch,
               triton="3.4-3.8 (mixed)")  # fmt: skip


def test_a_winner_of_all_lengths_is_asked_for_three():
    rows = Rows([winner("fwd/default"), winner("fwd/pe"), winner("bkwd_onekernel/onekernel"), winner("fwd/new")])
    problems = attention.winners(rows, False)
    assert [one.name.split()[-1] for one in problems] == [str(length) for length in attention.LENGTHS]
    for problem in problems:
        (won,) = [one for one in problem.candidates if one.winner]
        assert won.points[0].config["PRE_LOAD_V"] is False
        assert len(problem.candidates) == attention.DRAWN + 1
        assert len({str(one.points[0].config) for one in problem.candidates}) == len(problem.candidates)
    assert sum(rows.skipped.values()) == 3
    (small,) = {one.points[0].shape["D"] for p in attention.winners([winner("fwd/small_head", "gfx950")], False)
                for one in p.candidates}  # fmt: skip
    assert small == 64
    bare = Rows([winner("fwd/default", num_warps=None), winner("fwd/default", "gfx9999")])
    assert attention.winners(bare, False) == []
    assert {reason for _, reason in bare.skipped} == {"no num_warps", "no such GPU: gfx9999"}


def side(warps, problem="p", **shape):
    sizes = {"dv": 512, "num_seqs": 64, "splits": 8} | shape
    config = {"num_warps": warps, "waves_per_eu": 4}
    return Row(problem, "ab_pair", "_fwd_kernel_stage2_asm", sizes, config, "bf16", "MI355X", 40.0, "", "",
               arch="gfx950")  # fmt: skip


def test_pairs_of_the_second_stage():
    """Both sides or none; a size that the kernel cannot have is told."""
    rows = Rows([side(4), side(1), side(4, "alone"), side(4, "odd", dv=576), side(1, "odd", dv=576)])
    (problem,) = attention.reductions(rows, False)
    assert [one.points[0].config["num_warps"] for one in problem.candidates] == [4, 1]
    assert problem.bytes == pytest.approx(64 * 128 * 8 * (4 * 512 + 4) + 64 * 128 * 512 * 2)
    assert {reason for _, reason in rows.skipped} == {"a head size that is no power of two"}


def table(kernel, bucket, m, arch="gfx942"):
    config = {"BLOCK_SIZE_M": m, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 32, "num_warps": 4, "num_stages": 2}
    return Row("t", "tuned_best", kernel, {"bucket": bucket}, config, "", "", None, "", "", arch=arch)


def batch(text, us, m=16):
    shape = {"B": 4, "M": m, "N": 1024, "K": 4096}
    return Row(f"b{m}", "ab_pair", "batched_gemm_bf16 (a16w16)", shape, {"_cfg": text}, "bf16", "MI300X", us, "", "",
               arch="gfx942")  # fmt: skip


def test_named_configurations_come_from_the_tables():
    """The smallest bucket that has M; a default that is not the table's is not taken for it."""
    size = "BATCHED_GEMM-A16W16-N=1024-K=4096"
    tables = [table("BATCHED_GEMM-A16W16", "any", 128), table(size, "M_LEQ_8", 8), table(size, "M_LEQ_16", 16),
              table(size, "M_LEQ_64", 64), table(size, "M_GEQ_4096", 256)]  # fmt: skip
    tuned = f"tuned gfx942 {size}.json"
    rows = Rows([*tables, batch(tuned, 70.0), batch("default 128x128x32", 140.0), batch(tuned, 1.0, m=128),
                 batch("default 256x128x32", 140.0, m=32), batch("by hand", 1.0, m=32)])  # fmt: skip
    (problem,) = batched.pairs(rows, False)
    assert [one.points[0].config["BLOCK_M"] for one in problem.candidates] == [128, 16]
    assert [one.time_us for one in problem.candidates] == [140.0, 70.0]
    assert problem.sides == ((16, 1024, 4096, 4, 2),)
    assert {reason for _, reason in rows.skipped} == {
        "a configuration that is only named", "the default is another than the table's",
    }  # fmt: skip
